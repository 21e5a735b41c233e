//! What we make of the recordings of Intel PT against what really ran: every instruction, branch, PTWRITE and power
//! event of every thread, less the ranges that the trace cannot reveal.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::process::read_maybe_zstd;

/// One kind of truth.
pub(super) struct Truth {
    /// What the sweep calls the comparison.
    pub(super) name: &'static str,
    /// The file that has it, by its beginning.
    file: &'static str,
    /// The options that make `script` print it.
    words: [&'static str; 3],
    /// A line of `script` as the truth would have it; `None` if it is about something else.
    ours: fn(&[&str]) -> Option<String>,
    /// A line of the truth, without what `script` does not say.
    theirs: fn(&[&str]) -> Option<String>,
    /// How lost ranges, which count instructions, are cut out.
    lost: Cut,
}

/// How what the trace cannot reveal is left out of the truth.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// Each line is an instruction.
    Instructions,
    /// Each line is a transfer of control: of the instruction that the truth of instructions has where it came from and
    /// before where it went. Where tracing begins and ends is left to the comparison with perf.
    Transfers,
    /// It cannot be: such cases are not compared.
    Never,
}

/// Every kind.
pub(super) const TRUTHS: [Truth; 4] = [
    Truth {
        name: "truth-instructions",
        file: "truth.insn",
        words: ["--itrace=i0ns", "-F", "tid,event,ip"],
        ours: |words| match words {
            [tid, event, ip] if event.starts_with("instructions") => Some(format!("{tid} {ip}")),
            _ => None,
        },
        theirs: |words| Some(words.join(" ")),
        lost: Cut::Instructions,
    },
    Truth {
        name: "truth-branches",
        file: "truth.branches",
        words: ["--itrace=b", "-F", "tid,event,ip,addr"],
        ours: |words| match words {
            [tid, event, from, "=>", to] if event.starts_with("branches") => {
                Some(format!("{tid} {from} {to}"))
            }
            _ => None,
        },
        theirs: |words| Some(words.get(..3)?.join(" ")),
        lost: Cut::Transfers,
    },
    Truth {
        name: "truth-ptwrite",
        file: "truth.ptwrite.txt",
        words: ["--itrace=w", "-F", "tid,event,ip,synth"],
        ours: |words| match words {
            [tid, "ptwrite:", "IP:", exact, "payload:", value, .., ip] => Some(format!(
                "{tid} {} {} {exact}",
                place(exact, ip),
                value.trim_start_matches("0x")
            )),
            _ => None,
        },
        theirs: |words| match words {
            [tid, _, ip, value, exact] => {
                Some(format!("{tid} {} {value} {exact}", place(exact, ip)))
            }
            _ => None,
        },
        lost: Cut::Never,
    },
    Truth {
        name: "truth-power",
        file: "truth.power.txt",
        words: ["--itrace=p", "-F", "tid,event,ip,synth"],
        ours: power,
        theirs: |words| match words {
            [tid, _, _, event, fields @ ..] => Some(format!("{tid} {event} {}", fields.join(" "))),
            _ => None,
        },
        lost: Cut::Never,
    },
];

/// An address that counts only where the trace names it.
fn place<'a>(exact: &str, ip: &'a str) -> &'a str {
    if exact == "1" { ip } else { "-" }
}

/// A power event: the numbers behind its labels.
fn power(words: &[&str]) -> Option<String> {
    let [tid, event, fields @ ..] = words else {
        return None;
    };
    let event = event.strip_suffix(':')?;
    let mut numbers = fields
        .windows(2)
        .filter(|pair| pair[0].ends_with(':'))
        .map(|pair| number(pair[1]));
    let fields: Vec<String> = match event {
        "psb" => return None,
        "cbr" => numbers.take(1).collect(),
        "exstop" => vec![place(&numbers.next()?, fields.last()?).to_owned()],
        _ => numbers.collect(),
    };
    Some(format!("{tid} {event} {}", fields.join(" ")))
}

fn number(text: &str) -> String {
    let hex = text
        .strip_prefix("0x")
        .and_then(|digits| u64::from_str_radix(digits, 16).ok());
    hex.map_or_else(|| text.to_owned(), |value| value.to_string())
}

/// Lines that a thread executed: their number and sum.
#[derive(Default)]
struct Stream {
    lines: u64,
    sum: Sha256,
}

/// Of each thread, its lines and their sum.
type Sums = BTreeMap<String, (u64, Vec<u8>)>;

impl Truth {
    /// Returns true if a case has this truth, whole or as a sum, and can be measured by it.
    pub(super) fn is_of(&self, case: &Path) -> Result<bool> {
        let description = description(case)?;
        if class(case)?.is_some_and(|class| class == "errors") {
            return Ok(false);
        }
        let whole = lost(&description).values().all(Vec::is_empty);
        Ok((whole || self.lost != Cut::Never)
            && (self.path(case).is_some() || self.sum(case).is_some()))
    }

