//! The records that are no samples, shown between them when asked for.

use std::io::{self, Write};

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_abi::{CpuMode, PerfTime, Pid, RecordType, Tid};
use oxperf_machine::Machine;
use oxperf_present::records::{self, PokedSymbol};
use oxperf_present::script::FieldSet;
use oxperf_present::text::sanitize;
use oxperf_resolve::Place;
use oxperf_session::SidebandEvent;
use oxperf_wire::kernel::{
    BpfEvent, CallchainDeferred, Cgroup, Comm, Ksymbol, Lost, Mmap, Mmap2, Namespaces,
    SwitchCpuWide, Task, TextPoke,
};
use oxperf_wire::{Cursor, WireError};

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

/// Whom a record is about when it says so itself.
struct Subject {
    pid: Pid,
    tid: Tid,
    /// Its own time, which counts only where there is no trailer.
    time: Option<PerfTime>,
}

/// Whom a record is about, and when it was.
pub(super) struct Moment {
    pub(super) pid: Pid,
    pub(super) tid: Tid,
    pub(super) time: u64,
}

impl Moment {
    /// The trailer counts before what the record says itself.
    fn of(event: &SidebandEvent<'_>, subject: Option<&Subject>) -> Moment {
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

    /// The record's text, and whom it is about when that is not the thread of its trailer.
    fn describe(
        &mut self,
        machine: &mut Machine,
        event: &SidebandEvent<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Subject>, WireError> {
        let misc = event.record.header.misc;
        let cursor = &mut Cursor::new(event.record.body, self.endian);
        let subject = |pid, tid, time| Some(Subject { pid, tid, time });
        Ok(match event.record.header.kind {
            RecordType::COMM => {
                let record = Comm::decode(cursor)?;
                records::comm(out, misc, &record);
                subject(record.pid, record.tid, None)
            }
            RecordType::FORK => {
                let record = Task::decode(cursor)?;
                records::fork(out, &record);
                subject(record.pid, record.tid, Some(record.time))
            }
            RecordType::EXIT => {
                let record = Task::decode(cursor)?;
                records::exit(out, &record);
                subject(record.pid, record.tid, Some(record.time))
            }
            RecordType::MMAP => {
                let record = Mmap::decode(cursor)?;
                records::mmap(out, misc, &record);
                subject(record.pid, record.tid, None)
            }
            RecordType::MMAP2 => {
                let record = Mmap2::decode(misc, cursor)?;
                records::mmap2(out, &record);
                subject(record.pid, record.tid, None)
            }
            RecordType::NAMESPACES => {
                let record = Namespaces::decode(cursor)?;
                records::namespaces(out, &record);
                subject(record.pid, record.tid, None)
            }
            _ => self.describe_anonymous(machine, event, out)?,
        })
    }

    /// Records that happened to the thread of their trailer, or to the whole machine.
    fn describe_anonymous(
        &mut self,
        machine: &mut Machine,
        event: &SidebandEvent<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Subject>, WireError> {
        let misc = event.record.header.misc;
        let cursor = &mut Cursor::new(event.record.body, self.endian);
        match event.record.header.kind {
            RecordType::SWITCH => records::switch(out, misc),
            RecordType::SWITCH_CPU_WIDE => {
                records::switch_cpu_wide(out, misc, &SwitchCpuWide::decode(cursor)?);
            }
            RecordType::CGROUP => records::cgroup(out, &Cgroup::decode(cursor)?),
            RecordType::LOST => records::lost(out, &Lost::decode(cursor)?),
            RecordType::CALLCHAIN_DEFERRED => {
                records::callchain_deferred(out, &CallchainDeferred::decode(cursor)?);
            }
            RecordType::KSYMBOL => records::ksymbol(out, &Ksymbol::decode(cursor)?),
            RecordType::BPF_EVENT => records::bpf_event(out, &BpfEvent::decode(cursor)?),
            RecordType::TEXT_POKE => self.describe_poke(machine, &TextPoke::decode(cursor)?, out),
            _ => {}
        }
        Ok(None)
    }

    fn describe_poke(&mut self, machine: &mut Machine, record: &TextPoke<'_>, out: &mut Vec<u8>) {
        let idle = machine.thread(Pid(0), Tid(0));
        let place = machine
            .locate(idle, CpuMode::Kernel, record.addr)
            .map(Place::from);
        let named = place
            .and_then(|place| Some((self.names.name(machine.objects(), &place)?, place.address)));
        let symbol = named.map(|(name, address)| PokedSymbol {
            name: name.text,
            offset: address.wrapping_sub(name.start),
        });
        records::text_poke(out, record, symbol);
    }

    /// Prints who, when and where, as before a sample.
    fn print_stamp(
        &mut self,
        machine: &mut Machine,
        event: &SidebandEvent<'_>,
        subject: Option<Subject>,
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
