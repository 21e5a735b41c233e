//! The recordings of Intel PT beside what perf 7.2 prints for them, live.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::accepted::{self, Accepted};
use super::table::{Outcome, Row, Table};
use super::truth::{TRUTHS, Truth};
use super::{LIMITS, Options, compare, is_asked_for, symfs};
use crate::parallel::parallel;
use crate::process::{Job, in_path};

/// What is compared: the name of the text, and the command that prints it. Symbols are left out where addresses are
/// the matter: stubs of static programs have other names here.
const TEXTS: [(&str, &[&str]); 10] = [
    ("script-dump", &["script", "-D"]),
    ("report-dump", &["report", "-D"]),
    (
        "report",
        &["report", "--stdio", "--itrace=i1000i", "-g", "none"],
    ),
    ("script", &["script", "-F", "-sym,-symoff"]),
    (
        "script-branches",
        &["script", "--itrace=be", "-F", "+flags,-sym,-symoff"],
    ),
    (
        "script-instructions",
        &["script", "--itrace=i10i", "-F", "ip,period"],
    ),
    (
        "script-times",
        &["script", "--itrace=i1usb", "-F", "+flags,+ipc,-sym,-symoff"],
    ),
    (
        "script-events",
        &["script", "--itrace=wp", "-F", "-sym,-symoff"],
    ),
    (
        "script-chains",
        &["script", "--no-inline", "--itrace=i1usgl", "-F", "+brstack"],
    ),
    (
        "script-code",
        &[
            "script",
            "--itrace=i1us",
            "-F",
            "+insn,+insnlen,-sym,-symoff",
        ],
    ),
];

/// What is compared for small recordings only: every letter of `--itrace` and every field, in combinations that other
/// texts do not have. Each is called by its words.
const WIDE: [&str; 60] = [
    "--itrace=i0nse -F tid,cpu,time,ip,flags",
    "--itrace=i1i -F ip,period",
    "--itrace=i7i -F ip,period,time",
    "--itrace=i1t -F ip,period,time",
    "--itrace=i100t -F ip,period,time",
    "--itrace=i100ns -F ip,period,time",
    "--itrace=i10us -F ip,period,time",
    "--itrace=i1ms -F ip,period,time",
    "--itrace=i -F ip,period,time",
    "--itrace=c -F ip,addr,flags,time",
    "--itrace=r -F ip,addr,flags,time",
    "--itrace=cr -F ip,addr,flags,time",
    "--itrace=x",
    "--itrace=o",
    "--itrace=I",
    "--itrace=e-o",
    "--itrace=e-l",
    "--itrace=e-o-l",
    "--itrace=ebs100 -F ip,addr",
    "--itrace=i100iybs50 -F event,ip,period",
    "--itrace=q",
    "--itrace=qi -F ip,time,period",
    "--itrace=qi0ns -F ip,time,event",
    "--itrace=qqi0ns -F ip,time,event",
    "--itrace=qb -F ip,addr,flags,time",
    "--itrace=qqb -F ip,addr,flags,time",
    "--itrace=qe",
    "--itrace=y1us -F ip,period,time",
    "--itrace=y100i -F ip,period,time,ipc",
    "--itrace=iy10i -F event,ip,period,time,ipc",
    "--itrace=A -F +ipc,-sym,-symoff",
    "--itrace=i1usbA -F event,ip,ipc,time",
    "--itrace=yA -F event,ip,ipc,time,period",
    "--itrace=c -F ip,addr,ipc",
    "--itrace=i3iby7iwe -F event,ip,ipc,time,period",
    "--itrace=i100ig -F ip,sym --no-inline",
    "--itrace=i1usg4 -F ip,time --no-inline",
    "--itrace=i1usg1024 -F ip,time --no-inline",
    "--itrace=i1usl4 -F ip,brstack",
    "--itrace=i1usl1024 -F ip,brstack",
    "--itrace=i10usl -F ip,brstacksym",
    "--itrace=i10usl -F ip,brstackoff",
    "--itrace=i10usl8 -F ip,sym,brstackinsn",
    "--itrace=i10usl64 -F ip,brstackinsnlen",
    "--itrace=i10usl64 --max-blocks 3 -F ip,brstack,brstackinsn",
    "-F +insn,+insnlen",
    "--itrace=G -F ip,event",
    "--itrace=L -F ip,event,brstack",
    "--itrace=b -F +callindent",
    "--itrace=cr -F +callindent,+flags",
    "--itrace=b -F ip,sym,symoff,dso,addr",
    "--itrace=b -F +misc,-sym,-symoff",
    "--itrace=b --ns -F time,ip,addr",
    "--insn-trace",
    "--itrace=b --time 613.732985,613.732990 -F ip,addr,time",
    "--itrace=i1us --time 10%-30% -F ip,time",
    "--itrace=b -C 1 -F ip,addr",
    "--itrace=i1us --reltime -F ip,time",
    "--itrace=b --show-task-events --show-mmap-events -F ip,time,comm,tid",
    "--no-itrace -F tid,time,event,ip",
];

