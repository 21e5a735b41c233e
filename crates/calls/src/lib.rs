//! The calls of a recording's hardware trace.
//!
//! [`CallFollower`] is a sink of the branches that are made of a trace ([`branches_only`]). It follows them with
//! [`oxperf_analysis::calls`], names their functions ([`FunctionTable`]) and tells a [`CallReceiver`] of each call that begins
//! or ends.

mod follower;
mod functions;

pub use follower::{CallFollower, CallReceiver, branches_only};
pub use functions::{FunctionTable, NamedFunction};
