//! Guests, for the commands that have not their own options yet.

use clap::ArgMatches;
use oxperf_machine::{GuestId, GuestModule};

/// The guests that the options name, with the modules of their kernels.
pub(crate) fn known(matches: &ArgMatches) -> Vec<(GuestId, Vec<GuestModule>)> {
    crate::arguments::symbols::options(matches).guests.known()
}
