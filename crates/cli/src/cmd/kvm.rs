//! `kvm`: other commands about guests of this machine, with the files that describe them.

mod arguments;

use std::ffi::OsString;
use std::path::PathBuf;

use oxperf_capture::{GuestFiles, RecordedSides};

use crate::app;
use crate::arguments::Invocation;
use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::output::print_error;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "kvm",
    command: arguments::command,
    run: arguments::run,
    // The command that it runs does.
    shares_work: false,
};

/// What a recording takes from `kvm`, before its own options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct GuestRecording {
    /// Where events count.
    pub(crate) sides: RecordedSides,
    /// The guests that are described.
    pub(crate) files: GuestFiles,
}

/// The options of the command.
#[derive(Clone, PartialEq, Eq, Debug)]
struct KvmCommand {
    /// The recording that is written or read; `None` for perf's name, which depends on the sides.
    file: Option<PathBuf>,
    sides: RecordedSides,
    files: GuestFiles,
    /// The code of guests is in the process that runs them.
    code_in_host: bool,
    verbosity: u8,
    /// The command about guests and its words.
    words: Vec<OsString>,
}

/// The commands about guests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    Record,
    Report,
    Diff,
    BuildIdList,
    /// One that is not here, with the way round.
    Missing(&'static str, &'static str),
}

/// The letters that are enough for the two that may be shortened.
const SHORTEST_NAME: usize = 3;

impl Purpose {
    /// The command that a word names.
    fn named(word: &str) -> Option<Purpose> {
        let shortens = |name: &str| word.len() >= SHORTEST_NAME && name.starts_with(word);
        match word {
            _ if shortens("record") => Some(Purpose::Record),
            _ if shortens("report") => Some(Purpose::Report),
            "diff" => Some(Purpose::Diff),
            "buildid-list" => Some(Purpose::BuildIdList),
            "top" => Some(Purpose::Missing(
                "top",
                "'PROGRAM kvm record -a -- sleep 5', then 'PROGRAM kvm report'",
            )),
            "stat" => Some(Purpose::Missing(
                "stat",
                "'PROGRAM record -a -e kvm:kvm_exit,kvm:kvm_entry -- sleep 5', then 'PROGRAM script'",
            )),
            _ => None,
        }
    }
}

impl KvmCommand {
    /// Runs the command about guests; gives its exit code. `None` if no word names one.
    fn run(&self, invocation: &Invocation) -> Option<Result<i32, Failure>> {
        let (name, words) = self.words.split_first()?;
        let words = match Purpose::named(name.to_str()?)? {
            Purpose::Record => self.record(words),
            Purpose::Report => self.report(words),
            Purpose::Diff => self.diff(words),
            Purpose::BuildIdList => self.build_id_list(words),
            Purpose::Missing(name, way) => {
                print_error(&missing(&invocation.program, name, way));
                return Some(Ok(code::USAGE_OF_PROGRAM));
            }
        };
        let invocation = Invocation {
            program: invocation.program.clone(),
            globals: invocation.globals.clone(),
            configuration: invocation.configuration.clone(),
            guests: Some(GuestRecording {
                sides: self.sides,
                files: self.files.clone(),
            }),
            engine: invocation.engine,
        };
        Some(app::run_command(&invocation, &words))
    }

    /// The words of `record`. Of several names of the file the last one holds: the user's own.
    fn record(&self, words: &[OsString]) -> Vec<OsString> {
        let mut all = vec!["record".into(), "-o".into(), self.file()];
        all.extend((0..self.verbosity).map(|_| OsString::from("-v")));
        all.extend_from_slice(words);
        all
    }

    fn report(&self, words: &[OsString]) -> Vec<OsString> {
        let mut all = vec!["report".into(), "-i".into(), self.file()];
        let files = [
            ("--guestmount", &self.files.mounted),
            ("--guestkallsyms", &self.files.kallsyms),
            ("--guestmodules", &self.files.modules),
            ("--guestvmlinux", &self.files.vmlinux),
        ];
        for (option, file) in files {
            if let Some(file) = file {
                all.extend([option.into(), file.clone().into_os_string()]);
            }
        }
        if self.code_in_host {
            all.push("--guest-code".into());
        }
        all.extend_from_slice(words);
        all
    }

    /// The words of `diff`, whose usual files are the host's and the guests'.
    fn diff(&self, words: &[OsString]) -> Vec<OsString> {
        let mut all = vec!["diff".into()];
        all.extend_from_slice(words);
        if words.is_empty() {
            all.extend([HOST_FILE.into(), GUEST_FILE.into()]);
        }
        all
    }

    fn build_id_list(&self, words: &[OsString]) -> Vec<OsString> {
        let mut all = vec!["buildid-list".into(), "-i".into(), self.file()];
        all.extend_from_slice(words);
        all
    }

    fn file(&self) -> OsString {
        let usual = match self.sides {
            RecordedSides::Host => HOST_FILE,
            RecordedSides::Guests => GUEST_FILE,
            RecordedSides::HostAndGuests | RecordedSides::Unasked => "perf.data.kvm",
        };
        let file = self.file.clone().map(PathBuf::into_os_string);
        file.unwrap_or_else(|| usual.into())
    }
}

const HOST_FILE: &str = "perf.data.host";
const GUEST_FILE: &str = "perf.data.guest";

fn missing(program: &str, name: &str, way: &str) -> String {
    let way = way.replace("PROGRAM", program);
    format!(
        "{program} kvm: {name} is not available: it is a part of Linux perf that oxperf does not have yet.\nInstead: {way}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(sides: RecordedSides) -> KvmCommand {
        KvmCommand {
            file: None,
            sides,
            files: GuestFiles {
                kallsyms: Some("K".into()),
                ..GuestFiles::default()
            },
            code_in_host: true,
            verbosity: 1,
            words: Vec::new(),
        }
    }

    fn joined(words: &[OsString]) -> String {
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    #[test]
    fn two_names_may_be_shortened() {
        assert_eq!(Purpose::named("rec"), Some(Purpose::Record));
        assert_eq!(Purpose::named("report"), Some(Purpose::Report));
        assert_eq!((Purpose::named("re"), Purpose::named("dif")), (None, None));
        assert!(matches!(
            Purpose::named("top"),
            Some(Purpose::Missing("top", _))
        ));
    }

    #[test]
    fn commands_get_the_file_of_their_sides() {
        use RecordedSides::{Guests, Host, HostAndGuests};
        let files = [Host, Guests, HostAndGuests].map(|sides| joined(&command(sides).record(&[])));
        assert_eq!(
            files,
            [
                "record -o perf.data.host -v",
                "record -o perf.data.guest -v",
                "record -o perf.data.kvm -v"
            ]
        );
        let given = KvmCommand {
            file: Some("x".into()),
            ..command(Guests)
        };
        assert_eq!(
            joined(&given.report(&["-s".into(), "sym".into()])),
            "report -i x --guestkallsyms K --guest-code -s sym"
        );
        assert_eq!(joined(&given.build_id_list(&[])), "buildid-list -i x");
        assert_eq!(
            joined(&given.diff(&[])),
            "diff perf.data.host perf.data.guest"
        );
        assert_eq!(joined(&given.diff(&["a".into()])), "diff a");
    }
}
