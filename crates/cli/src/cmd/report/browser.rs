//! `report` on a terminal: the browser, and what it cannot do by itself.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};
use std::thread;

use oxperf_data::Reader;
use oxperf_profile::Profile;
use oxperf_tui::{Browser, BrowserHost, ExitReason, Look, run};

use super::options::BrowserOptions;
use super::row_filter::RowFilter;
use super::table_plan::TablePlan;
use crate::failure::Failure;
use crate::input::Input;
use crate::{environment, header};

/// Most files that are tried for what a user writes out.
const MOST_EXPORTS: u32 = 10_000;
/// Most bytes of another command's text that are shown.
const MOST_TEXT: u64 = 16 << 20;

/// Shows the browser until the user leaves it; gives the recording that the user wants to see instead.
pub(super) fn show(
    recording: BrowsedRecording<'_>,
    profile: &Profile,
    plan: &TablePlan<'_>,
    rows: &RowFilter,
) -> Result<Option<String>, Failure> {
    let (hist, mut text) = plan.for_profile(profile);
    rows.narrow(&mut text);
    // The browser has colours of its own.
    text.coloured = false;
    text.graph
        .iter_mut()
        .for_each(|graph| graph.coloured = false);
    let mut browser = Browser::new(profile, hist, text);
    if let Some(part) = rows.part_of_symbol() {
        browser.filter_symbols(part);
    }
    if !recording.options.headings {
        browser.hide_headings();
    }
    let look = Look {
        colour: environment::wants_colour(),
        palette: recording.options.palette,
    };
    let mut host = recording;
    match run(&mut browser, &mut host, BufWriter::new(io::stdout()), look)? {
        ExitReason::Asked => Ok(None),
        ExitReason::Switch(name) => Ok(Some(name)),
        // Whoever waits for us is to see that a signal ended us.
        ExitReason::Signal(signal) => {
            oxperf_sys::kill_self(signal.number())?;
            Ok(None)
        }
    }
}

/// The recording that is browsed.
pub(super) struct BrowsedRecording<'a> {
    /// The look of the screen, and what other commands of this program get.
    pub(super) options: &'a BrowserOptions,
    /// The file.
    pub(super) input: &'a Input,
    /// Its content.
    pub(super) reader: &'a Reader<'a>,
}

impl BrowsedRecording<'_> {
    /// The text that another command of this program prints of the recording, up to [`MOST_TEXT`].
    fn ask(&self, command: &[&str]) -> Result<String, String> {
        let name = command.first().copied().unwrap_or_default();
        let program = environment::program().ok_or("This program's file is not to be found")?;
        let failed = |error: io::Error| format!("{name} cannot be run: {error}");
        let mut child = Command::new(program)
            .args(command)
            .arg("--input")
            .arg(self.input.path())
            .args(&self.options.passed_on)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let errors = child
            .stderr
            .take()
            .map(|errors| thread::Builder::new().spawn(move || text_of(errors)));
        let text = child.stdout.take().map(text_of).unwrap_or_default();
        // A command with more text finds nobody who reads it.
        child.wait().map_err(failed)?;
        let errors = errors
            .and_then(Result::ok)
            .and_then(|errors| errors.join().ok())
            .unwrap_or_default();
        match text {
            text if !text.is_empty() => Ok(text),
            _ => Err(errors
                .lines()
                .last()
                .map_or_else(|| format!("{name} tells nothing"), str::to_owned)),
        }
    }
}

/// As much of a text as is shown.
fn text_of(source: impl Read) -> String {
    let mut bytes = Vec::new();
    // What was read before an error is shown.
    let _ = source.take(MOST_TEXT).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

/// True for a file that begins as recordings do, and for a folder that holds one.
fn is_recording(file: &fs::DirEntry) -> bool {
    let kind = file.file_type();
    let path = match &kind {
        Ok(kind) if kind.is_dir() => file.path().join("data"),
        Ok(kind) if kind.is_file() => file.path(),
        _ => return false,
    };
    let mut magic = [0; 8];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && [*b"PERFILE2", *b"2ELIFREP"].contains(&magic)
}

impl BrowserHost for BrowsedRecording<'_> {
    fn annotate(&mut self, symbol: &str, object: &str) -> Result<String, String> {
        self.ask(&["annotate", "--stdio", "--symbol", symbol, "--dsos", object])
    }

    fn samples(&mut self, which: &[String]) -> Result<String, String> {
        let which = which.iter().map(String::as_str);
        self.ask(&["script"].into_iter().chain(which).collect::<Vec<&str>>())
    }

    fn run_program(&mut self, program: &str) -> Result<String, String> {
        self.ask(&["script", "--script", program])
    }

    fn recordings(&mut self) -> Vec<String> {
        let files = fs::read_dir(".").into_iter().flatten().flatten();
        let others =
            files.filter(|file| !self.input.is_read_from(&file.path()) && is_recording(file));
        let mut names: Vec<String> = others
            .filter_map(|file| file.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    fn header(&mut self) -> Result<String, String> {
        Ok(header::text(self.input, self.reader, true))
    }

    fn export(&mut self, text: &str) -> Result<String, String> {
        for number in 0..MOST_EXPORTS {
            let name = format!("perf.hist.{number}");
            match OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&name)
            {
                Ok(mut file) => {
                    let written = file.write_all(text.as_bytes());
                    return written
                        .map(|()| name.clone())
                        .map_err(|error| format!("{name}: {error}"));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("{name}: {error}")),
            }
        }
        Err("There are too many files perf.hist.N here".to_owned())
    }
}
