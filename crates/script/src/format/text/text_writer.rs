//! Lines that a moment and a place decide alone: written by the decoders of the trace, on any thread.

use std::sync::{Mutex, PoisonError};

use oxperf_machine::Machine;
use oxperf_ordered::BackgroundWriter;
use oxperf_present::script::FieldSet;
use oxperf_resolve::Chains;
use oxperf_session::{EventIndex, SampleEvent, SampleTextWriter};

use super::TextFormat;
use crate::deferred_symbols::SymbolNames;
use crate::event_style::EventStyle;
use crate::output::ScriptOutput;
use crate::view::SampleView;

/// The fields that the moment decides.
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

/// The fields that the place decides, or that are never there where code ran.
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

/// Writes the lines of samples with a format of its own.
pub(super) struct TextWriter<'s> {
    lines: Mutex<Lines<'s>>,
    styles: Vec<EventStyle>,
    resolution: Option<u64>,
}

/// The format, and a buffer for its lines.
struct Lines<'s> {
    format: TextFormat<'s>,
    chains: Chains,
    out: ScriptOutput,
}

impl<'s> TextWriter<'s> {
    /// The lines of an event's samples as `format` has them, if they show nothing but moments and places.
    pub(super) fn new(
        format: &TextFormat<'s>,
        event: EventIndex,
        styles: &[EventStyle],
    ) -> Option<TextWriter<'s>> {
        let style = styles.get(event.0)?;
        let others = OF_MOMENTS
            .into_iter()
            .chain(OF_PLACES)
            .fold(style.fields, FieldSet::without);
        // The target of an instruction is known only where branches are followed, too.
        let others = if style.is_branch {
            others.without(FieldSet::ADDR)
        } else {
            others
        };
        if others != FieldSet::EMPTY || style.fields == FieldSet::EMPTY {
            return None;
        }
        let names = SymbolNames {
            names: std::sync::Arc::clone(&format.context.names),
            last: [].into(),
        };
        let lines = Lines {
            format: format.another(styles),
            chains: Chains::default(),
            out: ScriptOutput::new(BackgroundWriter::nowhere(), names),
        };
        Some(TextWriter {
            lines: Mutex::new(lines),
            styles: styles.to_vec(),
            resolution: head_resolution(style),
        })
    }

    fn print(
        &self,
        sample: (&Machine, &SampleEvent<'_>),
        out: &mut Vec<u8>,
        print: impl FnOnce(&mut TextFormat<'s>, &SampleView<'_>, &mut ScriptOutput),
    ) {
        let (machine, event) = sample;
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = &mut *lines;
        let style = &self.styles[event.event.0];
        let mut view = SampleView::new(machine, event, style);
        if style.chain_use.takes(event) {
            view.chain = Some(lines.chains.of(machine, event));
        }
        print(&mut lines.format, &view, &mut lines.out);
        // It fails only where text is written out, which so little never is.
        let _ = lines.out.fill(machine.objects());
        out.append(lines.out.buffer());
    }
}

/// The shortest time that heads tell apart, ns; `None` for lines without heads.
fn head_resolution(style: &EventStyle) -> Option<u64> {
    let has_head = OF_MOMENTS
        .into_iter()
        .any(|field| style.fields.contains(field));
    let resolution = match (
        style.fields.contains(FieldSet::TIME),
        style.layout.nanoseconds,
    ) {
        (false, _) => u64::MAX,
        (true, true) => 1,
        (true, false) => 1000,
    };
    has_head.then_some(resolution)
}

impl SampleTextWriter for TextWriter<'_> {
    fn prefix_resolution(&self) -> Option<u64> {
        self.resolution
    }

    fn write_prefix(&self, machine: &Machine, moment: &SampleEvent<'_>, out: &mut Vec<u8>) {
        self.print((machine, moment), out, |format, view, out| {
            format.write_head(view, out.buffer());
        });
    }

    fn write_location(&self, machine: &Machine, sample: &SampleEvent<'_>, out: &mut Vec<u8>) {
        self.print((machine, sample), out, |format, view, out| {
            format.write_rest(view, out);
        });
    }
}
