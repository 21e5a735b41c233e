//! Prints samples: what it knows, and the text of one.

use std::io;
use std::sync::Arc;

use clap::ArgMatches;
use oxperf_data::Reader;
use oxperf_machine::Machine;
use oxperf_present::dump::Architecture;
use oxperf_present::script::{AccessColumns, FieldSet, FieldSpec, write_bpf_output};
use oxperf_present::text::sanitize;
use oxperf_resolve::{ChainLosses, Chains, DsoAddressTable, KernelNames, Names};
use oxperf_session::{EventTable, Finished, SampleEvent, SessionEvent};
use oxperf_tracepoint::Formatters;
use oxperf_wire::Endian;

use super::cgroups::Cgroups;
use super::clock::Clock;
use super::crew::Crew;
use super::csv::HEADING;
use super::dlfilter::DlFilter;
use super::dumps::Dumps;
use super::gaps::{Gaps, Naming};
use super::head::{access, head};
use super::instructions::CodeReader;
use super::lines::Lines;
use super::memo::Memo;
use super::objects::{PlaceNames, write_end, write_header};
use super::registers;
use super::sideband::Shown;
use super::sourced::Sourcing;
use super::symbols::{Entered, Symbols};
use super::time_of_day::TimeOfDay;
use super::traced::Indent;
use super::view::{EventView, Look, event_name};
use crate::cmd::dump::Dumper;
use crate::failure::Failure;
use crate::filter::Filter;
use crate::input::Input;
use crate::output::Output;
use crate::source_text::SourceTexts;
use crate::switching::Switching;

/// What to print.
pub(super) struct PrinterOptions {
    pub(super) spec: FieldSpec,
    pub(super) with_chains: bool,
    /// Samples that were recorded without one get one, too.
    pub(super) adds_chains: bool,
    pub(super) chains: Chains,
    pub(super) nanoseconds: bool,
    pub(super) narrow: bool,
    pub(super) sourcing: Sourcing,
    pub(super) filter: Filter,
    pub(super) symbols: Symbols,
    pub(super) shown: Shown,
    /// Characters for the names of objects before indented functions.
    pub(super) object_width: usize,
    pub(super) clock: Clock,
    pub(super) time_of_day: Option<TimeOfDay>,
    pub(super) dumper: Option<Dumper>,
    /// Whether the recording may still be made: what is known is written at the end of each round.
    pub(super) live: bool,
    pub(super) switching: Switching,
    /// How many samples to show at most.
    pub(super) most: Option<u64>,
    pub(super) dlfilter: Option<DlFilter>,
    pub(super) form: Form,
    pub(super) architecture: Architecture,
    pub(super) code: CodeReader,
}

/// What samples become.
pub(super) enum Form {
    /// Lines of text.
    Text,
    /// A file of text for each event.
    Dumps(Dumps),
    /// Objects, each on a line.
    Objects(PlaceNames),
    /// Rows of values.
    Rows,
}

/// Prints each sample as it comes.
pub(super) struct Printer<'s> {
    pub(super) output: Output,
    pub(super) memo: Memo,
    pub(super) failed: Option<Failure>,
    pub(super) views: Vec<EventView>,
    pub(super) lines: Vec<Lines>,
    pub(super) gaps: Gaps,
    pub(super) places: DsoAddressTable,
    pub(super) crew: Crew,
    pub(super) names: Arc<Names<'static>>,
    pub(super) filter: Filter,
    pub(super) symbols: Symbols,
    pub(super) entered: Entered,
    pub(super) shown: Shown,
    pub(super) clock: Clock,
    time_of_day: Option<TimeOfDay>,
    pub(super) endian: Endian,
    pub(super) live: bool,
    /// Whether any event shows flags.
    pub(super) with_flags: bool,
    pub(super) indent: Indent,
    pub(super) object_width: usize,
    pub(super) formatters: &'s Formatters,
    pub(super) chains: Chains,
    access_columns: AccessColumns,
    pub(super) dumper: Option<Dumper>,
    pub(super) code: CodeReader,
    look: Look,
    pub(super) source_texts: SourceTexts,
    pub(super) switching: Switching,
    /// How many samples may still be shown.
    pub(super) left: Option<u64>,
    pub(super) written: u64,
    pub(super) dlfilter: Option<DlFilter>,
    pub(super) form: Form,
    pub(super) architecture: Architecture,
    pub(super) cgroups: Cgroups,
}

