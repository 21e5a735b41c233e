//! Filters of the addresses that a hardware trace covers: their symbols and files are looked up, and the kernel's text takes
//! the place of the user's.

mod missing;
mod system_code;

use std::fmt::{self, Write as _};

use oxperf_capture::EventRequest;
use oxperf_pmu::Catalogue;
use oxperf_pmu::address_filter::{AddressFilter, FilterSyntaxError, Unresolved, parse};

use super::RecordCommand;
use super::messages::Messages;
use crate::failure::{Failure, code};
use missing::with_tabs;
use system_code::SystemCode;

/// perf's exit code for a number of more than 64 bits.
const TOO_LARGE: i32 = 222;

/// Gives each event with filters of addresses the text that the kernel takes.
///
/// # Errors
/// A text cannot be read, there are more filters than the PMU takes, or a symbol or file is not found.
pub(super) fn resolve(
    command: &RecordCommand,
    catalogue: &Catalogue<'_>,
    requests: &mut [EventRequest],
    messages: &Messages,
) -> Result<(), Failure> {
    let places = SystemCode::of(command);
    for request in requests {
        let limit = catalogue.address_filters(request.attr.kind);
        if limit == 0 {
            continue;
        }
        let Some(text) = request.filter.take() else {
            continue;
        };
        let texts = kernel_texts(&text, limit, &places).map_err(|refused| refused.of(&text))?;
        if !texts.is_empty() {
            let filter = texts.join(",");
            messages.detail(&format!("Address filter: {filter}"));
            request.filter = Some(filter);
        }
    }
    Ok(())
}

/// The reason why a text gives no filters.
struct Refused {
    why: Option<String>,
    code: i32,
}

impl Refused {
    fn invalid(why: impl fmt::Display) -> Refused {
        Refused {
            why: Some(why.to_string()),
            code: code::INVALID,
        }
    }

    /// The failure for the text of all filters.
    fn of(self, text: &str) -> Failure {
        let mut message = self.why.map_or_else(String::new, |why| why + "\n");
        let _ = write!(
            message,
            "Failed to parse address filter: '{}'\n\
             Filter format is: filter|start|stop|tracestop <start symbol or address> \
             [/ <end symbol or size>] [@<file name>]\n\
             Where multiple filters are separated by space or comma.",
            with_tabs(text)
        );
        Failure::with_code(message, self.code)
    }
}

impl From<FilterSyntaxError> for Refused {
    fn from(error: FilterSyntaxError) -> Refused {
        let code = match error {
            FilterSyntaxError::Malformed => code::INVALID,
            FilterSyntaxError::TooLarge => TOO_LARGE,
        };
        Refused { why: None, code }
    }
}

/// The kernel's texts of the filters, if there are no more than `limit`.
fn kernel_texts(text: &str, limit: i32, places: &SystemCode) -> Result<Vec<String>, Refused> {
    let filters = parse(text)?;
    let number = filters.len();
    if usize::try_from(limit).is_ok_and(|limit| number <= limit) {
        return filters
            .iter()
            .map(|filter| kernel_text(filter, places))
            .collect();
    }
    Err(Refused::invalid(format!(
        "Error: number of address filters ({number}) exceeds maximum ({limit})"
    )))
}

fn kernel_text(filter: &AddressFilter, places: &SystemCode) -> Result<String, Refused> {
    filter
        .resolve(places)
        .map(|resolved| resolved.to_string())
        .map_err(|unresolved| Refused {
            code: match &unresolved {
                Unresolved::Place(missing) => missing.code(),
                _ => code::INVALID,
            },
            ..Refused::invalid(unresolved)
        })
}

#[cfg(test)]
mod tests {
    use std::cell::OnceCell;

    use oxperf_symbols::{StoreOptions, SymbolStore};

    use super::*;

    const LIST: &[u8] = b"ffffffff81000000 T _text\n\
        ffffffff81000200 t twice\n\
        ffffffff81000240 T twice\n\
        ffffffff81000280 T next\n\
        ffffffffc0300010 t last\t[ext4]\n";

