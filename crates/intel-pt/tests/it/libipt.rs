//! libipt's own tests: the instructions that its decoder prints for each trace.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::path::PathBuf;

use intel_pt::{Code, CodeAddress, CodeSource, Errata, FlatCode};

use crate::archive::Files;
use crate::instructions::instructions;

#[test]
fn instructions_are_those_of_libipt() {
    let shared =
        std::env::var_os("OXPERF_SHARED").map_or_else(|| "../../../shared".into(), PathBuf::from);
    let Some(files) =
        crate::archive::zstd(&shared.join("fixtures/public/intel-libipt/pttc-out.tar.zst"))
    else {
        eprintln!("SKIPPED: no tests of libipt beside the project (OXPERF_SHARED)");
        return;
    };
    let manifest = String::from_utf8_lossy(&files["MANIFEST.tsv"]).into_owned();
    let mut different = Vec::new();
    let mut same = 0u32;
    for line in manifest.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let expected = fields[5].split(' ').find(|name| name.contains("-ptxed"));
        let Some(expected) = expected.and_then(|name| files.get(name)) else {
            continue;
        };
        let case = Case {
            name: fields[0],
            errata: errata(fields[1]),
            origin: fields[2],
            options: fields[4],
        };
        let excepted = EXCEPTIONS
            .iter()
            .any(|(name, _)| fields[0].starts_with(name));
        match case.check(&files, expected) {
            Err(what) if !excepted => {
                different.push(format!("{} ({}): {what}", fields[0], fields[1]))
            }
            Ok(()) => same += 1,
            Err(_) => {}
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(same >= 360, "only {same} cases were compared");
}

/// Beginnings of names of tests whose instructions differ, and why.
const EXCEPTIONS: [(&str, &str); 5] = [
    ("pevent", "the sideband in these tests changes the code"),
    ("linear-fup-tip_pgd", "its code is not in the archive"),
    (
        "pip-pip_mov_cr3-fail",
        "the trace ends without a packet that shows that its last instructions ran",
    ),
    (
        "tip_pgd_noip-mov_cr3",
        "perf, too, takes only branches for ends of tracing that have no address",
    ),
    (
        "ptxed-resync",
        "after an error a decoder goes on at the next complete address, as perf does",
    ),
];

/// The errata of `FAMILY/MODEL`.
fn errata(cpu: &str) -> Errata {
    let numbers = cpu.split_once('/').and_then(|(family, model)| {
        let model = model.split('/').next()?;
        Some((family.parse().ok()?, model.parse().ok()?))
    });
    numbers.map_or_else(Errata::default, |(family, model)| Errata::of(family, model))
}

struct Case<'a> {
    name: &'a str,
    errata: Errata,
    origin: &'a str,
    options: &'a str,
}

impl Case<'_> {
    fn check(&self, files: &Files, expected: &[u8]) -> Result<(), String> {
        let file = |kind: &str| {
            files
                .get(&format!("{}.{kind}", self.name))
                .ok_or(format!("no {kind}"))
        };
        let origin = u64::from_str_radix(self.origin.trim_start_matches("0x"), 16)
            .map_err(|error| error.to_string())?;
        let mut code = Filtered {
            code: FlatCode::new(origin, file("bin")?.clone()),
            filter: self.filter(),
        };
        let expected = String::from_utf8_lossy(expected);
        let ours = instructions(file("pt")?, self.errata, &mut code);
        if let Some(count) = expected.strip_prefix("insn:") {
            let count = count.trim().trim_end_matches('.');
            return if count == ours.len().to_string() {
                Ok(())
            } else {
                Err(format!("{}", ours.len()))
            };
        }
        let theirs: Vec<u64> = expected.lines().filter_map(address).collect();
        if ours == theirs {
            Ok(())
        } else {
            Err(format!("{ours:x?} expected {theirs:x?}"))
        }
    }

    /// The addresses that are traced, where a filter says so.
    fn filter(&self) -> Option<(u64, u64)> {
        let value = |name: &str| {
            let (_, behind) = self.options.split_once(name)?;
            u64::from_str_radix(
                behind.split_whitespace().next()?.trim_start_matches("0x"),
                16,
            )
            .ok()
        };
        Some((value("addr0_a")?, value("addr0_b")?)).filter(|_| value("addr0_cfg") == Some(1))
    }
}

/// The address in a line that is one, with what may stand behind it.
fn address(line: &str) -> Option<u64> {
    let word = line
        .trim_start_matches("? ")
        .split_whitespace()
        .next()
        .filter(|word| word.len() == 16)?;
    u64::from_str_radix(word, 16).ok()
}

/// Code of which a filter lets only some addresses through.
struct Filtered {
    code: FlatCode,
    filter: Option<(u64, u64)>,
}

impl CodeSource for Filtered {
    fn generation(&self) -> u64 {
        0
    }

    fn code(&self, at: CodeAddress) -> Option<Code<'_>> {
        self.code.code(at)
    }

    fn is_filtered_out(&self, ip: u64) -> bool {
        self.filter
            .is_some_and(|(from, to)| !(from..=to).contains(&ip))
    }
}