impl<'s> Printer<'s> {
    pub(super) fn new(
        output: Output,
        options: PrinterOptions,
        (events, endian): (&EventTable, Endian),
        formatters: &'s Formatters,
        names: Arc<Names<'static>>,
    ) -> Printer<'s> {
        let mut printer = Printer::without_views(output, options, endian, formatters, names);
        let width = |event| event_name(event, formatters).chars().count();
        printer.look.event_width = events.events().iter().map(width).max().unwrap_or(0);
        events
            .events()
            .iter()
            .for_each(|event| printer.add_view(event));
        printer
    }

    pub(super) fn add_view(&mut self, event: &SessionEvent) {
        let view = self.look.view(event, self.formatters, &mut self.lines);
        self.views.push(view);
        if let Some(filter) = &mut self.dlfilter {
            filter.add_event(event);
        }
    }

    /// Another printer of the same lines, whose text nobody takes.
    pub(super) fn another(&self) -> Printer<'s> {
        let Look {
            spec,
            with_chains,
            adds_chains,
            nanoseconds,
            narrow,
            sourcing,
            event_width,
        } = &self.look;
        let options = PrinterOptions {
            spec: *spec,
            with_chains: *with_chains,
            adds_chains: *adds_chains,
            chains: Chains::default(),
            nanoseconds: *nanoseconds,
            narrow: *narrow,
            sourcing: *sourcing,
            filter: Filter::default(),
            symbols: Symbols::default(),
            object_width: self.object_width,
            shown: Shown::default(),
            clock: Clock::default(),
            time_of_day: None,
            dumper: None,
            live: false,
            switching: Switching::default(),
            most: None,
            dlfilter: None,
            form: Form::Text,
            architecture: self.architecture,
            code: CodeReader::default(),
        };
        let names = Arc::clone(&self.names);
        let mut another = Printer::without_views(
            Output::nowhere(),
            options,
            self.endian,
            self.formatters,
            names,
        );
        another.look.event_width = *event_width;
        another.views.clone_from(&self.views);
        another.lines = self
            .lines
            .iter()
            .map(|lines| Lines::new(lines.form()))
            .collect();
        another
    }

    fn without_views(
        output: Output,
        options: PrinterOptions,
        endian: Endian,
        formatters: &'s Formatters,
        names: Arc<Names<'static>>,
    ) -> Printer<'s> {
        let naming = Naming {
            names: Arc::clone(&names),
            last: options.symbols.last_of_chains(),
        };
        let PrinterOptions {
            spec,
            with_chains,
            adds_chains,
            nanoseconds,
            narrow,
            sourcing,
            ..
        } = options;
        Printer {
            output,
            memo: Memo::default(),
            failed: None,
            views: Vec::new(),
            lines: Vec::new(),
            gaps: Gaps::default(),
            places: DsoAddressTable::default(),
            crew: Crew::new(naming),
            names,
            formatters,
            chains: options.chains,
            access_columns: AccessColumns::default(),
            with_flags: spec.any_has(FieldSet::FLAGS),
            look: Look {
                spec,
                with_chains,
                adds_chains,
                nanoseconds,
                narrow,
                sourcing,
                event_width: 0,
            },
            source_texts: SourceTexts::default(),
            indent: Indent::default(),
            object_width: options.object_width,
            filter: options.filter,
            symbols: options.symbols,
            entered: Entered::default(),
            shown: options.shown,
            clock: options.clock,
            time_of_day: options.time_of_day,
            endian,
            dumper: options.dumper,
            code: options.code,
            live: options.live,
            switching: options.switching,
            left: options.most,
            written: 0,
            dlfilter: options.dlfilter,
            form: options.form,
            architecture: options.architecture,
            cgroups: Cgroups::default(),
        }
    }

    /// Writes what stands before all samples, and makes the files that they go to.
    pub(super) fn begin(
        &mut self,
        matches: &ArgMatches,
        (input, reader): (&Input, &Reader<'_>),
        events: &EventTable,
    ) -> Result<(), Failure> {
        if let Some(filter) = &mut self.dlfilter {
            let printed = filter.printed_at_start();
            self.output.buffer().extend_from_slice(&printed);
        }
        match self.form {
            Form::Text if matches.get_flag("per-event-dump") => {
                self.form = Form::Dumps(Dumps::create(input.path(), &self.views)?);
            }
            Form::Objects(_) => write_header(self.output.buffer(), input, reader, events),
            Form::Rows => self.output.buffer().extend_from_slice(HEADING),
            Form::Text | Form::Dumps(_) => {}
        }
        Ok(())
    }

    /// Writes what stands behind them, and whatever of them was not written yet.
    pub(super) fn end(&mut self, finished: &Finished) {
        if let Form::Objects(_) = self.form {
            write_end(self.output.buffer(), self.written, &finished.diagnostics);
        }
        if self.failed.is_none()
            && let Err(error) = self.fill(&finished.machine)
        {
            self.failed = Some(error.into());
        }
    }

    /// Writes out what is full.
    #[inline]
    pub(super) fn settle(&mut self, machine: &Machine) -> io::Result<()> {
        // Who dumps records writes between the samples.
        if self.dumper.is_some() {
            self.fill(machine)?;
        }
        if self.gaps.is_empty() && self.crew.is_idle() {
            return self.output.settle();
        }
        if self.crew.wants(self.output.buffer(), &self.gaps) {
            self.crew
                .hand_over(&mut self.output, &mut self.gaps, machine.objects())?;
        }
        Ok(())
    }

    /// Makes the text of all places that were left for later.
    pub(super) fn fill(&mut self, machine: &Machine) -> io::Result<()> {
        self.crew
            .finish(&mut self.output, &mut self.gaps, machine.objects())
    }

    /// Writes out what is left; gives what of the call chains could not be had.
    pub(super) fn finish(mut self) -> Result<ChainLosses, Failure> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if let Some(filter) = self.dlfilter.take() {
            let printed = filter.stop()?;
            self.output.buffer().extend_from_slice(&printed);
        }
        self.output.finish()?;
        if let Form::Dumps(dumps) = self.form {
            dumps.finish()?;
        }
        Ok(self.chains.losses())
    }

    /// Prints a sample in the form that was asked for.
    pub(super) fn print(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> io::Result<()> {
        self.written += 1;
        match &mut self.form {
            Form::Text => self.print_text(machine, event),
            Form::Objects(_) => self.print_sample_line(machine, event),
            Form::Rows => self.print_row(machine, event),
            Form::Dumps(dumps) => {
                dumps.count(event.event.0);
                dumps.exchange(event.event.0, &mut self.output);
                let printed = self
                    .print_text(machine, event)
                    .and_then(|()| self.fill(machine));
                if let Form::Dumps(dumps) = &mut self.form {
                    dumps.exchange(event.event.0, &mut self.output);
                }
                printed
            }
        }
    }

    fn print_text(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> io::Result<()> {
        if self.print_known(machine, event)? {
            return Ok(());
        }
        if self.views[event.event.0].fields == FieldSet::EMPTY {
            return Ok(());
        }
        self.print_head(machine, event);
        if !self.print_behind_head(machine, event) {
            self.print_source_text(machine, event);
        }
        self.settle(machine)
    }

    /// What stands behind the head of a sample's line; says whether it is a branch.
    pub(super) fn print_behind_head(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> bool {
        let is_branch = self.views[event.event.0].is_branch;
        self.print_flags(event);
        match is_branch {
            true => self.print_branch(machine, event),
            false => self.print_rest(machine, event),
        }
        self.output.buffer().push(b'\n');
        is_branch
    }

    /// Whether times are told from one sample to another, or of the day.
    pub(super) fn counts_time(&self) -> bool {
        self.clock != Clock::Recorded || self.time_of_day.is_some()
    }

    /// Who and when.
    pub(super) fn print_head(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let view = &self.views[event.event.0];
        let named = view.fields.contains(FieldSet::COMM);
        let comm = if named {
            sanitize(machine.comm_of(event.thread))
        } else {
            "".into()
        };
        let mut head = head(view, &comm, machine, event);
        let told = self
            .time_of_day
            .filter(|_| view.fields.contains(FieldSet::TOD));
        let time_of_day = told.and_then(|told| Some(told.text(event.sample.time?.0)));
        head.time_of_day = time_of_day.as_deref();
        head.time = head.time.map(|time| self.clock.shown(time));
        view.layout.write(&head, self.output.buffer());
    }

    /// What stands behind the head of a sample that is no branch.
    fn print_rest(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        let view = &self.views[event.event.0];
        let fields = view.fields;
        let out = self.output.buffer();
        if fields.contains(FieldSet::TRACE)
            && let Some(raw) = event.sample.raw.filter(|_| view.tracepoint)
        {
            let symbols = KernelNames::new(&self.names, machine.objects());
            self.formatters.format(raw, &symbols, out);
        }
        self.print_payload(fields, event.traced.as_ref());
        if fields.contains(FieldSet::ADDR) {
            self.print_data_address(machine, event);
        }
        let access = access(&event.sample);
        self.access_columns
            .write_source(&access, fields, self.output.buffer());
        if fields.contains(FieldSet::CGROUP) {
            self.cgroups.write(&event.sample, self.output.buffer());
        }
        if fields.contains(FieldSet::IP) {
            self.print_places(machine, event);
        }
        registers::write(
            fields,
            &event.sample,
            self.architecture,
            self.output.buffer(),
        );
        self.print_branch_stack(machine, event);
        if self.views[event.event.0].bpf_output
            && let Some(raw) = event.sample.raw
        {
            write_bpf_output(raw, self.output.buffer());
        }
        self.print_code(machine, event);
        let out = self.output.buffer();
        access.write_pages(fields, out);
        self.print_ipc(fields, event.traced.as_ref());
    }
}
