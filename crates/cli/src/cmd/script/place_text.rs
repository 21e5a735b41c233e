//! Lines of which a place is all that is shown: made without asking what is mapped there or who ran.

use oxperf_present::script::traced::write_flags;
use oxperf_present::script::{FieldSet, push_hex};
use oxperf_session::{PlaceWriter, TracedPlace};

use super::view::EventView;

/// Which parts such lines have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PlaceText {
    with_flags: bool,
    with_ip: bool,
    with_target: bool,
}

impl PlaceText {
    /// The text of an event's samples, if it shows nothing but places; `with_flags` says that some event has a column
    /// of flags.
    pub(super) fn of(view: &EventView, with_flags: bool) -> Option<PlaceText> {
        let parts = if view.is_branch {
            FieldSet::IP | FieldSet::ADDR | FieldSet::FLAGS
        } else {
            // What an instruction did is known only where its branches are, too.
            FieldSet::IP
        };
        let places_only = view.fields.without(parts) == FieldSet::EMPTY && (view.is_branch || !with_flags);
        places_only.then_some(PlaceText {
            with_flags,
            with_ip: view.fields.contains(FieldSet::IP),
            with_target: view.shows_target,
        })
    }
}

impl PlaceWriter for PlaceText {
    fn write(&self, place: &TracedPlace, out: &mut Vec<u8>) {
        if self.with_flags {
            write_flags(place.flags, out);
        }
        if self.with_ip {
            out.push(b' ');
            push_hex(out, place.ip, 16);
        }
        if self.with_target {
            out.extend_from_slice(b" => ");
            push_hex(out, place.addr, 16);
        }
        out.push(b'\n');
    }
}
