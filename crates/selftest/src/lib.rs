//! Checks of this machine and of this build.
//!
//! For the command `test`: what the kernel allows to measure, what the hardware counts, and whether what comes back is
//! right. [`ALL`] is the table. A check that the Linux perf tool has, too, has its name and number there (of perf 7.2);
//! the others are numbered from 201. A check runs in the process that calls it and changes nothing beyond it, but for
//! files in [`Environment::scratch`]. Recordings are made and read by the program itself ([`Environment::program`]).

mod checks;
mod events;
mod program;
mod table;
mod trial;

pub use table::ALL;
pub use trial::{Body, Check, Environment, Part, SelfTest, Shortfall, Trial};
