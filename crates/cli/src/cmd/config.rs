//! `config`: shows and sets values of the configuration files.

mod arguments;

use std::io::{self, Write};
use std::path::PathBuf;

use crate::arguments::Invocation;
use crate::cmd::Entry;
use crate::configuration::files::ConfigurationFiles;
use crate::configuration::{Configuration, Setting, edit};
use crate::environment;
use crate::failure::{Failure, code};
use crate::output;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "config",
    command: arguments::command,
    run: |matches, invocation| {
        run(
            &arguments::options(matches, &invocation.program)?,
            invocation,
        )
    },
    shares_work: false,
};

/// The options of `config`.
struct ConfigOptions {
    place: Place,
    /// The file and the line of each value are shown.
    origins: bool,
    /// The values to show and to set; none is all.
    wishes: Vec<Wish>,
}

/// The files that are read and written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// All are read, the user's is written.
    All,
    User,
    System,
}

/// A value to show or to set.
enum Wish {
    /// Show the value of this key, if it has one.
    Show(String),
    /// Set this key to this value.
    Set(String, String),
}

/// Runs `config`.
fn run(options: &ConfigOptions, invocation: &Invocation) -> Result<i32, Failure> {
    let files = environment::configuration_files();
    let place = match options.place {
        Place::All => None,
        place => Some(file(&files, place)?),
    };
    let only = place.as_deref().map(|file| {
        let mut configuration = Configuration::default();
        // Its mistakes were reported when all files were read.
        configuration.add_file(file, &mut |_| {});
        configuration
    });
    let configuration = only.as_ref().unwrap_or(&invocation.configuration);
    let mut out = output::stdout();
    for setting in shown(options, configuration) {
        if options.origins {
            write!(
                out,
                "{}:{}\t",
                setting.origin.file.display(),
                setting.origin.line
            )?;
        }
        let text = format!("{}={}", setting.key, setting.value);
        let lines: Vec<String> = text
            .split('\n')
            .map(|line| oxperf_present::text::sanitize(line).to_string())
            .collect();
        writeln!(out, "{}", lines.join("\n"))?;
    }
    out.finish()?;
    let written = match options.place {
        Place::System => Place::System,
        Place::All | Place::User => Place::User,
    };
    set(options, &files, written)?;
    Ok(code::SUCCESS)
}

/// The values to show.
fn shown<'a>(options: &ConfigOptions, configuration: &'a Configuration) -> Vec<&'a Setting> {
    if options.wishes.is_empty() {
        return configuration.settings().iter().collect();
    }
    let wished = options.wishes.iter().filter_map(|wish| match wish {
        Wish::Show(key) => configuration.setting(key),
        Wish::Set(..) => None,
    });
    wished.collect()
}

/// Sets what is to be set, all at once.
fn set(options: &ConfigOptions, files: &ConfigurationFiles, place: Place) -> Result<(), Failure> {
    let changes: Vec<(&str, &str)> = options
        .wishes
        .iter()
        .filter_map(|wish| match wish {
            Wish::Set(key, value) => Some((key.as_str(), value.as_str())),
            Wish::Show(_) => None,
        })
        .collect();
    if changes.is_empty() {
        return Ok(());
    }
    let path = file(files, place)?;
    let failed =
        |error: io::Error| Failure::new(format!("cannot write {}: {error}", path.display()));
    let mut text = match std::fs::metadata(&path) {
        Ok(found) if !found.is_file() => {
            return Err(Failure::new(format!(
                "{} is no file that values can be written to: PERF_CONFIG names another",
                path.display()
            )));
        }
        Ok(_) => std::fs::read(&path).map_err(failed)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(failed(error)),
    };
    for (key, value) in changes {
        text = edit::with_value(&text, key, value).map_err(|line| {
            Failure::new(format!(
                "{}: nothing was written: its line {line} is to be mended first",
                path.display()
            ))
        })?;
    }
    edit::replace(&path, &text).map_err(failed)
}

/// The file of a place.
fn file(files: &ConfigurationFiles, place: Place) -> Result<PathBuf, Failure> {
    let found = match files {
        ConfigurationFiles::Only(path) => Some(path.clone()),
        ConfigurationFiles::Usual { system, user } => match place {
            Place::System => system.clone(),
            Place::All | Place::User => user.clone(),
        },
    };
    found.ok_or_else(|| {
        Failure::new(
            "this configuration file is not to be used: PERF_CONFIG_NOSYSTEM or PERF_CONFIG_NOGLOBAL is set, or HOME is not",
        )
    })
}
