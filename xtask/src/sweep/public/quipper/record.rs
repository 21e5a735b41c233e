//! A record as quipper's fields. Numbers are unsigned there, and so are process ids.

use oxperf_abi::{Misc, Pid, RecordType, Tid};
use oxperf_data::RawRecord;
use oxperf_wire::kernel::{
    Aux, Comm, FileIdentity, ItraceStart, Ksymbol, Lost, LostSamples, Mmap, Mmap2, Namespaces,
    SwitchCpuWide, TaskEvent, Throttle,
};
use oxperf_wire::user::{Auxtrace, AuxtraceInfo, IdIndex, ThreadMap, TimeConv};
use oxperf_wire::{Cursor, Endian, Sample, SampleId, SampleLayout, WireError};

use super::Leaf;

/// The fields of one message below a name.
struct Fields {
    name: &'static str,
    leaves: Vec<Leaf>,
}

impl Fields {
    fn text(&mut self, name: &str, value: impl ToString) {
        self.leaves
            .push((format!("{}.{name}", self.name), value.to_string()));
    }

    fn number(&mut self, name: &str, value: u64) {
        self.text(name, value);
    }

    fn task(&mut self, pid: Pid, tid: Tid) {
        self.text("pid", pid.0.cast_unsigned());
        self.text("tid", tid.0.cast_unsigned());
    }

    fn sample_info(&mut self, id: &SampleId) {
        self.some(
            "sample_info.pid",
            id.pid.map(|pid| u64::from(pid.0.cast_unsigned())),
        );
        self.some(
            "sample_info.tid",
            id.tid.map(|tid| u64::from(tid.0.cast_unsigned())),
        );
        self.some("sample_info.sample_time_ns", id.time.map(|time| time.0));
        self.some("sample_info.id", id.id.map(|id| id.0));
        self.some("sample_info.stream_id", id.stream_id);
        self.some("sample_info.cpu", id.cpu.map(|cpu| u64::from(cpu.0)));
    }

    fn some(&mut self, name: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.number(name, value);
        }
    }
}

/// Every field of a record; only those of its header where it cannot be decoded or is of a kind not compared.
pub(super) fn leaves(
    record: &RawRecord<'_>,
    layout: Option<&SampleLayout>,
    endian: Endian,
) -> Vec<Leaf> {
    let header = record.header;
    let mut leaves: Vec<Leaf> = [
        ("type", u64::from(header.kind.0)),
        ("misc", u64::from(header.misc.0)),
        ("size", u64::from(header.size)),
    ]
    .map(|(name, value)| (format!("header.{name}"), value.to_string()))
    .into();
    let mut fields = Fields {
        name: message_name(header.kind),
        leaves: Vec::new(),
    };
    let cursor = &mut Cursor::new(record.body, endian);
    let body = match layout {
        Some(layout) if header.kind == RecordType::SAMPLE => layout
            .decode_sample(record.body, endian)
            .map(|sample| sample_fields(&sample, &mut fields)),
        Some(layout) => body_fields(record, cursor, &mut fields)
            .map(|()| fields.sample_info(&layout.sample_id(record.body, endian))),
        None => tool_fields(header.kind, cursor, &mut fields),
    };
    if body.is_ok() {
        leaves.append(&mut fields.leaves);
    }
    leaves
}

fn message_name(kind: RecordType) -> &'static str {
    match kind {
        RecordType::MMAP | RecordType::MMAP2 => "mmap_event",
        RecordType::COMM => "comm_event",
        RecordType::FORK => "fork_event",
        RecordType::EXIT => "exit_event",
        RecordType::LOST => "lost_event",
        RecordType::LOST_SAMPLES => "lost_samples_event",
        RecordType::THROTTLE | RecordType::UNTHROTTLE => "throttle_event",
        RecordType::AUX => "aux_event",
        RecordType::ITRACE_START => "itrace_start_event",
        RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE => "context_switch_event",
        RecordType::NAMESPACES => "namespaces_event",
        RecordType::KSYMBOL => "ksymbol_event",
        RecordType::SAMPLE => "sample_event",
        RecordType::TIME_CONV => "time_conv_event",
        RecordType::THREAD_MAP => "thread_map_event",
        RecordType::ID_INDEX => "id_index_event",
        RecordType::AUXTRACE => "auxtrace_event",
        RecordType::AUXTRACE_INFO => "auxtrace_info_event",
        _ => "event",
    }
}

