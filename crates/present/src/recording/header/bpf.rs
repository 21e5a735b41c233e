//! Lines about BPF programs and their types.

use oxperf_data::features::{BpfBtf, BpfFunction, BpfProgInfo, BpfProgram};

use super::{Lines, Page};
use crate::text::sanitize;

impl Page<'_> {
    pub(super) fn bpf_programs(&mut self) -> Lines {
        let programs = self.get::<BpfProgInfo>()?.0;
        if programs.is_empty() {
            self.line("bpf_prog_info empty");
        }
        let types = self.get::<BpfBtf>().unwrap_or_default();
        for program in &programs {
            self.bpf_program(program, &types);
        }
        Ok(())
    }

    fn bpf_program(&mut self, program: &BpfProgram, types: &BpfBtf) {
        let endian = self.features.endian();
        let id = program.id(endian).unwrap_or_default();
        let describe = |function: &BpfFunction| {
            format!(
                "{} addr {:#x} size {}",
                sanitize(&function.name),
                function.address,
                function.size
            )
        };
        match program.functions(endian, types).as_slice() {
            [] => {}
            [only] => self.line(format_args!("bpf_prog_info {id}: {}", describe(only))),
            several => {
                self.line(format_args!("bpf_prog_info {id}:"));
                for (index, function) in several.iter().enumerate() {
                    self.line(format_args!("\tsub_prog {index}: {}", describe(function)));
                }
            }
        }
    }

    pub(super) fn bpf_types(&mut self) -> Lines {
        let objects = self.get::<BpfBtf>()?.0;
        if objects.is_empty() {
            self.line("btf info empty");
        }
        for object in objects {
            self.line(format_args!("btf info of id {}", object.id));
        }
        Ok(())
    }
}
