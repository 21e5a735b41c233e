//! A record line to its bytes: header, body, trailer.

mod counts;
mod mapping;
mod running;
mod task;

use oxperf_abi::{CpuMode, Misc, RecordType};

use crate::bytes::{Bytes, Endian};
use crate::error::Read;
use crate::event::Event;
use crate::line::Line;
use crate::{number, sample, trace, trailer};

/// A record's body, and what its header says beyond the line's own `misc=` and `mode=`.
pub(crate) struct ThreadBody {
    kind: RecordType,
    misc: u16,
    /// Process and thread that the trailer repeats.
    task: (i32, i32),
}

impl ThreadBody {
    fn new(kind: RecordType) -> ThreadBody {
        ThreadBody {
            kind,
            misc: 0,
            task: (0, 0),
        }
    }

    fn of_task(kind: RecordType, misc: u16, task: (i32, i32)) -> ThreadBody {
        ThreadBody { kind, misc, task }
    }
}

/// The bytes of the record that the line `first line | tail` describes.
pub(crate) fn encode(
    first: &str,
    mut line: Line,
    tail: &str,
    events: &[Event],
    endian: Endian,
) -> Read<Vec<u8>> {
    if first == "auxtrace" {
        let piece = trace::piece(&mut line, endian)?;
        line.finish()?;
        return Ok(piece);
    }
    let misc = header_misc(&mut line)?;
    let mut out = Bytes::new(endian);
    let body = encode_body(first, &mut line, events, &mut out)?;
    line.finish()?;
    out.pad_to_8();
    if has_trailer(body.kind) || running::LINES.contains(&first) {
        trailer::encode(tail, events, body.task, &mut out)?;
    } else if !tail.trim().is_empty() {
        return Err(format!("{first} has no trailer"));
    }
    frame(body.kind, misc | body.misc, &out.into_vec(), endian)
}

fn encode_body(
    first: &str,
    line: &mut Line,
    events: &[Event],
    out: &mut Bytes,
) -> Read<ThreadBody> {
    match first {
        "mmap" => mapping::mmap(line, out),
        "mmap2" => mapping::mmap2(line, out),
        "comm" => task::comm(line, out),
        "fork" => task::fork_or_exit(RecordType::FORK, line, out),
        "exit" => task::fork_or_exit(RecordType::EXIT, line, out),
        "lost" => counts::lost(line, out),
        "lost_samples" => counts::lost_samples(line, out),
        "throttle" => counts::throttle(RecordType::THROTTLE, line, out),
        "unthrottle" => counts::throttle(RecordType::UNTHROTTLE, line, out),
        "sample" => sample::encode(line, events, out).map(|()| ThreadBody::new(RecordType::SAMPLE)),
        "callchain_deferred" => callchain_deferred(line, out),
        "switch" => running::switch(),
        "switch_cpu_wide" => running::switch_cpu_wide(line, out),
        "itrace_start" => running::itrace_start(line, out),
        "aux" => running::aux(line, out),
        "aux_output_hw_id" => running::aux_output_hw_id(line, out),
        "text_poke" => running::text_poke(line, out),
        "ksymbol" => running::ksymbol(line, out),
        "auxtrace_info" => trace::info(line, out).map(ThreadBody::new),
        "finished_round" => Ok(ThreadBody::new(RecordType::FINISHED_ROUND)),
        "finished_init" => Ok(ThreadBody::new(RecordType::FINISHED_INIT)),
        "raw" => raw(line, out),
        _ => Err(format!("{first:?} is no line of the notation")),
    }
}

fn callchain_deferred(line: &mut Line, out: &mut Bytes) -> Read<ThreadBody> {
    out.u64(line.number("cookie")?.unwrap_or(0));
    sample::chain(line, out)?;
    Ok(ThreadBody::new(RecordType::CALLCHAIN_DEFERRED))
}

fn raw(line: &mut Line, out: &mut Bytes) -> Read<ThreadBody> {
    let kind = line.number("type")?.ok_or("type= is missing")?;
    out.raw(&number::hex(&line.take("body").unwrap_or_default())?);
    Ok(ThreadBody::new(RecordType(kind)))
}