fn body_fields(
    record: &RawRecord<'_>,
    cursor: &mut Cursor<'_>,
    out: &mut Fields,
) -> Result<(), WireError> {
    let (kind, misc) = (record.header.kind, record.header.misc);
    match kind {
        RecordType::MMAP => mmap(&Mmap::decode(cursor)?, out),
        RecordType::MMAP2 => mmap2(&Mmap2::decode(misc, cursor)?, out),
        RecordType::COMM => {
            let comm = Comm::decode(cursor)?;
            out.task(comm.pid, comm.tid);
            out.text("comm", String::from_utf8_lossy(comm.comm));
        }
        RecordType::FORK | RecordType::EXIT => task(&TaskEvent::decode(cursor)?, out),
        RecordType::LOST => {
            let lost = Lost::decode(cursor)?;
            out.number("id", lost.id.0);
            out.number("lost", lost.lost);
        }
        RecordType::LOST_SAMPLES => out.number("num_lost", LostSamples::decode(cursor)?.lost),
        RecordType::THROTTLE | RecordType::UNTHROTTLE => {
            let throttle = Throttle::decode(cursor)?;
            out.number("time_ns", throttle.time.0);
            out.number("id", throttle.id.0);
            out.number("stream_id", throttle.stream_id);
        }
        RecordType::AUX => aux(&Aux::decode(cursor)?, out),
        RecordType::ITRACE_START => {
            let start = ItraceStart::decode(cursor)?;
            out.task(start.pid, start.tid);
        }
        RecordType::SWITCH => out.text("is_out", misc.has(Misc::SWITCH_OUT)),
        RecordType::SWITCH_CPU_WIDE => {
            let other = SwitchCpuWide::decode(cursor)?;
            out.text("is_out", misc.has(Misc::SWITCH_OUT));
            out.text("next_prev_pid", other.next_prev_pid.0.cast_unsigned());
            out.text("next_prev_tid", other.next_prev_tid.0.cast_unsigned());
        }
        RecordType::NAMESPACES => {
            let spaces = Namespaces::decode(cursor)?;
            out.task(spaces.pid, spaces.tid);
            for link in spaces.links() {
                out.number("link_info.dev", link.device);
                out.number("link_info.ino", link.inode);
            }
        }
        RecordType::KSYMBOL => ksymbol(&Ksymbol::decode(cursor)?, out),
        _ => {}
    }
    Ok(())
}

fn tool_fields(
    kind: RecordType,
    cursor: &mut Cursor<'_>,
    out: &mut Fields,
) -> Result<(), WireError> {
    match kind {
        RecordType::TIME_CONV => time_conv(&TimeConv::decode(cursor)?, out),
        RecordType::THREAD_MAP => {
            for entry in ThreadMap::decode(cursor)?.entries {
                out.number("entries.pid", entry.pid);
                out.text("entries.comm", String::from_utf8_lossy(&entry.comm));
            }
        }
        RecordType::ID_INDEX => {
            for entry in IdIndex::decode(cursor)?.entries() {
                out.number("entries.id", entry.id.0);
                out.number("entries.idx", entry.index);
                out.number("entries.cpu", entry.cpu);
                out.number("entries.tid", entry.tid);
            }
        }
        RecordType::AUXTRACE => auxtrace(&Auxtrace::decode(cursor)?, out),
        RecordType::AUXTRACE_INFO => out.text("type", AuxtraceInfo::decode(cursor)?.kind),
        _ => {}
    }
    Ok(())
}

fn time_conv(conversion: &TimeConv, out: &mut Fields) {
    out.number("time_shift", conversion.shift);
    out.number("time_mult", conversion.mult);
    out.number("time_zero", conversion.zero);
    if let Some(more) = &conversion.extended {
        out.number("time_cycles", more.cycles);
        out.number("time_mask", more.mask);
        out.text("cap_user_time_zero", more.cap_time_zero);
        out.text("cap_user_time_short", more.cap_time_short);
    }
}

fn auxtrace(trace: &Auxtrace, out: &mut Fields) {
    out.number("size", trace.size);
    out.number("offset", trace.offset);
    out.number("reference", trace.reference);
    out.text("idx", trace.index);
    out.text("tid", trace.tid.0.cast_unsigned());
    out.text("cpu", trace.cpu.unwrap_or(u32::MAX));
}

