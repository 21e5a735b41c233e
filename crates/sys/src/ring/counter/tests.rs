//! Made pages: every field, every way to fall back, and changes in the middle of a read.

use super::*;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Registers that say what the test wants, and do what it wants meanwhile.
struct Scripted<F: Fn(u32) -> u64> {
    counter: F,
    cycles: u64,
}

impl<F: Fn(u32) -> u64> CounterRegisters for Scripted<F> {
    fn counter(&self, number: u32) -> u64 {
        (self.counter)(number)
    }

    fn cycles(&self) -> u64 {
        self.cycles
    }
}

const PAGE: FakePage = FakePage {
    counter: Some(2),
    offset: 1000,
    width: 48,
    readable: true,
    enabled: 0,
    running: 0,
    clock: None,
};

fn read(page: FakePage, counter: u64, cycles: u64) -> Option<UserCount> {
    let mapped = CounterPage::anonymous().unwrap();
    mapped.writer().publish(&page);
    mapped.read(&Scripted {
        counter: |_| counter,
        cycles,
    })
}

fn value(page: FakePage, counter: u64) -> Option<u64> {
    read(page, counter, 0).map(|count| count.value)
}

#[test]
fn the_counter_is_added_to_the_offset() {
    let mapped = CounterPage::anonymous().unwrap();
    mapped.writer().publish(&PAGE);
    let asked = Cell::new(None);
    let registers = Scripted {
        counter: |number| {
            asked.set(Some(number));
            234
        },
        cycles: 0,
    };
    let count = mapped.read(&registers).unwrap();
    assert_eq!((count.value, count.times), (1234, None));
    assert_eq!(asked.get(), Some(2), "index 3 is counter 2");
}

#[test]
fn the_counters_highest_bit_is_its_sign() {
    assert_eq!(value(PAGE, (1 << 48) - 1), Some(999));
    assert_eq!(value(PAGE, 1 << 47), Some(1000u64.wrapping_sub(1 << 47)));
    let wide = FakePage { width: 64, ..PAGE };
    assert_eq!(value(wide, u64::MAX), Some(999));
    let narrow = FakePage { width: 8, ..PAGE };
    assert_eq!(
        value(narrow, 0x1ff),
        Some(999),
        "bits above the width say nothing"
    );
    // A counter that counts up to an overflow begins below zero; the offset makes up for it.
    let sampling = FakePage {
        offset: 1 << 31,
        ..PAGE
    };
    assert_eq!(value(sampling, (1 << 48) - (1 << 31) + 5), Some(5));
}

#[test]
fn only_the_kernel_knows_an_event_without_a_counter() {
    let none = FakePage {
        counter: None,
        ..PAGE
    };
    let forbidden = FakePage {
        readable: false,
        ..PAGE
    };
    for page in [
        none,
        forbidden,
        FakePage { width: 65, ..PAGE },
        FakePage { width: 0, ..PAGE },
    ] {
        assert_eq!(value(page, 1), None, "{page:?}");
    }
    let fresh = CounterPage::anonymous().unwrap();
    let registers = Scripted {
        counter: |_| panic!("a counter that may not be read was read"),
        cycles: 0,
    };
    assert_eq!(fresh.read(&registers), None);
    fresh.writer().publish(&forbidden);
    assert_eq!(fresh.read(&registers), None);
}

/// Two cycles a nanosecond, and the page was written at cycle 1000.
const CLOCK: FakePageClock = FakePageClock {
    mult: 1 << 9,
    shift: 10,
    offset: 0u64.wrapping_sub(500),
    short: None,
};

#[test]
fn cycles_give_the_times_of_now() {
    let page = FakePage {
        enabled: 70,
        running: 30,
        clock: Some(CLOCK),
        ..PAGE
    };
    let times = |page, cycles| read(page, 0, cycles).unwrap().times;
    assert_eq!(times(page, 1000), Some((70, 30)));
    assert_eq!(times(page, 1401), Some((270, 230)), "whole nanoseconds");
    let broken = FakePageClock { shift: 64, ..CLOCK };
    let page = FakePage {
        clock: Some(broken),
        ..page
    };
    assert_eq!(times(page, 1000), None);
}

#[test]
fn a_large_cycle_count_does_not_overflow() {
    let clock = FakePageClock {
        mult: u32::MAX,
        shift: 32,
        offset: 0,
        short: None,
    };
    let page = FakePage {
        clock: Some(clock),
        ..PAGE
    };
    let cycles = 1u64 << 62;
    let expected = ((u128::from(cycles) * u128::from(u32::MAX)) >> 32) as u64;
    assert_eq!(
        read(page, 0, cycles).unwrap().times,
        Some((expected, expected))
    );
}

#[test]
fn a_short_cycle_counter_goes_around() {
    let short = FakePageClock {
        // The counter has 32 bits and stood near their end, 10 times around.
        short: Some((0xa_ffff_fff0, 0xffff_ffff)),
        mult: 1,
        shift: 0,
        offset: 0u64.wrapping_sub(0xa_ffff_fff0),
    };
    let page = FakePage {
        clock: Some(short),
        ..PAGE
    };
    let times = |cycles| read(page, 0, cycles).unwrap().times;
    assert_eq!(times(0xffff_fff8), Some((8, 8)));
    assert_eq!(times(0x10), Some((0x20, 0x20)));
}

#[test]
fn a_change_in_the_middle_of_a_read_begins_it_again() {
    let mapped = CounterPage::anonymous().unwrap();
    let writer = mapped.writer();
    writer.publish(&PAGE);
    let reads = RefCell::new(Vec::new());
    let registers = Scripted {
        counter: |number| {
            reads.borrow_mut().push(number);
            if reads.borrow().len() == 1 {
                // The event moves to another counter between the look at the page and at the register.
                writer.publish(&FakePage {
                    counter: Some(5),
                    offset: 2000,
                    ..PAGE
                });
            }
            u64::from(number)
        },
        cycles: 0,
    };
    assert_eq!(mapped.read(&registers).unwrap().value, 2005);
    assert_eq!(*reads.borrow(), [2, 5]);
}

#[test]
fn a_page_that_never_rests_is_the_kernels_to_read() {
    let mapped = CounterPage::anonymous().unwrap();
    let writer = mapped.writer();
    writer.publish(&PAGE);
    let registers = Scripted {
        counter: |_| {
            writer.publish(&PAGE);
            0
        },
        cycles: 0,
    };
    assert_eq!(mapped.read(&registers), None);
}

/// The writer keeps offset and counter at a sum of 0; no read sees another one.
#[test]
fn no_read_mixes_two_states() {
    let mapped = CounterPage::anonymous().unwrap();
    let writer = mapped.writer();
    writer.publish(&FakePage { offset: 0, ..PAGE });
    let (register, done) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for step in 1..2000i64 {
                // The index says that there is no counter while the register changes, as a kernel that takes the event off
                // its counter has it.
                writer.publish(&FakePage {
                    counter: None,
                    ..PAGE
                });
                register.store(step as u64, Ordering::Release);
                writer.publish(&FakePage {
                    offset: -step,
                    ..PAGE
                });
            }
            done.store(true, Ordering::Release);
        });
        let registers = Scripted {
            counter: |_| register.load(Ordering::Acquire),
            cycles: 0,
        };
        while !done.load(Ordering::Acquire) {
            if let Some(count) = mapped.read(&registers) {
                assert_eq!(count.value, 0);
            }
        }
        assert_eq!(mapped.read(&registers).unwrap().value, 0);
    });
}