    /// The kernel's texts, or the message and the exit code; `LIST` is the kernel's.
    fn texts(text: &str, limit: i32) -> Result<String, (String, i32)> {
        let places = SystemCode {
            store: SymbolStore::new(StoreOptions::default()),
            kallsyms: OnceCell::from(LIST.to_vec()),
        };
        let texts = kernel_texts(text, limit, &places).map_err(|refused| refused.of(text));
        texts
            .map(|texts| texts.join(","))
            .map_err(|failure| (failure.to_string(), failure.code()))
    }

    /// The first line of a refusal, and the exit code.
    fn refusal(text: &str, limit: i32) -> (String, i32) {
        let (message, code) = texts(text, limit).unwrap_err();
        let usage = "Where multiple filters are separated by space or comma.";
        assert!(message.ends_with(usage), "{message}");
        let first = message.lines().next().unwrap_or_default().to_owned();
        (first, code)
    }

    #[test]
    fn symbols_of_the_kernel_become_addresses() {
        let cases = [
            ("", ""),
            ("filter _text", "filter 0xffffffff81000000/0x200"),
            ("stop twice #g", "stop 0xffffffff81000240"),
            ("filter *", "filter 0xffffffff81000000/0x3f302000"),
            (
                "filter next tracestop 1",
                "filter 0xffffffff81000280/0x3f2ffd90,stop 0x1/0x0",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(texts(text, 2).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn symbols_and_sizes_of_a_file_are_found_by_its_real_path() {
        let program = std::env::current_exe().unwrap();
        let path = program.to_str().unwrap();
        let size = std::fs::metadata(&program).unwrap().len();
        assert_eq!(
            texts("filter * @/proc/self/exe", 1),
            Ok(format!("filter 0x0/{size:#x}@{path}"))
        );
        let main = texts(&format!("start main @{path}"), 1).unwrap();
        assert!(
            main.starts_with("start 0x") && main.ends_with(path),
            "{main}"
        );
    }

    #[test]
    fn refusals_say_what_is_missing_and_have_perfs_exit_codes() {
        let cases = [
            (
                "nonsense",
                "Failed to parse address filter: 'nonsense'",
                234,
            ),
            (
                "filter 99999999999999999999",
                "Failed to parse address filter: 'filter 99999999999999999999'",
                222,
            ),
            (
                "filter 1, filter 2, filter 3",
                "Error: number of address filters (3) exceeds maximum (2)",
                234,
            ),
            (
                "filter other",
                "Kernel symbol lookup: Symbol 'other' not found.",
                234,
            ),
            (
                "filter twice #3",
                "Kernel symbol lookup: N'th occurrence (N=3) of symbol 'twice' not found.",
                234,
            ),
            (
                "filter other #g @/proc/self/exe",
                "Global symbol 'other' not found.",
                234,
            ),
            ("filter last", "Cannot determine size of symbol 'last'", 234),
            (
                "filter * @/nosuch",
                "Failed to determine filter for /nosuch",
                234,
            ),
            (
                "filter 1/2 @/no\u{1b}such",
                "File '/no\\x1bsuch' cannot be used: No such file or directory (os error 2)",
                244,
            ),
        ];
        for (text, first, code) in cases {
            assert_eq!(refusal(text, 2), (first.to_owned(), code), "{text}");
        }
        assert_eq!(refusal("filter 1", -1).1, 234);
    }

    #[test]
    fn several_symbols_of_a_name_are_listed() {
        let (message, code) = texts("filter twice", 2).unwrap_err();
        let expected = "Multiple kernel symbols with name 'twice'\n\
            #1\t0xffffffff81000200\tt\ttwice\n\
            #2\t0xffffffff81000240\tT\ttwice\n\
            \t\twhich is near\t\tnext\n\
            Disambiguate symbol name by inserting #n after the name e.g. twice #2\n\
            Or select a global symbol by inserting #0 or #g or #G\n\
            Failed to parse address filter: 'filter twice'\n";
        assert!(message.starts_with(expected), "{message}");
        assert_eq!(code, 234);
    }
}
