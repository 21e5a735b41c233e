//! Values of options.

mod events;

use clap::{Arg, Command};
use oxperf_analysis::hist::{Measure, SortKey};
use oxperf_present::script::FieldSet;

use super::{Answer, Candidate};

/// Options whose values are files though their value is not called so.
const FILES: [&str; 8] = [
    "input", "output", "html", "vmlinux", "kallsyms", "script", "dlfilter", "objdump",
];

/// Options whose values are folders.
const FOLDERS: [&str; 4] = ["symfs", "buildid-dir", "guestmount", "prefix"];

/// Says what the value of an option may be. `before` is what stands before it in the same word, `current` as much of
/// it as is typed.
pub(super) fn of(option: &Arg, command: &Command, before: &str, current: &str) -> Answer {
    let choices = option.get_possible_values();
    if option.get_action().takes_values() && !choices.is_empty() {
        let names = choices.iter().map(|choice| choice.get_name().to_owned());
        return words(names.collect(), before, current);
    }
    let id = option.get_id().as_str();
    let list = match (command.get_name(), id) {
        ("record" | "profile" | "stat" | "top", "event") => events::names(current),
        ("script", "fields") => FieldSet::names().map(str::to_owned).collect(),
        (_, "fields") => columns(true),
        (_, "sort") => columns(false),
        (_, "pid" | "tid") => return processes(before, current),
        _ => return files(option, before, current),
    };
    let done = current.rfind([',', '+']).map_or(0, |at| at + 1);
    let before = format!("{before}{}", &current[..done]);
    words(list, &before, &current[done..])
}

/// Names of columns: keys, and for `-F` measures first.
fn columns(with_measures: bool) -> Vec<String> {
    let measures = Measure::names().filter(|_| with_measures);
    let names = measures.chain(SortKey::names()).map(str::to_owned);
    let mut columns: Vec<String> = Vec::new();
    for name in names {
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
    columns
}

fn words(names: Vec<String>, before: &str, current: &str) -> Answer {
    let fits = names.into_iter().filter(|name| name.starts_with(current));
    let words = fits.map(|name| Candidate::new(format!("{before}{name}"), ""));
    Answer::Words(words.collect())
}

/// Processes by number, with their names.
fn processes(before: &str, current: &str) -> Answer {
    let done = current.rfind(',').map_or(0, |at| at + 1);
    let (before, current) = (format!("{before}{}", &current[..done]), &current[done..]);
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()) && name.starts_with(current));
    let process = |number: String| {
        let name = std::fs::read_to_string(format!("/proc/{number}/comm"));
        Candidate::new(format!("{before}{number}"), name.unwrap_or_default().trim())
    };
    Answer::Words(numbers.map(process).collect())
}

/// Files, where the value is one; else nothing that could be listed.
fn files(option: &Arg, before: &str, current: &str) -> Answer {
    let id = option.get_id().as_str();
    let names = option.get_value_names().unwrap_or_default();
    let name = names
        .first()
        .map(|name| name.to_uppercase())
        .unwrap_or_default();
    let named = |words: &[&str]| words.iter().any(|word| name.contains(word));
    // `LIBRARY,flat`: what follows the comma is no file; FILE,FILE has several.
    let done = current.rfind(',').map_or(0, |at| at + 1);
    let before = format!("{before}{}", &current[..done]);
    if FOLDERS.contains(&id) || named(&["DIR", "FOLDER"]) {
        Answer::Folders(before)
    } else if FILES.contains(&id)
        || option.is_positional()
        || named(&["FILE", "PATH", "RECORDING", "PROGRAM"])
    {
        Answer::Files(before)
    } else {
        Answer::Words(Vec::new())
    }
}
