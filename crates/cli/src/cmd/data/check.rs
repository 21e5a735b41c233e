//! `data check`: what a recording is, and what of it is damaged.

mod arguments;

use std::io::Write;

use oxperf_present::recording::data_check;
use oxperf_session::RecordingCheck;

use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::input::{Input, InputOptions};

/// Everything could be read.
const WHOLE: i32 = 0;
/// Some of it could not.
const DAMAGED: i32 = 1;
/// Nothing could.
const UNREADABLE: i32 = 2;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "check",
    command: arguments::command,
    run: |matches, invocation| run(&arguments::options(matches), &invocation.program),
    shares_work: true,
};

/// The options of `data check`.
struct CheckOptions {
    input: InputOptions,
    /// The user's name for the recording.
    name: String,
    /// The answer is JSON.
    json: bool,
}

/// Runs `data check`.
fn run(options: &CheckOptions, program: &str) -> Result<i32, Failure> {
    let (answer, code) = match examine(&options.input) {
        Ok(found) => (
            describe(options, &found, program)?,
            if found.is_whole() { WHOLE } else { DAMAGED },
        ),
        // It says nothing about the recording.
        Err(failure) if failure.code() == code::OUT_OF_MEMORY => return Err(failure),
        Err(failure) => (refuse(options, &failure.to_string()), UNREADABLE),
    };
    let mut output = crate::output::stdout();
    output.write_all(&answer)?;
    output.finish()?;
    Ok(code)
}

fn examine(options: &InputOptions) -> Result<RecordingCheck, Failure> {
    let input = Input::new(options)?;
    let reader = input.reader_of_any()?;
    RecordingCheck::run(&reader).map_err(|error| input.refuse(&error))
}

fn describe(
    options: &CheckOptions,
    found: &RecordingCheck,
    program: &str,
) -> Result<Vec<u8>, Failure> {
    let name = &options.name;
    if options.json {
        let mut out = Vec::new();
        data_check::write_json(&mut out, name, found);
        return Ok(out);
    }
    let mut out = String::new();
    let convert = format!("{program} data convert --to-perf NEW -i {name}");
    data_check::write(&mut out, name, found, &convert)
        .map_err(|error| Failure::new(error.to_string()))?;
    Ok(out.into_bytes())
}

fn refuse(options: &CheckOptions, reason: &str) -> Vec<u8> {
    let name = &options.name;
    let mut out = Vec::new();
    if options.json {
        data_check::write_unreadable_json(&mut out, name, reason);
    } else {
        out.extend_from_slice(format!("{name}: unreadable\n{reason}\n").as_bytes());
    }
    out
}
