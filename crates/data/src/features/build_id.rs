//! BUILD_ID: which binaries were there, by build id.

use oxperf_abi::{BuildId, CpuMode, Misc, Pid};
use oxperf_wire::{Cursor, Encoder, WireError};

use super::{Feature, FeatureContext, FeatureId};
use crate::FeatureFault;

/// The build ids of the binaries.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BuildIds(pub Vec<BuildIdEntry>);

/// One binary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildIdEntry {
    /// Flags: the world the binary belongs to.
    pub misc: Misc,
    /// The machine: -1 for the host, 0 or a process for guests.
    pub pid: Pid,
    /// The id.
    pub build_id: BuildId,
    /// Path, or a name like `[vdso]`.
    pub name: String,
}

impl BuildIdEntry {
    /// An entry of the host: `mode` is [`CpuMode::Kernel`] for the kernel and its modules, else [`CpuMode::User`].
    pub fn host(mode: CpuMode, build_id: BuildId, name: String) -> BuildIdEntry {
        BuildIdEntry {
            misc: Misc(mode as u16 | Misc::BUILD_ID_SIZE),
            pid: Pid(-1),
            build_id,
            name,
        }
    }
}

/// Header, process and the field of the id.
const FIXED: usize = 8 + 4 + 24;
/// The fixed part as it was before a process was written.
const FIXED_WITHOUT_PID: usize = 8 + 24;
/// The beginning of a name when a table without processes is read as one with them: perf's first entry is always the
/// kernel's, and its name loses four bytes.
const KERNEL_NAME_SHIFTED: &[u8] = b"nel.kallsyms]";

impl Feature for BuildIds {
    const ID: FeatureId = FeatureId::BUILD_ID;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<BuildIds, FeatureFault> {
        let mut table = Cursor::new(cursor.rest(), cursor.endian());
        let with_pid = !is_without_pid(table);
        let mut entries = Vec::new();
        while table.remaining() > 0 {
            entries.push(decode_entry(&mut table, with_pid)?);
        }
        Ok(BuildIds(entries))
    }

    fn encode(&self, encoder: &mut Encoder) {
        self.0.iter().for_each(|entry| encode_entry(encoder, entry));
    }
}

/// Returns whether the table is of a time when entries had no process.
fn is_without_pid(mut table: Cursor<'_>) -> bool {
    let name = table
        .bytes(FIXED)
        .and_then(|_| table.bytes(KERNEL_NAME_SHIFTED.len()));
    name == Ok(KERNEL_NAME_SHIFTED)
}

fn decode_entry(table: &mut Cursor<'_>, with_pid: bool) -> Result<BuildIdEntry, FeatureFault> {
    let fixed = if with_pid { FIXED } else { FIXED_WITHOUT_PID };
    table.u32()?;
    let misc = Misc(table.u16()?);
    let size = table.u16()?;
    let too_small = FeatureFault::Value {
        what: "size of a build id entry",
        found: u64::from(size),
    };
    let name_size = usize::from(size).checked_sub(fixed).ok_or(too_small)?;
    let pid = if with_pid {
        Pid(table.i32()?)
    } else {
        Pid(machine_without_pid(misc))
    };
    let build_id = decode_id(table.bytes(24)?, misc)?;
    let name = table
        .bytes(name_size)?
        .split(|byte| *byte == 0)
        .next()
        .unwrap_or_default();
    Ok(BuildIdEntry {
        misc,
        pid,
        build_id,
        name: String::from_utf8_lossy(name).into_owned(),
    })
}

fn machine_without_pid(misc: Misc) -> i32 {
    match misc.cpu_mode() {
        CpuMode::GuestKernel | CpuMode::GuestUser => 0,
        _ => -1,
    }
}

/// The id in its field of 24 bytes; the byte after the id is its size when the flag says so.
fn decode_id(field: &[u8], misc: Misc) -> Result<BuildId, FeatureFault> {
    let length = match field.get(20) {
        Some(size @ 1..=20) if misc.has(Misc::BUILD_ID_SIZE) => usize::from(*size),
        _ => 20,
    };
    let id = field.get(..length).and_then(BuildId::new);
    Ok(id.ok_or(WireError::Truncated {
        offset: 0,
        wanted: 24,
        left: field.len(),
    })?)
}

fn encode_entry(encoder: &mut Encoder, entry: &BuildIdEntry) {
    let name_size = (entry.name.len() + 1).next_multiple_of(8);
    encoder.u32(0);
    encoder.u16(entry.misc.0 | Misc::BUILD_ID_SIZE);
    // A path is at most 4096 bytes; one that could not be framed is left without its end.
    let name_size = name_size.min(usize::from(u16::MAX) / 64 * 64);
    encoder.u16((FIXED + name_size) as u16);
    encoder.i32(entry.pid.0);
    encoder.bytes(entry.build_id.padded());
    encoder.u8(entry.build_id.as_bytes().len() as u8);
    encoder.bytes(&[0; 3]);
    let name = &entry.name.as_bytes()[..entry.name.len().min(name_size - 1)];
    encoder.bytes(name);
    encoder.bytes(&vec![0; name_size - name.len()]);
}

#[cfg(test)]
mod tests {
    use super::super::testing::{from_little, little, round_trip};
    use super::*;

    fn id(bytes: &[u8]) -> BuildId {
        BuildId::new(bytes).unwrap()
    }

    #[test]
    fn build_ids_round_trip() {
        let kernel = BuildIdEntry::host(CpuMode::Kernel, id(&[7; 20]), "[kernel.kallsyms]".into());
        let short = BuildIdEntry::host(
            CpuMode::User,
            id(&[1, 2, 3, 4, 5, 6, 7, 8]),
            "/usr/bin/true".into(),
        );
        round_trip(&BuildIds(vec![kernel, short]));
        round_trip(&BuildIds(Vec::new()));
    }

    #[test]
    fn an_entry_is_framed_as_a_record() {
        let bytes = little(&BuildIds(vec![BuildIdEntry::host(
            CpuMode::User,
            id(&[7; 20]),
            "/bin/ls".into(),
        )]));
        assert_eq!(
            bytes[..12],
            [0, 0, 0, 0, 2, 0x80, 44, 0, 255, 255, 255, 255]
        );
        assert_eq!((bytes.len(), bytes[32]), (44, 20));
    }

    #[test]
    fn old_tables_have_no_process() {
        let mut bytes = vec![0, 0, 0, 0, 1, 0, 32 + 24, 0];
        bytes.extend([9; 20]);
        bytes.extend([0; 4]);
        bytes.extend(b"[kernel.kallsyms]\0\0\0\0\0\0\0");
        let ids = from_little::<BuildIds>(&bytes).unwrap();
        assert_eq!(ids.0[0].name, "[kernel.kallsyms]");
        assert_eq!((ids.0[0].pid, ids.0[0].build_id), (Pid(-1), id(&[9; 20])));
    }

    #[test]
    fn a_size_below_the_fixed_part_is_refused() {
        let bytes = [0, 0, 0, 0, 2, 0, 12, 0, 0, 0, 0, 0];
        let fault = FeatureFault::Value {
            what: "size of a build id entry",
            found: 12,
        };
        assert_eq!(from_little::<BuildIds>(&bytes), Err(fault));
    }
}
