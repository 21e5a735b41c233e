//! Lines of text, as `perf script` prints them.

mod branch_line;
mod text_writer;

use std::io;
use std::sync::Arc;

use oxperf_machine::Machine;
use oxperf_present::script::{FieldSet, Head};
use oxperf_present::text::sanitize;
use oxperf_resolve::Names;
use oxperf_session::{EventIndex, SampleTextWriter, SessionEvent, SidebandEvent};
use oxperf_tracepoint::Formatters;

use crate::chain_use::ChainUse;
use crate::code_reader::CodeReader;
use crate::event_style::EventStyle;
use crate::fields::FIELDS;
use crate::fields::location::write_user_callers;
use crate::fields::source_text::write_source_text;
use crate::format::{NoFormat, SampleFormat};
use crate::output::ScriptOutput;
use crate::sample_head::sample_head;
use crate::text_context::TextContext;
pub use crate::text_context::TextOptions;
use crate::view::{RecordView, SampleView};
use branch_line::IndentColumn;
use text_writer::TextWriter;

/// Prints samples as lines.
pub struct TextFormat<'s> {
    pub(crate) context: TextContext<'s>,
    indent: IndentColumn,
}

impl<'s> TextFormat<'s> {
    /// Lines with these options and names.
    pub fn new(
        options: TextOptions,
        names: Arc<Names<'static>>,
        formatters: &'s Formatters,
        code: CodeReader,
    ) -> TextFormat<'s> {
        TextFormat {
            context: TextContext::new(options, names, formatters, code),
            indent: IndentColumn::default(),
        }
    }

    /// Another format of the same lines, with times as recorded.
    fn another(&self, styles: &[EventStyle]) -> TextFormat<'s> {
        TextFormat {
            context: self.context.another(styles),
            indent: IndentColumn::default(),
        }
    }

    /// Appends the head of a sample's line.
    pub(crate) fn write_head(&mut self, view: &SampleView<'_>, out: &mut Vec<u8>) {
        let style = view.style;
        let comm = if style.fields.contains(FieldSet::COMM) {
            sanitize(view.comm())
        } else {
            "".into()
        };
        let mut head = sample_head(view, &comm);
        let clock = self.context.options.time_of_day;
        let shown = clock.filter(|_| style.fields.contains(FieldSet::TOD));
        let time_of_day = shown.and_then(|clock| Some(clock.text(view.sample().time?.0)));
        head.time_of_day = time_of_day.as_deref();
        head.time = head.time.map(|time| self.context.options.clock.shown(time));
        style.layout.write(&head, out);
    }

    /// Appends everything behind the head of a sample's line, with the end of the line.
    pub(crate) fn write_rest(&mut self, view: &SampleView<'_>, out: &mut ScriptOutput) {
        self.write_flags(view, out.buffer());
        if view.style.is_branch {
            self.write_branch(view, out);
        } else {
            for field in FIELDS.iter().filter(|field| field.is_shown(view.fields())) {
                (field.write)(&mut self.context, view, out);
            }
        }
        out.buffer().push(b'\n');
    }

    /// Appends the head of a record's line.
    fn write_record_head(&mut self, view: &mut RecordView<'_>, out: &mut Vec<u8>) {
        let moment = view.moment();
        let thread = match &view.subject {
            Some(subject) => view.machine.thread(subject.pid, subject.tid),
            None => view.machine.thread(moment.pid, moment.tid),
        };
        let comm = sanitize(view.machine.comm_of(thread));
        let shows = |field| view.style.fields.contains(field);
        let (header, id) = (view.event.record.header, &view.event.id);
        let head = Head {
            comm: shows(FieldSet::COMM).then_some(comm.as_ref()),
            pid: shows(FieldSet::PID).then_some(moment.pid.0),
            tid: shows(FieldSet::TID).then_some(moment.tid.0),
            cpu: shows(FieldSet::CPU).then(|| Some(id.cpu.map_or(0, |cpu| cpu.0))),
            misc: shows(FieldSet::MISC).then_some((header.kind, header.misc)),
            time: shows(FieldSet::TIME).then(|| self.context.options.clock.shown(moment.time)),
            ..Head::default()
        };
        view.style.layout.write(&head, out);
    }
}

impl SampleFormat for TextFormat<'_> {
    type Inner = NoFormat;

    fn inner(&mut self) -> Option<&mut NoFormat> {
        None
    }

    fn chain_use(&mut self, style: &EventStyle) -> ChainUse {
        if style.layout.with_chain {
            ChainUse::WhereRecorded
        } else {
            ChainUse::Never
        }
    }

    fn add_event(&mut self, _: &SessionEvent, style: &EventStyle) {
        self.context.add_style(style);
    }

    fn takes_new_events(&mut self) -> bool {
        true
    }

    fn sample(&mut self, view: &SampleView<'_>, out: &mut ScriptOutput) -> io::Result<()> {
        if view.fields() == FieldSet::EMPTY {
            return Ok(());
        }
        self.write_head(view, out.buffer());
        self.write_rest(view, out);
        if !view.style.is_branch && view.fields().contains(FieldSet::SRCCODE) {
            let address = (view.mode(), view.ip_or_zero());
            write_source_text(&mut self.context, view.context(), address, out.buffer());
        }
        Ok(())
    }

    fn text_writer<'w>(
        &mut self,
        event: EventIndex,
        styles: &[EventStyle],
    ) -> Option<Arc<dyn SampleTextWriter + 'w>>
    where
        Self: 'w,
    {
        if self.context.counts_time() {
            return None;
        }
        Some(Arc::new(TextWriter::new(self, event, styles)?))
    }

    fn sideband(
        &mut self,
        _: &Machine,
        event: &SidebandEvent<'_>,
        _: &mut ScriptOutput,
    ) -> io::Result<()> {
        self.context
            .cgroups
            .learn(event, self.context.options.endian);
        Ok(())
    }

    fn record(&mut self, view: &mut RecordView<'_>, out: &mut ScriptOutput) -> io::Result<()> {
        self.write_record_head(view, out.buffer());
        out.buffer().extend_from_slice(view.text);
        write_user_callers(view, out);
        Ok(())
    }
}
