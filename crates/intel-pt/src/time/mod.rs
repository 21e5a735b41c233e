//! Time: what the timing packets say, and when to sample.

mod clock;
mod crystal;
mod cycles;
mod guess;
mod period;

pub(crate) use clock::Clock;
pub use guess::Guess;
pub(crate) use period::Sampler;
