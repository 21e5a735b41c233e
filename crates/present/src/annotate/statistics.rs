//! `annotate --type-stat`, `--insn-stat`: of how many places the types of data are known, why not of others, and of which
//! instructions.
//!
//! The layout is perf 7.2's to the byte.

use std::collections::BTreeMap;
use std::io::{self, Write};

/// The reason why the data that an instruction works on is not known; in the order in which reasons are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unknown {
    /// The function is not known.
    Function,
    /// There is no such instruction.
    Instruction,
    /// It names no place in memory.
    Memory,
    /// The object has no debug information.
    DebugInfo,
    /// No unit of it covers the code.
    Unit,
    /// There is no such variable.
    Variable,
    /// The value there has no known type.
    Type,
    /// The place lies outside of the type.
    Offset,
}

impl Unknown {
    fn word(self) -> &'static str {
        match self {
            Unknown::Function => "no_sym",
            Unknown::Instruction => "no_insn",
            Unknown::Memory => "no_mem_ops",
            Unknown::DebugInfo => "no_dbginfo",
            Unknown::Unit => "no_cuinfo",
            Unknown::Variable => "no_var",
            Unknown::Type => "no_typeinfo",
            Unknown::Offset => "bad_offset",
        }
    }
}

/// Of how many sampled places what they work on is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeStatistics {
    /// Places whose data is known.
    pub known: u64,
    /// Those of them where values had to be followed.
    pub followed: u64,
    /// The others.
    pub unknown: BTreeMap<Unknown, u64>,
}

/// Statistics of one sort of instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstructionStatistics {
    /// Its name in listings.
    pub name: String,
    /// Places where what it works on is known.
    pub known: u64,
    /// The others.
    pub unknown: u64,
}

/// Writes `--type-stat`.
pub fn type_statistics(out: &mut dyn Write, counted: &TypeStatistics) -> io::Result<()> {
    writeln!(out, "Annotate data type stats:")?;
    sums(out, counted.known, counted.unknown.values().sum())?;
    writeln!(out, "{}", "-".repeat(59))?;
    let unknown = counted
        .unknown
        .iter()
        .map(|(why, count)| (why.word(), *count));
    for (word, count) in unknown
        .chain([("insn_track", counted.followed)])
        .filter(|(_, count)| *count > 0)
    {
        writeln!(out, "{count:10} : {word}")?;
    }
    writeln!(out)
}

/// Writes `--insn-stat`, in the order that is given.
pub fn instruction_statistics(
    out: &mut dyn Write,
    counted: &[InstructionStatistics],
) -> io::Result<()> {
    writeln!(out, "Annotate Instruction stats")?;
    let [known, unknown] = counted
        .iter()
        .fold([0, 0], |[known, unknown], instruction| {
            [known + instruction.known, unknown + instruction.unknown]
        });
    sums(out, known, unknown)?;
    writeln!(
        out,
        "\n  {:<20}: {:>5} {:>5}\n{}",
        "Name/opcode",
        "Good",
        "Bad",
        "-".repeat(59)
    )?;
    for InstructionStatistics {
        name,
        known,
        unknown,
    } in counted
    {
        writeln!(out, "  {name:<20}: {known:5} {unknown:5}")?;
    }
    writeln!(out)
}

fn sums(out: &mut dyn Write, known: u64, unknown: u64) -> io::Result<()> {
    let total = known + unknown;
    let percent = |part| 100.0 * part as f64 / total.max(1) as f64;
    writeln!(
        out,
        "total {total}, ok {known} ({:.1}%), bad {unknown} ({:.1}%)",
        percent(known),
        percent(unknown)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_stand_above_their_parts() {
        let mut out = Vec::new();
        let unknown = BTreeMap::from([
            (Unknown::Type, 5),
            (Unknown::DebugInfo, 4),
            (Unknown::Memory, 16),
        ]);
        type_statistics(
            &mut out,
            &TypeStatistics {
                known: 13,
                followed: 2,
                unknown,
            },
        )
        .unwrap();
        instruction_statistics(&mut out, &[]).unwrap();
        let rule = "-".repeat(59);
        let expected = format!(
            "Annotate data type stats:\n\
             total 38, ok 13 (34.2%), bad 25 (65.8%)\n\
             {rule}\n        16 : no_mem_ops\n         4 : no_dbginfo\n         5 : no_typeinfo\n         2 : insn_track\n\n\
             Annotate Instruction stats\n\
             total 0, ok 0 (0.0%), bad 0 (0.0%)\n\n  Name/opcode         :  Good   Bad\n{rule}\n\n"
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