/// A raw record says all its bytes itself; only lines with a known body get a trailer.
fn has_trailer(kind: RecordType) -> bool {
    let plain = [
        RecordType::MMAP,
        RecordType::MMAP2,
        RecordType::COMM,
        RecordType::FORK,
        RecordType::EXIT,
        RecordType::LOST,
        RecordType::LOST_SAMPLES,
        RecordType::THROTTLE,
        RecordType::UNTHROTTLE,
        RecordType::CALLCHAIN_DEFERRED,
    ];
    plain.contains(&kind)
}

fn header_misc(line: &mut Line) -> Read<u16> {
    let extra: u16 = line.number_or_zero("misc")?;
    let mode = match line.take("mode").as_deref() {
        None => CpuMode::Unknown,
        Some("kernel") => CpuMode::Kernel,
        Some("user") => CpuMode::User,
        Some("hypervisor") => CpuMode::Hypervisor,
        Some("guest_kernel") => CpuMode::GuestKernel,
        Some("guest_user") => CpuMode::GuestUser,
        Some(other) => return Err(format!("{other:?} is no mode")),
    };
    Ok(Misc(extra).0 | mode as u16)
}

fn frame(kind: RecordType, misc: u16, body: &[u8], endian: Endian) -> Read<Vec<u8>> {
    let size = u16::try_from(body.len() + 8)
        .map_err(|_| format!("a body of {} bytes is too large", body.len()))?;
    let mut out = Bytes::new(endian);
    out.u32(kind.0);
    out.u16(misc);
    out.u16(size);
    out.raw(body);
    Ok(out.into_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(text: &str, endian: Endian) -> Read<Vec<u8>> {
        let (head, tail) = text.split_once('|').unwrap_or((text, ""));
        let (first, line) = Line::parse(head)?.ok_or("no line")?;
        encode(&first, line, tail, &[], endian)
    }

    #[test]
    fn a_name_in_both_byte_orders() {
        let little = record("comm pid=7 tid=8 sleep misc=0x2000", Endian::Little).unwrap();
        assert_eq!(
            little,
            *b"\x03\0\0\0\0\x20\x18\0\x07\0\0\0\x08\0\0\0sleep\0\0\0"
        );
        let big = record("comm pid=7 tid=8 sleep misc=0x2000", Endian::Big).unwrap();
        assert_eq!(
            big,
            *b"\0\0\0\x03\x20\0\0\x18\0\0\0\x07\0\0\0\x08sleep\0\0\0"
        );
    }

    #[test]
    fn a_mapping() {
        let bytes = record(
            "mmap pid=-1 tid=0 mode=kernel 0x10+0x20@0x30 [k]",
            Endian::Little,
        )
        .unwrap();
        assert_eq!(
            bytes[..16],
            *b"\x01\0\0\0\x01\0\x30\0\xff\xff\xff\xff\0\0\0\0"
        );
        assert_eq!(
            (bytes[16], bytes[24], bytes[32], &bytes[40..]),
            (0x10, 0x20, 0x30, &b"[k]\0\0\0\0\0"[..])
        );
    }

    #[test]
    fn a_mapping_with_a_build_id_says_so_in_its_header() {
        let bytes = record(
            "mmap2 pid=1 tid=1 0x10+0x20@0 build_id=0a0b prot=5 flags=2 /x",
            Endian::Little,
        )
        .unwrap();
        assert_eq!(bytes[4..6], [0, 0x40]);
        assert_eq!(bytes[40..48], [2, 0, 0, 0, 0x0a, 0x0b, 0, 0]);
        assert_eq!(bytes[64..72], [5, 0, 0, 0, 2, 0, 0, 0]);
    }

    #[test]
    fn mistakes_are_errors() {
        assert!(record("mmap pid=1 0x10+0x20 /x", Endian::Little).is_err());
        assert!(record("comm x time=4", Endian::Little).is_err());
        assert!(record("finished_round | time=4", Endian::Little).is_err());
        assert!(record("nonsense", Endian::Little).is_err());
    }
}
