//! `fcntl(2)` has the kernel send a signal in place of a wake-up; it says which event it is about, and whether that went on.

use oxperf_abi::SampleType;
use oxperf_sys::{
    CounterSpec, EventTask, Notification, OverflowKind, OverflowSignals, PollSet, RealKernel,
    RingPages, SignalReceiver, process,
};
use std::error::Error;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let signals = OverflowSignals::block(0)?;
    let counter = CounterSpec::task_clock()
        .disabled()
        .user_only()
        .every(1_000_000)
        .sampling(SampleType::TIME)
        .wake_each(1)
        .open(&RealKernel, EventTask::Caller)?;
    let _ring = counter.map_ring(RingPages::new(1).ok_or("a power of two")?)?;
    counter.notify(Some(Notification {
        signal: signals.number(),
        receiver: SignalReceiver::Thread(process::current_thread()),
    }))?;

    // Three overflows, and the event stops.
    counter.refresh(NonZeroU32::new(3).ok_or("not 0")?)?;
    let mut kinds = Vec::new();
    let end = Instant::now() + Duration::from_secs(20);
    while kinds.last() != Some(&OverflowKind::Stopped) && Instant::now() < end {
        for overflow in signals.take()? {
            assert!(overflow.is_of(counter.event()));
            kinds.push(overflow.kind);
        }
    }
    let expected = [
        OverflowKind::Records,
        OverflowKind::Records,
        OverflowKind::Stopped,
    ];
    assert_eq!(kinds, expected);

    // The signals can be polled like all else; without a notification none come.
    counter.notify(None)?;
    counter.refresh(NonZeroU32::MIN)?;
    let end = Instant::now() + Duration::from_millis(5);
    while Instant::now() < end {}
    let mut poll = PollSet::new();
    poll.add(&signals);
    assert_eq!(poll.wait(Some(Duration::ZERO))?, 0);
    Ok(())
}
