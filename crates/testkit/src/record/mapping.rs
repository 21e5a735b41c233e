//! `mmap` and `mmap2` lines.

use oxperf_abi::{Misc, RecordType};

use super::ThreadBody;
use crate::bytes::Bytes;
use crate::error::Read;
use crate::line::Line;
use crate::number;

pub(super) fn mmap(line: &mut Line, out: &mut Bytes) -> Read<ThreadBody> {
    let task = range(line, out)?;
    out.text(&line.word("the mapping's name")?, 8);
    Ok(ThreadBody::of_task(RecordType::MMAP, 0, task))
}

pub(super) fn mmap2(line: &mut Line, out: &mut Bytes) -> Read<ThreadBody> {
    let task = range(line, out)?;
    let misc = match line.take("build_id") {
        Some(hex) => build_id(&number::hex(&hex)?, out)?,
        None => inode(line, out)?,
    };
    out.u32(line.number_or_zero("prot")?);
    out.u32(line.number_or_zero("flags")?);
    out.text(&line.word("the mapping's name")?, 8);
    Ok(ThreadBody::of_task(RecordType::MMAP2, misc, task))
}

/// `pid= tid= ADDR+LEN@PGOFF`, common to both.
fn range(line: &mut Line, out: &mut Bytes) -> Read<(i32, i32)> {
    let task = super::task::task(line, out)?;
    let text = line.word("ADDR+LEN@PGOFF")?;
    let (address, rest) = text
        .split_once('+')
        .ok_or_else(|| format!("{text:?} is not ADDR+LEN@PGOFF"))?;
    let (len, page_offset) = rest
        .split_once('@')
        .ok_or_else(|| format!("{text:?} is not ADDR+LEN@PGOFF"))?;
    for part in [address, len, page_offset] {
        out.u64(number::number(part)?);
    }
    Ok(task)
}

fn inode(line: &mut Line, out: &mut Bytes) -> Read<u16> {
    out.u32(line.number_or_zero("maj")?);
    out.u32(line.number_or_zero("min")?);
    out.u64(line.number_or_zero("ino")?);
    out.u64(line.number_or_zero("gen")?);
    Ok(0)
}

fn build_id(id: &[u8], out: &mut Bytes) -> Read<u16> {
    let len = u8::try_from(id.len())
        .ok()
        .filter(|len| *len <= 20)
        .ok_or("a build id has at most 20 bytes")?;
    let end = out.len() + 24;
    out.raw(&[len, 0, 0, 0]);
    out.raw(id);
    out.zero_to(end);
    Ok(Misc::MMAP_BUILD_ID)
}
