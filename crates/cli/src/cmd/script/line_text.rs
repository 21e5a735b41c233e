//! Lines that a moment and a place decide alone: written by whoever decodes the trace, on any thread.

use std::sync::{Mutex, PoisonError};

use oxperf_machine::Machine;
use oxperf_present::script::FieldSet;
use oxperf_session::{SampleEvent, SampleTextWriter};

use super::printer::Printer;
use super::view::EventView;

/// What tells of the moment.
const OF_MOMENTS: [FieldSet; 8] = [
    FieldSet::COMM,
    FieldSet::PID,
    FieldSet::TID,
    FieldSet::CPU,
    FieldSet::TIME,
    FieldSet::PERIOD,
    FieldSet::EVENT,
    FieldSet::MISC,
];

/// What tells of the place, or is never there where code ran.
const OF_PLACES: [FieldSet; 11] = [
    FieldSet::IP,
    FieldSet::SYM,
    FieldSet::SYMOFF,
    FieldSet::DSO,
    FieldSet::DSOFF,
    FieldSet::FLAGS,
    FieldSet::INSN,
    FieldSet::INSNLEN,
    FieldSet::DISASM,
    FieldSet::SYNTH,
    FieldSet::TRACE,
];

/// Writes lines with a printer of its own.
pub(super) struct LineText<'s> {
    printer: Mutex<Printer<'s>>,
    resolution: Option<u64>,
}

impl<'s> LineText<'s> {
    /// The lines of an event's samples, if they tell nothing but moments and places.
    pub(super) fn of(view: &EventView, printer: &Printer<'s>) -> Option<LineText<'s>> {
        let others = OF_MOMENTS
            .into_iter()
            .chain(OF_PLACES)
            .fold(view.fields, FieldSet::without);
        // Where an instruction led is known only where branches are followed, too.
        let others = if view.is_branch {
            others.without(FieldSet::ADDR)
        } else {
            others
        };
        if others != FieldSet::EMPTY || view.fields == FieldSet::EMPTY {
            return None;
        }
        let of_moment = OF_MOMENTS
            .into_iter()
            .any(|field| view.fields.contains(field));
        let of_time = match (
            view.fields.contains(FieldSet::TIME),
            view.layout.nanoseconds,
        ) {
            (false, _) => u64::MAX,
            (true, true) => 1,
            (true, false) => 1000,
        };
        let printer = Mutex::new(printer.another());
        Some(LineText {
            printer,
            resolution: of_moment.then_some(of_time),
        })
    }

    fn print(&self, machine: &Machine, out: &mut Vec<u8>, print: impl FnOnce(&mut Printer<'s>)) {
        let mut printer = self.printer.lock().unwrap_or_else(PoisonError::into_inner);
        print(&mut printer);
        // It fails only where text is written out, which so little never is.
        let _ = printer.fill(machine);
        out.append(printer.output.buffer());
    }
}

impl SampleTextWriter for LineText<'_> {
    fn prefix_resolution(&self) -> Option<u64> {
        self.resolution
    }

    fn write_prefix(&self, machine: &Machine, moment: &SampleEvent<'_>, out: &mut Vec<u8>) {
        self.print(machine, out, |printer| printer.print_head(machine, moment));
    }

    fn write_location(&self, machine: &Machine, sample: &SampleEvent<'_>, out: &mut Vec<u8>) {
        self.print(machine, out, |printer| {
            printer.print_behind_head(machine, sample);
        });
    }
}