    fn path(&self, case: &Path) -> Option<std::path::PathBuf> {
        [
            case.join(self.file),
            case.join(format!("{}.zst", self.file)),
        ]
        .into_iter()
        .find(|path| path.is_file())
    }

    /// Lines and sum of all threads together.
    fn sum(&self, case: &Path) -> Option<(u64, String)> {
        let text = std::fs::read_to_string(case.join("truth.sha256")).ok()?;
        let line = text.lines().find(|line| line.ends_with(self.file))?;
        let mut words = line.split_ascii_whitespace();
        let sum = words.next()?.to_owned();
        Some((words.next()?.parse().ok()?, sum))
    }

    /// Compares what `program` prints; says what differs.
    pub(super) fn compare(
        &self,
        program: &Path,
        case: &Path,
        symfs: &Path,
    ) -> Result<Option<String>> {
        let lost = lost(&description(case)?);
        let transfers =
            self.lost == Cut::Transfers && lost.values().any(|ranges| !ranges.is_empty());
        let ours =
            |words: &[&str]| (self.ours)(words).filter(|line| !transfers || has_both_ends(line));
        let got = self.got(program, case, symfs, ours)?;
        let expected = match self.path(case) {
            Some(path) if transfers => {
                revealed(&read_maybe_zstd(&path)?, &instructions(case)?, &lost)?
            }
            Some(path) => summed(&read_maybe_zstd(&path)?[..], self.theirs, &lost)?,
            None => return Ok(self.differs_from_sum(case, &got)),
        };
        for (tid, (lines, sum)) in &expected {
            let found = got
                .get(tid)
                .map_or((0, &[][..]), |(lines, sum)| (*lines, sum));
            if found != (*lines, sum) {
                return Ok(Some(format!(
                    "thread {tid}: {} lines, {lines} expected",
                    found.0
                )));
            }
        }
        Ok(got
            .keys()
            .find(|tid| !expected.contains_key(*tid))
            .map(|tid| format!("thread {tid} did nothing")))
    }

    /// The same where only the sum of a single thread is known.
    fn differs_from_sum(&self, case: &Path, got: &Sums) -> Option<String> {
        let (lines, sum) = self.sum(case)?;
        let found = got.values().next().filter(|_| got.len() == 1)?;
        let hex: String = found.1.iter().map(|byte| format!("{byte:02x}")).collect();
        // The hash of branches is over their kinds, too, which no field tells: only their number can be compared.
        let differs = if self.file == "truth.branches" {
            found.0 != lines
        } else {
            hex != sum
        };
        differs.then(|| format!("{} lines, {lines} expected", found.0))
    }

    fn got(
        &self,
        program: &Path,
        case: &Path,
        symfs: &Path,
        ours: impl FnMut(&[&str]) -> Option<String>,
    ) -> Result<Sums> {
        let mut command = Command::new(program);
        command
            .arg("script")
            .args(self.words)
            .args(["-i", "perf.data", "--symfs"])
            .arg(symfs);
        command
            .current_dir(case)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn()?;
        let lines = BufReader::with_capacity(1 << 20, child.stdout.take().context("a pipe")?);
        let sums = summed(lines, ours, &Lost::new());
        let status = child.wait()?;
        ensure!(status.success(), "{}: {status}", program.display());
        sums
    }
}

/// Returns true if a line of a branch says where it came from and where it went.
fn has_both_ends(line: &str) -> bool {
    !line.split(' ').any(|word| word == "0")
}

/// Instructions of each thread.
type Ran = BTreeMap<String, Vec<String>>;

fn instructions(case: &Path) -> Result<Ran> {
    let text = read_maybe_zstd(&case.join("truth.insn.zst"))?;
    let mut ran = Ran::new();
    for line in std::str::from_utf8(&text)?.lines() {
        let (tid, ip) = line.split_once(' ').context("a thread and an address")?;
        if !ran.contains_key(tid) {
            ran.insert(tid.to_owned(), Vec::new());
        }
        ran.get_mut(tid)
            .context("just inserted")?
            .push(ip.to_owned());
    }
    Ok(ran)
}

/// The branches that the trace reveals: those of instructions outside the lost ranges.
fn revealed(branches: &[u8], ran: &Ran, lost: &Lost) -> Result<Sums> {
    let mut next: BTreeMap<String, usize> = BTreeMap::new();
    let read = |words: &[&str]| {
        let [tid, from, to, ..] = words else {
            return None;
        };
        let line = [*tid, from, to].join(" ");
        let ran = ran.get(*tid).filter(|_| has_both_ends(&line))?;
        let next = next.entry((*tid).to_owned()).or_default();
        let found = ran
            .get(*next..)?
            .windows(2)
            .position(|pair| pair[0] == *from && pair[1] == *to)?;
        let index = *next + found;
        *next = index + 1;
        let is_lost = |range: &Range<u64>| range.contains(&(index as u64));
        let is_lost = lost
            .get(*tid)
            .is_some_and(|ranges| ranges.iter().any(is_lost));
        (!is_lost).then_some(line)
    };
    summed(branches, read, &Lost::new())
}