/// What a small recording is, in bytes.
const SMALL: u64 = 64 << 10;

/// The calls of the trace. What they spent themselves must add up to the instructions that ran, which CASES.tsv tells.
const CALLS: (&str, &[&str]) = ("call-tree", &["script", "--call-tree=json"]);

/// The case for measuring: its texts have hundreds of megabytes.
const BIG: &str = "big";

/// What all comparisons have in common.
struct Traced<'a> {
    options: &'a Options,
    perf: PathBuf,
    accepted: Vec<Accepted>,
    /// The objects of all cases, a folder each.
    objects: PathBuf,
}

/// Compares everything and prints the table; `false` when something differs.
pub(super) fn sweep(options: &Options) -> Result<bool> {
    let folder = options.shared.join("fixtures/pt");
    let Some(perf) = in_path("perf7").filter(|_| folder.is_dir()) else {
        println!(
            "SKIPPED: Intel PT, for want of perf7 or of {}",
            folder.display()
        );
        return Ok(true);
    };
    let objects = options.scratch.join("pt-symfs");
    symfs::rebuild(&folder.join("_symfs"), &objects)?;
    let traced = Traced {
        options,
        perf,
        accepted: accepted::read()?,
        objects,
    };
    let cases = cases(&folder, options)?;
    let wanted = wanted(&folder, &cases, options)?;
    let mut rows = parallel(options.jobs, &wanted, |index, (case, text)| {
        traced.row(case, (text.0, &text.1), index)
    });
    let truths = truths(&cases, options)?;
    rows.extend(parallel(options.jobs, &truths, |_, (case, truth)| {
        traced.truth(case, truth)
    }));
    Ok(Table::new("Intel PT beside perf7 and what really ran", rows).print())
}

/// A text: its name, and the words that print it.
type Text = (&'static str, Vec<&'static str>);

/// A case folder, and a text to compare for it.
type Wanted = (PathBuf, Text);

fn cases(folder: &Path, options: &Options) -> Result<Vec<PathBuf>> {
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    cases.retain(|case| case.join("perf.data").is_file() && name(case).contains(&options.filter));
    cases.sort();
    Ok(cases)
}

fn wanted(folder: &Path, cases: &[PathBuf], options: &Options) -> Result<Vec<Wanted>> {
    let listed = std::fs::read_to_string(folder.join("CASES.tsv"))?;
    let wide = WIDE.iter().map(|text| {
        (
            *text,
            [&["script"], &text.split(' ').collect::<Vec<_>>()[..]].concat(),
        )
    });
    let wide: Vec<Text> = wide.collect();
    let mut wanted = Vec::new();
    for case in cases.iter().filter(|case| !case.ends_with(BIG)) {
        let always = TEXTS
            .iter()
            .chain([&CALLS])
            .map(|(text, words)| (*text, words.to_vec()));
        let always = always.filter(|(text, _)| match *text {
            name if name == CALLS.0 => instructions(&listed, case).is_some(),
            _ => true,
        });
        let is_small = std::fs::metadata(case.join("perf.data"))?.len() <= SMALL;
        let texts = always.chain(wide.iter().filter(|_| is_small).cloned());
        wanted.extend(
            texts
                .filter(|(text, _)| is_asked_for(text, &options.only))
                .map(|text| (case.clone(), text)),
        );
    }
    Ok(wanted)
}

/// Returns what can be measured by the truth.
fn truths(cases: &[PathBuf], options: &Options) -> Result<Vec<(PathBuf, &'static Truth)>> {
    let mut truths = Vec::new();
    for case in cases {
        for truth in TRUTHS
            .iter()
            .filter(|truth| is_asked_for(truth.name, &options.only))
        {
            if truth.is_of(case)? {
                truths.push((case.clone(), truth));
            }
        }
    }
    Ok(truths)
}

