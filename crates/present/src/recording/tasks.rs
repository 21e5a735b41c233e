//! The text of `report --tasks` and `--mmaps`: threads as a tree, with what they mapped.

use std::io::{self, Write};

use oxperf_analysis::tasks::TaskNode;
use oxperf_machine::{DsoKind, Machine, Map};

use crate::text::sanitize;

/// Blanks before a mapping, without those of its thread's depth.
const MAPPING_INDENT: usize = 32;

/// Depths beyond are drawn as this one: broken records could make a tree as deep as the file is long.
const DEEPEST: usize = 1000;

/// Writes a line for each thread; `with_maps` also one for each of its mappings.
pub fn write(
    out: &mut dyn Write,
    machine: &Machine,
    tasks: &[TaskNode],
    with_maps: bool,
) -> io::Result<()> {
    writeln!(out, "# {:>8} {:>8} {:>8}  comm", "pid", "tid", "ppid")?;
    for task in tasks {
        let (thread, depth) = (machine.thread_info(task.thread), task.depth.min(DEEPEST));
        let (pid, parent) = (
            thread.pid.map_or(-1, |pid| pid.0),
            thread.parent.map_or(-1, |tid| tid.0),
        );
        let comm = sanitize(machine.comm_of(task.thread));
        writeln!(
            out,
            "  {pid:8} {:8} {parent:8} |{:depth$}{comm}",
            thread.tid.0, ""
        )?;
        if with_maps {
            let indent = MAPPING_INDENT + depth;
            machine
                .mappings_of(task.thread)
                .try_for_each(|(start, end, map)| {
                    write!(out, "{:indent$}", "")
                        .and_then(|()| write_mapping(out, machine, start..end, map))
                })?;
        }
    }
    Ok(())
}

fn write_mapping(
    out: &mut dyn Write,
    machine: &Machine,
    range: std::ops::Range<u64>,
    map: &Map,
) -> io::Result<()> {
    let dso = machine.dso(map.dso);
    // The page that the kernel gives every process is no file, whatever the record says.
    let vdso = dso.kind == DsoKind::Vdso;
    let recorded = if vdso { 0 } else { map.file_offset };
    let offset = recorded.wrapping_add(range.start.wrapping_sub(map.start));
    let identity = match (map.inode, dso.build_id) {
        (Some(inode), _) if !vdso => inode.to_string(),
        (_, Some(id)) => id.to_string(),
        _ => String::new(),
    };
    let (name, rights) = (sanitize(&dso.name), rights(map));
    writeln!(
        out,
        "{:x}-{:x} {rights} {offset:08x} {identity} {name}",
        range.start, range.end
    )
}

/// Any flag at all counts as shared, as perf has it.
fn rights(map: &Map) -> String {
    let prot = map.prot.unwrap_or(0);
    let bits = [(prot & 1, 'r'), (prot & 2, 'w'), (prot & 4, 'x')];
    let sharing = if map.flags.unwrap_or(0) == 0 {
        'p'
    } else {
        's'
    };
    bits.into_iter()
        .map(|(bit, letter)| if bit == 0 { '-' } else { letter })
        .chain([sharing])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{Misc, PerfTime, Pid, Tid};
    use oxperf_analysis::tasks::tasks;
    use oxperf_wire::kernel::{Comm, FileIdentity, Mmap2, TaskEvent as Fork};

    #[test]
    fn a_tree_with_mappings() {
        let mut machine = Machine::default();
        machine.apply_comm(&Comm {
            pid: Pid(5),
            tid: Tid(5),
            comm: b"sh\x1b",
        });
        let identity = FileIdentity::Inode {
            major: 1,
            minor: 1,
            inode: 77,
            generation: 0,
        };
        let (pid, tid, filename) = (Pid(5), Tid(5), &b"/bin/sh"[..]);
        let map = Mmap2 {
            pid,
            tid,
            start: 0x4000,
            len: 0x1000,
            pgoff: 0x2000,
            identity,
            prot: 5,
            flags: 2,
            filename,
        };
        machine.apply_mmap2(Misc(2), &map);
        machine.apply_mmap2(
            Misc(2),
            &Mmap2 {
                start: 0x4400,
                len: 0x100,
                flags: 0,
                filename: b"/x",
                ..map
            },
        );
        let fork = Fork {
            pid: Pid(5),
            ppid: Pid(5),
            tid: Tid(6),
            ptid: Tid(5),
            time: PerfTime(0),
        };
        machine.apply_fork(Misc(0), &fork);
        let text = |with_maps| {
            let mut out = Vec::new();
            write(&mut out, &machine, &tasks(&machine), with_maps).unwrap();
            String::from_utf8(out).unwrap()
        };
        let head = "#      pid      tid     ppid  comm\n         0        0       -1 |swapper\n         5        5       -1 | sh\\x1b\n";
        assert_eq!(
            text(false),
            format!("{head}         5        6        5 |  sh\\x1b\n")
        );
        let maps = "                                 4000-4400 r-xs 00002000 77 /bin/sh\n                                 4400-4500 r-xp 00002000 77 /x\n                                 4500-5000 r-xs 00002500 77 /bin/sh\n";
        assert!(
            text(true).starts_with(&format!("{head}{maps}")),
            "{}",
            text(true)
        );
    }
}
