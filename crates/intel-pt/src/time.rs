//! Time: what the timing packets say, and when to sample.

mod clock;
mod crystal;
mod cycles;
mod guess;
mod period;
mod samplers;

pub(crate) use clock::Clock;
pub use guess::Guess;
use period::Sampler;
pub(crate) use samplers::Samplers;
pub use samplers::{Choice, Choices};
