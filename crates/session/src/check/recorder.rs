//! The program and the machine that made a recording, as far as it says.

use oxperf_data::features::{Arch, CmdLine, Hostname, OsRelease, TracingDataSection, Version};
use oxperf_data::{Feature, FeatureId, Reader};
use oxperf_tracepoint::WordSize;

/// The program and the machine that made a recording; `None` for a fact that it does not hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecorderInfo {
    /// The program.
    pub tool: Option<Tool>,
    /// Its version.
    pub version: Option<String>,
    /// The machine's name.
    pub host: Option<String>,
    /// Release of its kernel.
    pub os_release: Option<String>,
    /// Its architecture.
    pub arch: Option<String>,
    /// Bits of a word there.
    pub word_bits: Option<u32>,
    /// The command line.
    pub command: Vec<String>,
}

/// A program that makes recordings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    /// perf, or one that writes what perf writes.
    Perf,
    /// Android's simpleperf.
    Simpleperf,
}

/// Features from here on are simpleperf's.
const FIRST_OF_SIMPLEPERF: u8 = 128;

impl RecorderInfo {
    /// Reads the features.
    pub(super) fn of(reader: &Reader<'_>) -> RecorderInfo {
        let arch = get::<Arch>(reader).map(|arch| arch.0);
        RecorderInfo {
            tool: tool(reader),
            version: get::<Version>(reader).map(|version| version.0),
            host: get::<Hostname>(reader).map(|host| host.0),
            os_release: get::<OsRelease>(reader).map(|release| release.0),
            word_bits: traced_word(reader).or_else(|| arch.as_deref().and_then(word_of)),
            arch,
            command: get::<CmdLine>(reader)
                .map(|line| line.0)
                .unwrap_or_default(),
        }
    }
}

fn get<F: Feature>(reader: &Reader<'_>) -> Option<F> {
    reader.features().get::<F>().ok().flatten()
}

fn tool(reader: &Reader<'_>) -> Option<Tool> {
    let bits = reader.features().bits();
    if bits.iter().any(|id| id.0 >= FIRST_OF_SIMPLEPERF) {
        return Some(Tool::Simpleperf);
    }
    bits.contains(FeatureId::VERSION).then_some(Tool::Perf)
}

/// The word of the kernel, from the formats of its tracepoints.
fn traced_word(reader: &Reader<'_>) -> Option<u32> {
    let data =
        oxperf_tracepoint::TracingData::decode(&get::<TracingDataSection>(reader)?.0).ok()?;
    Some(match data.word {
        WordSize::Four => 32,
        WordSize::Eight => 64,
    })
}

/// The word by the name that `uname -m` gives.
fn word_of(arch: &str) -> Option<u32> {
    const WITH_32: [&str; 8] = [
        "i386", "i486", "i586", "i686", "ppc", "s390", "mips", "riscv32",
    ];
    if arch.starts_with("armv") || WITH_32.contains(&arch) {
        return Some(32);
    }
    let names_64 = arch.contains("64") || matches!(arch, "s390x" | "alpha");
    names_64.then_some(64)
}

#[cfg(test)]
mod tests {
    use super::word_of;

    #[test]
    fn words_of_usual_machines() {
        let words = [
            "x86_64", "aarch64", "s390x", "ppc64le", "i686", "armv7l", "ppc", "pdp11",
        ]
        .map(word_of);
        assert_eq!(
            words,
            [
                Some(64),
                Some(64),
                Some(64),
                Some(64),
                Some(32),
                Some(32),
                Some(32),
                None
            ]
        );
    }
}
