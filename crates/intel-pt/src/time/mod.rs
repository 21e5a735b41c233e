//! Time: what the timing packets say, and when to sample.

mod clock;
mod crystal;
mod cycles;
mod period;

pub(crate) use clock::Clock;
pub(crate) use period::Sampler;
