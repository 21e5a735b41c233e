//! Switches of the commands that have not their own options yet.

use std::ops::{Deref, DerefMut};

use clap::ArgMatches;
use oxperf_session::EventTable;

pub(crate) use crate::arguments::switching::arguments;
use crate::failure::Failure;

/// A switch as the options ask.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Switching(pub(crate) oxperf_query::Switching);

impl Switching {
    /// Takes the options for a recording's events; of a command without them nothing switches.
    pub(crate) fn from_matches(
        matches: &ArgMatches,
        events: &EventTable,
    ) -> Result<Switching, Failure> {
        let options = crate::arguments::switching::options(matches);
        Ok(Switching(oxperf_query::Switching::new(&options, events)?))
    }
}

impl Deref for Switching {
    type Target = oxperf_query::Switching;

    fn deref(&self) -> &oxperf_query::Switching {
        &self.0
    }
}

impl DerefMut for Switching {
    fn deref_mut(&mut self) -> &mut oxperf_query::Switching {
        &mut self.0
    }
}
