//! Lines about the host and the recorder.

use oxperf_data::FeatureId;
use oxperf_data::features::{
    Arch, CmdLine, CpuDesc, CpuId, ElfMachine, Hostname, NrCpus, OsRelease, TotalMem, Version,
};

use super::{Lines, Page};
use crate::text::sanitize;

impl Page<'_> {
    pub(super) fn host(&mut self, id: FeatureId) -> Lines {
        match id {
            FeatureId::HOSTNAME => self.named("hostname", &self.get::<Hostname>()?.0),
            FeatureId::OSRELEASE => self.named("os release", &self.get::<OsRelease>()?.0),
            FeatureId::VERSION => self.named("perf version", &self.get::<Version>()?.0),
            FeatureId::ARCH => self.named("arch", &self.get::<Arch>()?.0),
            FeatureId::CPUDESC => self.named("cpudesc", &self.get::<CpuDesc>()?.0),
            FeatureId::CPUID => self.named("cpuid", &self.get::<CpuId>()?.0),
            FeatureId::CMDLINE => self.named("cmdline", &command(&self.get()?)),
            FeatureId::NRCPUS => {
                let NrCpus { available, online } = self.get()?;
                self.line(format_args!("nrcpus online : {online}"));
                self.line(format_args!("nrcpus avail : {available}"));
            }
            FeatureId::TOTAL_MEM => {
                let TotalMem { kilobytes } = self.get()?;
                self.line(format_args!("total memory : {kilobytes} kB"));
            }
            _ => {
                let ElfMachine { machine, flags } = self.get()?;
                self.line(format_args!("e_machine : {machine}"));
                self.line(format_args!("  e_flags : {flags}"));
            }
        }
        Ok(())
    }

    fn named(&mut self, name: &str, text: &str) {
        self.line(format_args!("{name} : {}", sanitize(text)));
    }
}

/// The arguments, a blank after each, quotes escaped.
fn command(line: &CmdLine) -> String {
    line.0
        .iter()
        .map(|argument| argument.replace('\'', "\\'") + " ")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_escaped() {
        assert_eq!(
            command(&CmdLine(vec!["perf".into(), "it's".into()])),
            "perf it\\'s "
        );
        assert_eq!(command(&CmdLine(Vec::new())), "");
    }
}
