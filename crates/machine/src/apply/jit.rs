//! Code that a program made at run time and logged: each function becomes a dso of its own, as if it had been mapped
//! from the file that perf would have written for it.

use std::sync::Arc;

use oxperf_abi::{Pid, Tid};
use oxperf_wire::JitCode;

use crate::dso::DsoKey;
use crate::{DsoKind, JitSymbol, Machine, Map};

/// A function that a program made.
#[derive(Clone, Copy, Debug)]
pub struct JitMapping<'a> {
    /// Whose memory it is in.
    pub pid: Pid,
    /// The name of the file that perf would have written for it.
    pub file: &'a str,
    /// The function, where it is now.
    pub code: &'a JitCode,
}

impl Machine {
    /// Offset of the code in the files that perf writes for logged functions.
    const IN_FILE: u64 = 0x80;

    /// A function is there now, in place of whatever was.
    pub fn apply_jit(&mut self, mapping: &JitMapping<'_>) {
        let key = DsoKey {
            name: mapping.file.to_owned(),
            kind: DsoKind::Jit,
            build_id: None,
            inode: None,
        };
        let dso = self.find_or_add_dso(key);
        let code = mapping.code;
        let symbol = JitSymbol {
            name: Arc::clone(&code.name),
            start: Machine::IN_FILE,
            end: Machine::IN_FILE.saturating_add(code.size),
            lines: Arc::clone(&code.lines),
            unwinding: code.unwinding.clone(),
        };
        self.objects.dsos.set_jit_symbol(dso, symbol);
        let (start, end) = (code.address, code.address.saturating_add(code.size));
        let bias = Machine::IN_FILE.wrapping_sub(start);
        let map = Map {
            start,
            end,
            dso,
            bias,
            prot: None,
            flags: None,
            file_offset: Machine::IN_FILE,
            inode: None,
        };
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
        let code = |address| JitCode {
            time: 0,
            address,
            size: 0x20,
            index: 0,
            name: "f".into(),
            lines: Arc::default(),
            unwinding: None,
        };
        let mut apply = |file, address| {
            machine.apply_jit(&JitMapping {
                pid: Pid(5),
                file,
                code: &code(address),
            })
        };
        apply("jitted-5-1.so", 0x1000);
        apply("jitted-5-2.so", 0x1010);
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
