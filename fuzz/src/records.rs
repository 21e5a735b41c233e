//! Recordings changed record by record, so that what stands behind a change is still read.
//!
//! libFuzzer's own changes cut most recordings at the first one: a record that grows by a byte moves all others. Here a
//! record's body changes, and its size with it, and so does the size of all records in the header.

use libfuzzer_sys::fuzzer_mutate;

/// The file's header: where its fields for records stand, and its size.
const DATA_OFFSET: usize = 40;
const DATA_SIZE: usize = 48;
const HEADER: usize = 104;
/// Bytes of a record's header; its size is in the last two.
const RECORD: usize = 8;
/// Bytes of a record at most.
const LARGEST: usize = 0xfff8;

/// Changes `data[..size]`, a recording, in place; gives its new size, at most `max_size`. What is no recording, and one
/// time in two any recording, is changed as other bytes are.
pub fn mutate_records(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let changed = if seed & 1 == 0 {
        None
    } else {
        change(&data[..size], max_size, seed >> 1)
    };
    match changed {
        Some(changed) if changed.len() <= max_size => {
            data[..changed.len()].copy_from_slice(&changed);
            changed.len()
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
}

/// The recording with one record changed, doubled, left out, or put before another.
fn change(file: &[u8], max_size: usize, seed: u32) -> Option<Vec<u8>> {
    if !file.starts_with(b"PERFILE2") || file.len() < HEADER {
        return None;
    }
    let (start, size) = (word(file, DATA_OFFSET)?, word(file, DATA_SIZE)?);
    let end = start.checked_add(size).filter(|end| *end <= file.len())?;
    let mut records = records(&file[start..end])?;
    let (at, other) = (
        seed as usize / 4 % records.len(),
        seed as usize / 7 % records.len(),
    );
    match seed & 3 {
        0 => records.insert(other, records[at].clone()),
        1 => drop(records.remove(at)),
        2 => records.swap(at, other),
        _ => change_body(&mut records[at], max_size.saturating_sub(file.len())),
    }
    let records = records.concat();
    let mut changed = [&file[..start], &records, &file[end..]].concat();
    changed[DATA_SIZE..DATA_SIZE + 8].copy_from_slice(&(records.len() as u64).to_le_bytes());
    Some(changed)
}

fn word(file: &[u8], at: usize) -> Option<usize> {
    let bytes = file.get(at..at + 8)?.try_into().ok()?;
    usize::try_from(u64::from_le_bytes(bytes)).ok()
}

/// The records one by one; `None` where there are none, or one of them is damaged already.
fn records(mut rest: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut records = Vec::new();
    while !rest.is_empty() {
        let size = usize::from(u16::from_le_bytes(rest.get(6..RECORD)?.try_into().ok()?));
        let (record, after) = rest.split_at_checked(size.max(RECORD))?;
        records.push(record.to_vec());
        rest = after;
    }
    (!records.is_empty()).then_some(records)
}

fn change_body(record: &mut Vec<u8>, room: usize) {
    let size = record.len() - RECORD;
    let most = (record.len() + room.min(64)).min(LARGEST) - RECORD;
    record.resize(RECORD + most.max(size), 0);
    let new = fuzzer_mutate(&mut record[RECORD..], size, most)
        .next_multiple_of(8)
        .min(most.max(size));
    record.truncate(RECORD + new);
    let size = record.len() as u16;
    record[6..RECORD].copy_from_slice(&size.to_le_bytes());
}
