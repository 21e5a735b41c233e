//! The values of perf's configuration files: `~/.perfconfig` and the system's, or the one that `PERF_CONFIG` names. Each
//! value knows the file and the line that it stands in.

#[cfg(feature = "browser")]
pub(crate) mod colours;
pub(crate) mod edit;
pub(crate) mod files;
pub(crate) mod keys;
pub(crate) mod syntax;
mod value;

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::output::print_error;
use files::ConfigurationFiles;
use keys::{BadValue, Key};

/// The place of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    /// The file.
    pub(crate) file: PathBuf,
    /// The line in it, from 1.
    pub(crate) line: usize,
}

/// A value that a file sets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Setting {
    /// Section and name with a dot between, such as `report.children`; names are in lower case.
    pub(crate) key: String,
    /// The value as it is meant, without quotes.
    pub(crate) value: String,
    /// The place of the value.
    pub(crate) origin: Origin,
}

impl Setting {
    /// The part of the key before the last dot.
    fn section(&self) -> &str {
        section_of(&self.key)
    }
}

/// A text as yes or no.
pub(crate) fn flag(text: &str) -> Option<bool> {
    value::flag(text)
}

fn section_of(key: &str) -> &str {
    key.rsplit_once('.').map_or("", |(section, _)| section)
}

/// All values that count, of all files.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Configuration {
    /// One for each key, sections and keys in the order in which they first appear.
    settings: Vec<Setting>,
}

impl Configuration {
    /// Reads the files; later ones override earlier ones. A file with a mistake counts up to the line of the mistake,
    /// which is reported.
    pub(crate) fn read(files: &ConfigurationFiles) -> Configuration {
        let mut configuration = Configuration::default();
        for file in files.readable() {
            configuration.add_file(&file, &mut |problem| print_error(problem));
        }
        configuration
    }

    /// Adds the values of a file, if it can be read, and hands over what is wrong with it.
    pub(crate) fn add_file(&mut self, path: &Path, report: &mut dyn FnMut(&str)) {
        let text = match files::read(path) {
            Ok(text) => text,
            Err(refusal) => return refusal.iter().for_each(|text| report(text)),
        };
        let parsed = syntax::parse(&text);
        for assignment in parsed.assignments {
            self.set(Setting {
                key: assignment.key,
                value: assignment.value,
                origin: Origin {
                    file: path.to_owned(),
                    line: assignment.line,
                },
            });
        }
        if let Some(line) = parsed.bad_line {
            report(&format!(
                "bad config file line {line} in {}",
                path.display()
            ));
        }
    }

    /// The values of a text, for tests.
    #[cfg(test)]
    pub(crate) fn of_text(text: &str) -> Configuration {
        let mut configuration = Configuration::default();
        for assignment in syntax::parse(text.as_bytes()).assignments {
            configuration.set(Setting {
                key: assignment.key,
                value: assignment.value,
                origin: Origin {
                    file: "c".into(),
                    line: assignment.line,
                },
            });
        }
        configuration
    }

    fn set(&mut self, setting: Setting) {
        if let Some(earlier) = self.settings.iter_mut().find(|old| old.key == setting.key) {
            *earlier = setting;
            return;
        }
        let section = setting.section();
        let last = self
            .settings
            .iter()
            .rposition(|old| old.section() == section);
        let place = last.map_or(self.settings.len(), |last| last + 1);
        self.settings.insert(place, setting);
    }

    /// All values, those of a section together.
    pub(crate) fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// The value of a key.
    pub(crate) fn setting(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key == key)
    }

    /// The value of a key as text; an empty one is none.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        let setting = self.setting(key)?;
        Some(setting.value.as_str()).filter(|value| !value.is_empty())
    }

    /// The value of a key as yes or no; a bad one is none.
    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        value::flag(&self.setting(key)?.value)
    }

    /// The value of a key as a whole number, which may have the unit `k`, `m` or `g`; a bad one is none.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        value::number(&self.setting(key)?.value)
    }

    /// The value of a key as a percentage; text that does not begin with a number is 0, as in perf.
    pub(crate) fn percentage(&self, key: &str) -> Option<f64> {
        Some(value::leading_decimal(&self.setting(key)?.value).unwrap_or(0.0))
    }

    /// Checks the values that a command reads: reports those that count for nothing.
    ///
    /// # Errors
    /// A value that perf ends for, too.
    pub(crate) fn check(&self, command: &str) -> Result<(), Failure> {
        for setting in &self.settings {
            let Some(key) = Key::of(&setting.key).filter(|key| key.is_read_by(command)) else {
                continue;
            };
            if key.kind.accepts(&setting.value) {
                continue;
            }
            let refusal = refusal(key, setting);
            match key.bad_value {
                BadValue::Ignored | BadValue::Reported(_) => print_error(&refusal),
                BadValue::Fatal(_) => return Err(Failure::new(refusal)),
            }
        }
        Ok(())
    }
}

/// The message about a bad value: perf's, with the place.
fn refusal(key: &Key, setting: &Setting) -> String {
    let Setting {
        key: name,
        value,
        origin,
    } = setting;
    let place = format!("{}:{}", origin.file.display(), origin.line);
    match key.bad_value {
        BadValue::Ignored => format!("bad config value for '{name}', ignoring... ({place})"),
        BadValue::Fatal(explanation) | BadValue::Reported(explanation) => {
            let explanation = match explanation.is_empty() {
                true => String::new(),
                false => format!("{explanation}: {value}\n"),
            };
            format!(
                "{explanation}Error in the given config file: wrong config key-value pair {name}={value}\n{place}: {} is expected",
                key.kind
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_counts_at_the_first_place() {
        let read = Configuration::of_text("[a]\nk=1\n[b]\nl=2\n[A]\nK=3\nm=4\n");
        let shown: Vec<_> = read
            .settings()
            .iter()
            .map(|setting| {
                (
                    setting.key.as_str(),
                    setting.value.as_str(),
                    setting.origin.line,
                )
            })
            .collect();
        assert_eq!(shown, [("a.k", "3", 6), ("a.m", "4", 7), ("b.l", "2", 4)]);
    }

    #[test]
    fn values_have_types() {
        let read = Configuration::of_text(
            "[report]\nchildren=off\nqueue-size=2k\npercent-limit=1.5%\ngroup=x\n",
        );
        assert_eq!(read.flag("report.children"), Some(false));
        assert_eq!(read.number("report.queue-size"), Some(2048));
        assert_eq!(read.percentage("report.percent-limit"), Some(1.5));
        assert_eq!(read.flag("report.group"), None);
        assert!(read.check("report").is_ok());
        let bad = Configuration::of_text("[call-graph]\norder=up\n");
        let message = bad.check("report").unwrap_err().to_string();
        assert_eq!(
            message,
            "Invalid callchain order: up\nError in the given config file: wrong config key-value pair call-graph.order=up\nc:2: caller or callee is expected"
        );
        assert!(bad.check("evlist").is_ok());
    }
}