fn mmap(mmap: &Mmap<'_>, out: &mut Fields) {
    out.task(mmap.pid, mmap.tid);
    out.number("start", mmap.start);
    out.number("len", mmap.len);
    out.number("pgoff", mmap.pgoff);
    out.text("filename", String::from_utf8_lossy(mmap.filename));
}

fn mmap2(mmap: &Mmap2<'_>, out: &mut Fields) {
    out.task(mmap.pid, mmap.tid);
    out.number("start", mmap.start);
    out.number("len", mmap.len);
    out.number("pgoff", mmap.pgoff);
    if let FileIdentity::Inode {
        major,
        minor,
        inode,
        generation,
    } = mmap.identity
    {
        out.text("maj", major);
        out.text("min", minor);
        out.number("ino", inode);
        out.number("ino_generation", generation);
    }
    out.text("prot", mmap.prot);
    out.text("flags", mmap.flags);
    out.text("filename", String::from_utf8_lossy(mmap.filename));
}

fn task(task: &TaskEvent, out: &mut Fields) {
    out.task(task.pid, task.tid);
    out.text("ppid", task.ppid.0.cast_unsigned());
    out.text("ptid", task.ptid.0.cast_unsigned());
    out.number("fork_time_ns", task.time.0);
}

fn aux(aux: &Aux, out: &mut Fields) {
    out.number("aux_offset", aux.offset);
    out.number("aux_size", aux.size);
    for (bit, name) in ["is_truncated", "is_overwrite", "is_partial"]
        .into_iter()
        .enumerate()
    {
        out.text(name, aux.flags >> bit & 1 == 1);
    }
}

fn ksymbol(symbol: &Ksymbol<'_>, out: &mut Fields) {
    out.number("addr", symbol.addr);
    out.text("len", symbol.len);
    out.text("ksym_type", symbol.kind);
    out.text("flags", symbol.flags);
    out.text("name", String::from_utf8_lossy(symbol.name));
}

fn sample_fields(sample: &Sample<'_>, out: &mut Fields) {
    out.some("ip", sample.ip);
    out.some(
        "pid",
        sample.pid.map(|pid| u64::from(pid.0.cast_unsigned())),
    );
    out.some(
        "tid",
        sample.tid.map(|tid| u64::from(tid.0.cast_unsigned())),
    );
    out.some("sample_time_ns", sample.time.map(|time| time.0));
    out.some("addr", sample.addr);
    out.some("id", sample.id.map(|id| id.0));
    out.some("stream_id", sample.stream_id);
    out.some("cpu", sample.cpu.map(|cpu| u64::from(cpu.0)));
    out.some("period", sample.period);
    if let Some(raw) = sample.raw {
        out.number("raw_size", raw.len() as u64);
        out.text("raw", escaped(raw));
    }
    sample
        .callchain
        .iter()
        .flat_map(|words| words.iter())
        .for_each(|ip| out.number("callchain", ip));
    let Some(branches) = sample.branch_stack else {
        return;
    };
    out.text("no_hw_idx", branches.hw_index.is_none());
    out.number("branch_stack_hw_idx", branches.hw_index.unwrap_or(0));
    for branch in branches.entries() {
        out.number("branch_stack.from_ip", branch.from);
        out.number("branch_stack.to_ip", branch.to);
        for (bit, name) in ["mispredicted", "predicted", "in_transaction", "abort"]
            .into_iter()
            .enumerate()
        {
            out.text(
                &format!("branch_stack.{name}"),
                branch.flags >> bit & 1 == 1,
            );
        }
        out.number("branch_stack.cycles", branch.flags >> 4 & 0xffff);
        out.number("branch_stack.type", branch.flags >> 20 & 0xf);
        out.number("branch_stack.spec", branch.flags >> 24 & 3);
    }
}

/// Bytes as protobuf text writes them.
fn escaped(bytes: &[u8]) -> String {
    let one = |byte: &u8| match byte {
        b'\n' => "\\n".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'"' | b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
        b' '..=b'~' => char::from(*byte).to_string(),
        other => format!("\\{other:03o}"),
    };
    bytes.iter().map(one).collect()
}