/// `pt/static-loop`.
fn name(case: &Path) -> String {
    format!(
        "pt/{}",
        case.file_name().unwrap_or_default().to_string_lossy()
    )
}

impl Traced<'_> {
    fn row(&self, case: &Path, (text, words): (&str, &[&str]), index: usize) -> Row {
        let compared = self.compare(case, words, index);
        let compared = compared.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        let name = name(case);
        let outcome = match accepted::find(&self.accepted, &name, text) {
            Some(entry) => entry.judge(compared),
            None => compared,
        };
        Row {
            case: name,
            golden: text.to_owned(),
            outcome,
        }
    }

    fn truth(&self, case: &Path, truth: &Truth) -> Row {
        let compared = symfs::of_case(case, &self.objects)
            .and_then(|symfs| truth.compare(&self.options.binary, case, &symfs));
        let outcome = match compared {
            Ok(None) => Outcome::Identical,
            Ok(Some(differs)) => Outcome::Failed(differs),
            Err(error) => Outcome::Failed(format!("{error:#}")),
        };
        Row {
            case: name(case),
            golden: truth.name.to_owned(),
            outcome,
        }
    }

    fn compare(&self, case: &Path, words: &[&str], index: usize) -> Result<Outcome> {
        let scratch = self.options.scratch.join(format!("pt-{index}"));
        std::fs::create_dir_all(&scratch)?;
        let symfs = symfs::of_case(case, &self.objects)?;
        let ours = read(&self.options.binary, words, case, &symfs, &scratch);
        if words == CALLS.1 {
            return self.compare_calls(case, &ours?);
        }
        let theirs = read(&self.perf, words, case, &symfs, &scratch);
        let difference = compare::difference(&theirs?, &ours?);
        std::fs::remove_dir_all(&scratch)?;
        Ok(difference.map_or(Outcome::Identical, Outcome::Differs))
    }

    /// Compares what calls add up to with what ran.
    fn compare_calls(&self, case: &Path, calls: &[u8]) -> Result<Outcome> {
        let listed = self.options.shared.join("fixtures/pt/CASES.tsv");
        let ran = instructions(&std::fs::read_to_string(listed)?, case)
            .context("CASES.tsv lacks the case")?;
        let own = std::str::from_utf8(calls)?
            .lines()
            .filter_map(|line| number(line, "self_instructions"));
        let total = std::str::from_utf8(calls)?
            .lines()
            .last()
            .and_then(|line| number(line, "instructions"));
        let text = |own, total| format!("{own} instructions of calls themselves\n{total} of all\n");
        let difference = compare::difference(
            text(ran, ran).as_bytes(),
            text(own.sum(), total.unwrap_or(0)).as_bytes(),
        );
        Ok(difference.map_or(Outcome::Identical, Outcome::Differs))
    }
}

/// The instructions that the trace of a case without errors tells.
fn instructions(listed: &str, case: &Path) -> Option<u64> {
    let case = case.file_name()?.to_str()?;
    let mut lines = listed
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>());
    let line = lines.find(|fields| fields[0] == case && fields.get(1) != Some(&"errors"))?;
    line.get(7)?.parse().ok()
}

/// The number of a key in a line of JSON.
fn number(line: &str, key: &str) -> Option<u64> {
    let (_, rest) = line.split_once(&format!("\"{key}\":"))?;
    rest.split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

/// Returns what `program` prints for the recording of a case.
fn read(
    program: &Path,
    words: &[&str],
    case: &Path,
    symfs: &Path,
    scratch: &Path,
) -> Result<Vec<u8>> {
    let mut args: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    args.extend(["-i", "perf.data", "--symfs"].map(str::to_owned));
    args.push(symfs.display().to_string());
    let (stdout, stderr) = (scratch.join("stdout"), scratch.join("stderr"));
    let job = Job {
        program,
        args: &args,
        folder: case,
        home: scratch,
        stdout: stdout.clone(),
        stderr,
    };
    match job.run(LIMITS)?.crash() {
        Some(crash) => anyhow::bail!("{}: {crash}", program.display()),
        None => Ok(std::fs::read(&stdout)?),
    }
}