/// The sums of a text, thread by thread.
fn summed(
    mut text: impl BufRead,
    mut read: impl FnMut(&[&str]) -> Option<String>,
    lost: &Lost,
) -> Result<Sums> {
    let mut streams: BTreeMap<String, (u64, Stream)> = BTreeMap::new();
    let mut line = String::new();
    while text.read_line(&mut line)? != 0 {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if let Some(read) = read(&words) {
            let tid = words.first().copied().unwrap_or_default();
            if !streams.contains_key(tid) {
                streams.insert(tid.to_owned(), Default::default());
            }
            let (index, stream) = streams.get_mut(tid).context("just inserted")?;
            let is_lost = lost
                .get(tid)
                .is_some_and(|ranges| ranges.iter().any(|range| range.contains(index)));
            *index += 1;
            if !is_lost {
                stream.lines += 1;
                stream.sum.update(read.as_bytes());
                stream.sum.update(b"\n");
            }
        }
        line.clear();
    }
    let sums = streams
        .into_iter()
        .map(|(tid, (_, stream))| (tid, (stream.lines, stream.sum.finalize().to_vec())));
    Ok(sums.collect())
}

/// Ranges of instructions that the trace cannot reveal, of each thread.
type Lost = BTreeMap<String, Vec<Range<u64>>>;

fn lost(description: &Value) -> Lost {
    let mut lost = Lost::new();
    for range in description["lost"].as_array().into_iter().flatten() {
        let number = |name: &str| range[name].as_u64().unwrap_or_default();
        lost.entry(range["tid"].to_string())
            .or_default()
            .push(number("from")..number("to"));
    }
    lost
}

/// Returns what kind of case it is: `errors` where the truth is in no file that can be decoded.
fn class(case: &Path) -> Result<Option<String>> {
    let list = std::fs::read_to_string(case.with_file_name("CASES.tsv"))?;
    let name = case.file_name().unwrap_or_default().to_string_lossy();
    let mut rows = list.lines().map(|row| row.split('\t'));
    Ok(rows
        .find_map(|mut row| (row.next()? == name).then(|| row.next().map(str::to_owned)))
        .flatten())
}

fn description(case: &Path) -> Result<Value> {
    let path = case.join("meta.json");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Ok(serde_json::from_str(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_ranges_are_left_out_thread_by_thread() {
        let lost = lost(&serde_json::json!({"lost": [{"tid": 1, "from": 1, "to": 3}]}));
        let plain = TRUTHS[0].theirs;
        let truth = summed(&b"1 a\n1 b\n2 x\n1 c\n1 d\n"[..], plain, &lost).unwrap();
        let found = summed(&b"2 x\n1 a\n1 d\n"[..], plain, &Lost::new()).unwrap();
        assert_eq!(truth, found);
        assert_eq!(truth["1"].0, 2);
    }

    #[test]
    fn branches_of_lost_instructions_are_left_out() {
        let ran = ["a", "b", "a", "c", "a", "b"].map(str::to_owned).to_vec();
        let lost = lost(&serde_json::json!({"lost": [{"tid": 1, "from": 1, "to": 4}]}));
        let truth =
            b"1 0 a tr_strt\n1 a b jmp\n1 b a jmp\n1 a c jcc\n1 c a ret\n1 a b jmp\n1 b 0 end\n";
        let found = revealed(truth, &Ran::from([("1".to_owned(), ran)]), &lost).unwrap();
        let plain = |words: &[&str]| Some(words.join(" "));
        assert_eq!(
            found,
            summed(&b"1 a b\n1 a b\n"[..], plain, &Lost::new()).unwrap()
        );
    }

    #[test]
    fn power_events_are_numbers() {
        let of = |line: &str| power(&line.split_ascii_whitespace().collect::<Vec<_>>());
        assert_eq!(of("7 psb: psb offs: 0 0"), None);
        assert_eq!(
            of("7 cbr: cbr: 30 freq: 3000 MHz (125%) 0").as_deref(),
            Some("7 cbr 30")
        );
        assert_eq!(of("7 exstop: IP: 0 4012").as_deref(), Some("7 exstop -"));
        let woke = "7 pwrx: deepest cstate: 1 last cstate: 2 wake reason: 0x8 0";
        assert_eq!(of(woke).as_deref(), Some("7 pwrx 1 2 8"));
    }
}
