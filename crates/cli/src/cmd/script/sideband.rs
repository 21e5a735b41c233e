//! The records that are no samples, shown between them when asked for.

use std::io::{self, Write};

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_abi::{CpuMode, Misc, Pid, ReadFormat, RecordType, Tid};
use oxperf_machine::Machine;
use oxperf_present::records::{self, KernelRecord, PokedSymbol, RecordSubject};
use oxperf_present::script::FieldSet;
use oxperf_present::text::sanitize;
use oxperf_resolve::DsoAddress;
use oxperf_session::SidebandEvent;
use oxperf_wire::WireError;
use oxperf_wire::kernel::TextPoke;

use super::printer::{Form, Printer};

/// An option and the records that it shows.
type Choice = (&'static str, &'static str, &'static [RecordType]);

const CHOICES: [Choice; 9] = [
    (
        "show-task-events",
        "Show when threads begin, end and take names",
        &[RecordType::COMM, RecordType::FORK, RecordType::EXIT],
    ),
    (
        "show-mmap-events",
        "Show mappings",
        &[RecordType::MMAP, RecordType::MMAP2],
    ),
    (
        "show-switch-events",
        "Show context switches",
        &[RecordType::SWITCH, RecordType::SWITCH_CPU_WIDE],
    ),
    (
        "show-namespace-events",
        "Show namespaces",
        &[RecordType::NAMESPACES],
    ),
    ("show-cgroup-events", "Show cgroups", &[RecordType::CGROUP]),
    (
        "show-lost-events",
        "Show where records were lost",
        &[RecordType::LOST],
    ),
    (
        "show-bpf-events",
        "Show kernel symbols and BPF programs that come and go",
        &[RecordType::KSYMBOL, RecordType::BPF_EVENT],
    ),
    (
        "show-text-poke-events",
        "Show changes of kernel code",
        &[RecordType::TEXT_POKE],
    ),
    (
        "show-round-events",
        "Show where the recorder emptied its rings; everything then comes in the order of the file",
        &[RecordType::FINISHED_ROUND],
    ),
];

/// The options.
pub(super) fn arguments() -> impl Iterator<Item = Arg> {
    CHOICES.iter().map(|(name, help, _)| {
        Arg::new(*name)
            .long(*name)
            .action(ArgAction::SetTrue)
            .help(*help)
    })
}

/// The kinds that are shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Shown(Vec<RecordType>);

impl Shown {
    /// Takes the options.
    pub(super) fn from_matches(matches: &ArgMatches) -> Shown {
        let asked = CHOICES.iter().filter(|(name, ..)| matches.get_flag(name));
        Shown(
            asked
                .flat_map(|(.., kinds)| kinds.iter().copied())
                .collect(),
        )
    }

    /// Shows a kind, too.
    pub(super) fn add(&mut self, kind: RecordType) {
        self.0.push(kind);
    }

    /// Whether a kind is shown.
    pub(super) fn contains(&self, kind: RecordType) -> bool {
        self.0.contains(&kind)
    }
}

/// Whom a record is about, and when it was.
pub(super) struct Moment {
    pub(super) pid: Pid,
    pub(super) tid: Tid,
    pub(super) time: u64,
}

impl Moment {
    /// The trailer counts before what the record says itself.
    fn of(event: &SidebandEvent<'_>, subject: Option<&RecordSubject>) -> Moment {
        Moment {
            pid: event
                .id
                .pid
                .or(subject.map(|subject| subject.pid))
                .unwrap_or(Pid(-1)),
            tid: event
                .id
                .tid
                .or(subject.map(|subject| subject.tid))
                .unwrap_or(Tid(-1)),
            time: event
                .id
                .time
                .or(subject.and_then(|subject| subject.time))
                .map_or(0, |time| time.0),
        }
    }
}

impl Printer<'_> {
    /// Prints a record if its kind is asked for.
    pub(super) fn print_sideband(
        &mut self,
        machine: &mut Machine,
        event: &SidebandEvent<'_>,
    ) -> io::Result<()> {
        if !self.shown.contains(event.record.header.kind) || !self.filter.takes_cpu(event.id.cpu) {
            return Ok(());
        }
        let mut text = Vec::new();
        let Ok(subject) = self.describe(machine, event, &mut text) else {
            return Ok(());
        };
        match self.form {
            Form::Objects(_) => {
                self.print_record_line(machine, event, &Moment::of(event, subject.as_ref()), &text)
            }
            // Rows are samples.
            Form::Rows => {}
            Form::Text | Form::Dumps(_) => {
                self.print_stamp(machine, event, subject);
                self.output.buffer().extend_from_slice(&text);
                if event.record.header.kind == RecordType::CALLCHAIN_DEFERRED {
                    self.print_user_part(machine, event);
                }
            }
        }
        self.settle(machine)
    }

    /// Prints that a round is finished if that is asked for.
    pub(super) fn print_round(&mut self, machine: &Machine) -> io::Result<()> {
        if self.shown.contains(RecordType::FINISHED_ROUND) {
            records::finished_round(self.output.buffer());
        }
        if !self.live {
            return self.settle(machine);
        }
        self.fill(machine)?;
        self.output.flush()
    }

    /// Appends the record's text; gives back the thread that the record names itself, if it does.
    fn describe(
        &mut self,
        machine: &mut Machine,
        event: &SidebandEvent<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<RecordSubject>, WireError> {
        let misc = event.record.header.misc;
        let record = KernelRecord::decode(&event.record, ReadFormat::default(), self.endian)?;
        match &record {
            KernelRecord::TextPoke(poke) => self.describe_poke(machine, misc, poke, out),
            _ => record.write_line(misc, None, out),
        }
        Ok(record.subject())
    }

    fn describe_poke(
        &mut self,
        machine: &mut Machine,
        misc: Misc,
        record: &TextPoke<'_>,
        out: &mut Vec<u8>,
    ) {
        let idle = machine.thread(Pid(0), Tid(0));
        let place = machine
            .locate(idle, CpuMode::Kernel, record.addr)
            .map(DsoAddress::from);
        let named = place
            .and_then(|place| Some((self.names.name(machine.objects(), &place)?, place.address)));
        let symbol = named.map(|(name, address)| PokedSymbol {
            name: name.text,
            offset: address.wrapping_sub(name.start),
        });
        KernelRecord::TextPoke(*record).write_line(misc, symbol, out);
    }

    /// Prints who, when and where, as before a sample.
    fn print_stamp(
        &mut self,
        machine: &mut Machine,
        event: &SidebandEvent<'_>,
        subject: Option<RecordSubject>,
    ) {
        let told = subject.as_ref();
        let Moment { pid, tid, time } = Moment::of(event, told);
        let thread = match told {
            Some(subject) => machine.thread(subject.pid, subject.tid),
            None => machine.thread(pid, tid),
        };
        let comm = sanitize(machine.comm_of(thread));
        let view = &self.views[event.event.0];
        let shows = |field| view.fields.contains(field);
        let head = oxperf_present::script::Head {
            comm: shows(FieldSet::COMM).then_some(comm.as_ref()),
            pid: shows(FieldSet::PID).then_some(pid.0),
            tid: shows(FieldSet::TID).then_some(tid.0),
            cpu: shows(FieldSet::CPU).then(|| event.id.cpu.map_or(0, |cpu| cpu.0)),
            misc: shows(FieldSet::MISC)
                .then_some((event.record.header.kind, event.record.header.misc)),
            time: shows(FieldSet::TIME).then(|| self.clock.shown(time)),
            ..Default::default()
        };
        view.layout.write(&head, self.output.buffer());
    }
}
