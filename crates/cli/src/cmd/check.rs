//! `check feature NAMES`: the features that scripts ask for before they rely on them.

mod arguments;

use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::output::{print_error, print_line};
use crate::{features, usage};

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "check",
    command: arguments::command,
    run: |matches, invocation| run(&arguments::options(matches), &invocation.program),
    shares_work: false,
};

/// The question, as it was asked.
struct CheckOptions {
    /// Only the exit code answers.
    quiet: bool,
    /// The kind of thing that is checked, and the names.
    words: Vec<String>,
}

fn run(options: &CheckOptions, program: &str) -> Result<i32, Failure> {
    let words: Vec<&str> = options.words.iter().map(String::as_str).collect();
    match words[..] {
        ["feature", names] => check(names, options.quiet, program),
        ["feature"] => Ok(refuse(
            "",
            &format!("{program} check feature <feature list>"),
        )),
        ["feature", ..] => Err(Failure::new(format!(
            "Too many arguments passed to '{program} check feature'"
        ))),
        _ => {
            let problem = words
                .first()
                .map(|word| format!("Unknown subcommand: {word}\n"));
            let form = format!("{program} check [<options>] feature <feature list>");
            Ok(refuse(&problem.unwrap_or_default(), &form))
        }
    }
}

/// Succeeds if all features of the list are here.
fn check(names: &str, quiet: bool, program: &str) -> Result<i32, Failure> {
    let mut all_on = true;
    for name in names.split(',').filter(|name| !name.is_empty()) {
        let Some((line, is_on)) = features::find(name) else {
            if !quiet {
                print_error(&format!(
                    "Unknown feature '{name}', please use '{program} version --build-options' to see which ones are available."
                ));
            }
            return Ok(code::USAGE_OF_PROGRAM);
        };
        all_on &= is_on;
        if !quiet {
            print_line(&line)?;
        }
    }
    Ok(if all_on {
        code::SUCCESS
    } else {
        code::USAGE_OF_PROGRAM
    })
}

fn refuse(problem: &str, form: &str) -> i32 {
    let text = usage::text(&arguments::command(), &[form.to_owned()], &[]);
    print_error(&format!("{problem}{text}"));
    code::BAD_OPTION
}
