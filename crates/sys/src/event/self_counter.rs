//! A counter of the calling thread that is read in user mode, and by the kernel where that is impossible.

use super::Counter;
use crate::{CounterPage, CounterRegisters, ReadError, RingError, UserCount};

/// A counter with its page. It stays in the thread that it counts.
#[derive(Debug)]
pub struct SelfCounter<'k, R> {
    counter: Counter<'k>,
    page: CounterPage,
    /// `None` on machines whose registers cannot be read.
    registers: Option<R>,
}

/// A count, by the way it was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SelfCount {
    /// In user mode.
    User(UserCount),
    /// By the kernel.
    Kernel(UserCount),
}

impl SelfCount {
    /// The count and the times.
    pub fn count(self) -> UserCount {
        match self {
            SelfCount::User(count) | SelfCount::Kernel(count) => count,
        }
    }
}

impl<'k, R: CounterRegisters> SelfCounter<'k, R> {
    /// Maps the page of a counter; registers are those of the CPU, or a test's.
    ///
    /// # Errors
    /// The page cannot be mapped, for example because the event has a ring.
    pub fn new(
        counter: Counter<'k>,
        registers: Option<R>,
    ) -> Result<SelfCounter<'k, R>, RingError> {
        let page = counter.kernel().map_counter_page(counter.event())?;
        Ok(SelfCounter {
            counter,
            page,
            registers,
        })
    }

    /// The event.
    pub fn counter(&self) -> &Counter<'k> {
        &self.counter
    }

    /// The count. A page that has no hardware counter, may not be used or has no clock to tell the times sends the read to the
    /// kernel.
    ///
    /// # Errors
    /// As [`Counter::read`].
    pub fn read(&self) -> Result<SelfCount, ReadError> {
        let in_user_mode = self
            .registers
            .as_ref()
            .and_then(|registers| self.page.read(registers))
            .filter(|count| count.times.is_some());
        match in_user_mode {
            Some(count) => Ok(SelfCount::User(count)),
            None => self.read_by_kernel().map(SelfCount::Kernel),
        }
    }

    fn read_by_kernel(&self) -> Result<UserCount, ReadError> {
        let read = self.counter.read()?;
        let value = read.values.first().ok_or(ReadError::Short { length: 0 })?;
        Ok(UserCount {
            value: value.value,
            times: read.enabled.zip(read.running),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CounterSpec, EventTask, FakeCount, FakeKernel, FakePage, FakePageClock};
    use oxperf_abi::HardwareId;

    struct Registers;

    impl CounterRegisters for Registers {
        fn counter(&self, number: u32) -> u64 {
            u64::from(number) * 10
        }

        fn cycles(&self) -> u64 {
            100
        }
    }

    const BY_KERNEL: SelfCount = SelfCount::Kernel(UserCount {
        value: 7,
        times: Some((9, 8)),
    });

    fn counter(kernel: &FakeKernel) -> Counter<'_> {
        let spec = CounterSpec::hardware(HardwareId::Instructions);
        spec.open(kernel, EventTask::Caller).unwrap()
    }

    fn kernel() -> FakeKernel {
        let count = FakeCount {
            value: 7,
            enabled: 9,
            running: 8,
            lost: 0,
        };
        FakeKernel::new().with_counts(0, &[count])
    }

    #[test]
    fn the_kernel_is_asked_only_where_it_has_to_be() {
        let kernel = kernel();
        let own = SelfCounter::new(counter(&kernel), Some(Registers)).unwrap();
        assert_eq!(own.read().unwrap(), BY_KERNEL, "a page without a counter");
        let clock = FakePageClock {
            mult: 1,
            shift: 0,
            offset: 0,
            short: None,
        };
        let page = FakePage {
            counter: Some(3),
            offset: 5,
            width: 40,
            readable: true,
            enabled: 1000,
            running: 500,
            clock: Some(clock),
        };
        kernel.publish_page(0, &page);
        let in_user_mode = UserCount {
            value: 35,
            times: Some((1100, 600)),
        };
        assert_eq!(own.read().unwrap(), SelfCount::User(in_user_mode));
        kernel.publish_page(
            0,
            &FakePage {
                clock: None,
                ..page
            },
        );
        assert_eq!(own.read().unwrap(), BY_KERNEL, "times cannot be told");
    }

    #[test]
    fn without_registers_the_kernel_reads() {
        let kernel = kernel();
        let own = SelfCounter::<Registers>::new(counter(&kernel), None).unwrap();
        assert_eq!(own.read().unwrap(), BY_KERNEL);
    }
}
