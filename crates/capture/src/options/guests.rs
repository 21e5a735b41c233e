//! Guests of the recorded machine: whether events count in them, and the files that describe their kernels.

use std::path::PathBuf;

use oxperf_abi::AttrFlags;
use oxperf_pmu::SideLetters;

use crate::event::EventRequest;

/// Where the events of a recording count, as far as their own letters leave that open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RecordedSides {
    /// Wherever each event counts by itself.
    #[default]
    Unasked,
    /// On the host and in its guests.
    HostAndGuests,
    /// On the host alone.
    Host,
    /// In guests alone.
    Guests,
}

impl RecordedSides {
    /// Returns whether guests are recorded on demand, so that it is of use to describe their kernels.
    pub fn has_guests(self) -> bool {
        matches!(self, RecordedSides::HostAndGuests | RecordedSides::Guests)
    }

    /// Leaves one side out of an event whose letters name none. As in perf, letters about anything else keep an event to the
    /// host where both sides are wanted. A trace always has the host's guests in it: decoders tell them apart.
    pub fn apply(self, request: &mut EventRequest) {
        let flags = &mut request.attr.flags;
        let is_traced = request.aux.is_traced;
        match (self, request.side_letters) {
            (RecordedSides::Unasked, _) | (_, SideLetters::Named) => {}
            (RecordedSides::Guests, _) => *flags |= AttrFlags::EXCLUDE_HOST,
            (RecordedSides::HostAndGuests, SideLetters::Bare) => {}
            _ if is_traced => {}
            (RecordedSides::Host | RecordedSides::HostAndGuests, _) => {
                *flags |= AttrFlags::EXCLUDE_GUEST;
            }
        }
    }
}

/// The files that describe the kernels of guests.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GuestFiles {
    /// A folder with the root of each guest, named by the process that runs it.
    pub mounted: Option<PathBuf>,
    /// The symbols of the kernel of the guest that is meant where no process is told: a copy of its `/proc/kallsyms`.
    pub kallsyms: Option<PathBuf>,
    /// The modules of that kernel: a copy of its `/proc/modules`.
    pub modules: Option<PathBuf>,
    /// The image of that kernel.
    pub vmlinux: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use oxperf_abi::SoftwareId;

    use super::*;

    fn excluded(sides: RecordedSides, letters: SideLetters, is_traced: bool) -> (bool, bool) {
        let mut request = EventRequest::software(SoftwareId::CpuClock, "cpu-clock");
        request.side_letters = letters;
        request.aux.is_traced = is_traced;
        sides.apply(&mut request);
        let flags = request.attr.flags;
        (
            flags.contains(AttrFlags::EXCLUDE_HOST),
            flags.contains(AttrFlags::EXCLUDE_GUEST),
        )
    }

    #[test]
    fn a_side_is_left_out_of_events_that_name_none() {
        use RecordedSides::{Guests, Host, HostAndGuests, Unasked};
        use SideLetters::{Bare, Named, Unnamed};
        for sides in [Unasked, HostAndGuests, Host, Guests] {
            assert_eq!(excluded(sides, Named, false), (false, false));
        }
        assert_eq!(excluded(Unasked, Unnamed, false), (false, false));
        assert_eq!(excluded(HostAndGuests, Bare, false), (false, false));
        assert_eq!(excluded(HostAndGuests, Unnamed, false), (false, true));
        for letters in [Bare, Unnamed] {
            assert_eq!(excluded(Host, letters, false), (false, true));
            assert_eq!(excluded(Guests, letters, false), (true, false));
        }
    }

    #[test]
    fn no_trace_leaves_guests_out() {
        use RecordedSides::{Guests, Host, HostAndGuests};
        for sides in [HostAndGuests, Host] {
            assert_eq!(excluded(sides, SideLetters::Unnamed, true), (false, false));
        }
        assert_eq!(excluded(Guests, SideLetters::Unnamed, true), (true, false));
    }
}
