//! Code that a program made at run time and logged: each function becomes a dso of its own, as if it had been mapped
//! from the file that perf would have written for it.

use std::sync::Arc;

use oxperf_abi::{Pid, Tid};

use crate::dso::DsoKey;
use crate::{DsoKind, JitLine, JitSymbol, Machine, Map};

/// A function that a program made.
#[derive(Clone, Copy, Debug)]
pub struct JitMapping<'a> {
    /// Whose memory it is in.
    pub pid: Pid,
    /// The name of the file that perf would have written for it.
    pub file: &'a str,
    /// Its first address.
    pub start: u64,
    /// Bytes.
    pub size: u64,
    /// Its name.
    pub name: &'a Arc<str>,
    /// Its source lines.
    pub lines: &'a Arc<[JitLine]>,
}

impl Machine {
    /// Where the code stands in the files that perf writes for logged functions.
    const IN_FILE: u64 = 0x80;

    /// A function is there now, in place of whatever was.
    pub fn apply_jit(&mut self, mapping: &JitMapping<'_>) {
        let key = DsoKey { name: mapping.file.to_owned(), kind: DsoKind::Jit, build_id: None, inode: None };
        let dso = self.dsos.find_or_add(key);
        let symbol = JitSymbol {
            name: Arc::clone(mapping.name),
            start: Machine::IN_FILE,
            end: Machine::IN_FILE.saturating_add(mapping.size),
            lines: Arc::clone(mapping.lines),
        };
        self.dsos.set_jit_symbol(dso, symbol);
        let (start, end) = (mapping.start, mapping.start.saturating_add(mapping.size));
        let bias = Machine::IN_FILE.wrapping_sub(start);
        let map =
            Map { start, end, dso, bias, prot: 0, flags: 0, file_offset: Machine::IN_FILE, inode: None };
        let map = self.add_map(map);
        let thread = self.thread(mapping.pid, Tid(mapping.pid.0));
        let space = self.threads[thread.0 as usize].space;
        self.insert_user(space, start, end, map);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::CpuMode;

    #[test]
    fn a_function_takes_the_place_of_what_was_there() {
        let mut machine = Machine::default();
        let name: Arc<str> = "f".into();
        let lines = Arc::default();
        let first = JitMapping {
            pid: Pid(5),
            file: "jitted-5-1.so",
            start: 0x1000,
            size: 0x20,
            name: &name,
            lines: &lines,
        };
        machine.apply_jit(&first);
        machine.apply_jit(&JitMapping { file: "jitted-5-2.so", start: 0x1010, ..first });
        let thread = machine.thread(Pid(5), Tid(5));
        let place = |address| {
            let located = machine.locate(thread, CpuMode::User, address)?;
            Some((machine.dso(located.dso).name.as_str(), located.address))
        };
        assert_eq!(place(0x100f), Some(("jitted-5-1.so", 0x8f)));
        assert_eq!(place(0x1010), Some(("jitted-5-2.so", 0x80)));
        assert_eq!(place(0x1030), None);
    }
}
