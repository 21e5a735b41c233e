//! The values of options as texts, and from their texts.

use std::time::Duration;

use oxperf_abi::BranchSampleType;
use oxperf_capture::{CallGraph, Rate, RegisterMask, system};
use oxperf_sys::clock::KernelClock;
use oxperf_sys::process;

use super::ArgumentProblem;

/// Returns the sampling rate from the texts of `-F` and `-c`.
pub(super) fn rate(
    frequency: Option<&str>,
    period: Option<&str>,
) -> Result<Option<Rate>, ArgumentProblem> {
    let frequency = frequency.map(hertz).transpose()?;
    let period = period
        .map(|text| number(text, "-c"))
        .transpose()?
        .filter(|period| *period > 0);
    match (frequency, period) {
        (Some(_), Some(_)) => Err(ArgumentProblem::Contradiction(
            "cannot set frequency and period at the same time".to_owned(),
        )),
        (Some(0), None) => Err(ArgumentProblem::Contradiction(
            "frequency and count are zero, aborting".to_owned(),
        )),
        (Some(hertz), None) => Ok(Some(Rate::Frequency(hertz))),
        (None, period) => Ok(period.map(Rate::Period)),
    }
}

fn hertz(text: &str) -> Result<u64, ArgumentProblem> {
    if text.eq_ignore_ascii_case("max") {
        let unknown = || {
            ArgumentProblem::Value(
                "the highest rate is not known here: give -F a number".to_owned(),
            )
        };
        return system::max_sample_rate().ok_or_else(unknown);
    }
    number(text, "-F")
}

fn number(text: &str, option: &str) -> Result<u64, ArgumentProblem> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| ArgumentProblem::Value(format!("{option} takes a number, not '{text}'")))
}

/// Milliseconds off the CPU, from the text of `--off-cpu-thresh`.
pub(super) fn off_cpu_threshold(text: &str) -> Result<Duration, ArgumentProblem> {
    number(text, "--off-cpu-thresh").map(Duration::from_millis)
}

/// A whole number, for an option that perf names so.
pub(super) fn integer(text: &str, option: &str) -> Result<i32, ArgumentProblem> {
    text.trim_start()
        .parse()
        .map_err(|_| ArgumentProblem::Value(format!(" Error: {option} expects a numerical value")))
}

/// A level of Zstandard; 0 compresses nothing.
pub(super) fn compression_level(text: &str) -> Result<u32, ArgumentProblem> {
    let level = number(text, "--compression-level")?;
    let level = u32::try_from(level).ok().filter(|level| *level <= 22);
    level.ok_or_else(|| {
        ArgumentProblem::Value(format!("--compression-level takes 0 to 22, not '{text}'"))
    })
}

/// The sizes of rings and of areas for hardware traces, in pages; `None` for the default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct RingPages {
    pub(super) records: Option<usize>,
    pub(super) areas: Option<usize>,
}

/// Both sizes, from the text of `-m`.
pub(super) fn ring_pages(text: &str) -> Result<RingPages, ArgumentProblem> {
    let wrong = || {
        ArgumentProblem::Value(format!(
            "Invalid argument for --mmap_pages/-m: '{text}'. It takes pages, or bytes with B, K, M or G."
        ))
    };
    let (records, areas) = text
        .split_once(',')
        .map_or((text, None), |(records, areas)| (records, Some(areas)));
    let areas = areas
        .map(|areas| pages(areas).ok_or_else(wrong))
        .transpose()?;
    let records = match records {
        "" if areas.is_some() => None,
        records => Some(pages(records).ok_or_else(wrong)?),
    };
    Ok(RingPages { records, areas })
}

fn pages(text: &str) -> Option<usize> {
    asked_pages(text)?.checked_next_power_of_two()
}

/// The pages that a size stands for, before they are rounded to a power of two.
pub(super) fn asked_pages(text: &str) -> Option<usize> {
    let (digits, unit) = match text.char_indices().last() {
        Some((end, letter)) if letter.is_ascii_alphabetic() => (&text[..end], Some(letter)),
        _ => (text, None),
    };
    let count: usize = digits.parse().ok()?;
    let bytes = |shift: u32| {
        count
            .checked_mul(1 << shift)
            .map(|bytes| bytes.div_ceil(process::page_size()))
    };
    match unit.map(|letter| letter.to_ascii_uppercase()) {
        None => Some(count),
        Some('B') => bytes(0),
        Some('K') => bytes(10),
        Some('M') => bytes(20),
        Some('G') => bytes(30),
        Some(_) => None,
    }
}

/// The size of a ring of so many pages, in the largest unit that it is a whole number of.
pub(super) fn ring_size(pages: usize) -> String {
    let kilobytes = pages.saturating_mul(process::page_size()) >> 10;
    let units = [('G', 20), ('M', 10)];
    let whole = units
        .iter()
        .find(|(_, shift)| kilobytes >> shift << shift == kilobytes);
    match whole {
        Some((unit, shift)) => format!("{}{unit}", kilobytes >> shift),
        None => format!("{kilobytes}K"),
    }
}

/// Call chains, from the text of `--call-graph`.
pub(super) fn call_graph(text: &str) -> Result<CallGraph, ArgumentProblem> {
    let (mode, rest) = text
        .split_once(',')
        .map_or((text, None), |(mode, rest)| (mode, Some(rest)));
    match (mode, rest) {
        ("no", None) => Ok(CallGraph::Off),
        ("fp", None) => Ok(CallGraph::FramePointers { max_stack: None }),
        ("fp", Some(rest)) => depth(rest).map(|max_stack| CallGraph::FramePointers { max_stack }),
        ("dwarf", None) => Ok(CallGraph::Dwarf {
            stack_size: CallGraph::STACK_SIZE,
        }),
        ("dwarf", Some(size)) => stack_size(size).map(|stack_size| CallGraph::Dwarf { stack_size }),
        ("lbr", None) => Ok(CallGraph::BranchRecords),
        ("lbr", Some(_)) => Err(ArgumentProblem::Value(
            "callchain: No more arguments needed for --call-graph lbr".to_owned(),
        )),
        _ => Err(ArgumentProblem::Value(format!(
            "callchain: Unknown --call-graph option value: {text}"
        ))),
    }
}

/// What stands behind `fp`: the most entries of a chain, and that some may come later.
fn depth(text: &str) -> Result<Option<u16>, ArgumentProblem> {
    let mut depth = None;
    for word in text.split(',').filter(|word| *word != DEFERRED) {
        let parsed = word.parse().map_err(|_| {
            ArgumentProblem::Value(format!("callchain: Incorrect stack depth: {word}"))
        });
        depth = Some(parsed?);
    }
    Ok(depth)
}

/// Branches, from the text of `-j`.
pub(super) fn branches(text: &str) -> Result<BranchSampleType, ArgumentProblem> {
    BranchSampleType::parse_filters(text).map_err(|name| {
        let names: Vec<&str> = BranchSampleType::filter_names().collect();
        ArgumentProblem::Value(format!(
            "unknown branch filter {name}: there are {}",
            names.join(", ")
        ))
    })
}

/// The word of `--call-graph` for callers in user space that come later.
const DEFERRED: &str = "defer";

/// Returns whether the text of `--call-graph` lets callers in user space come later.
pub(super) fn defers_chains(text: &str) -> bool {
    let mut words = text.split(',');
    words.next() == Some("fp") && words.any(|word| word == DEFERRED)
}

/// A clock, from the text of `-k`: by its name or its number.
pub(super) fn clock(text: &str) -> Result<KernelClock, ArgumentProblem> {
    let name = text.to_ascii_lowercase();
    if let Ok(number) = name.parse() {
        return Ok(KernelClock::Numbered(number));
    }
    match name.strip_prefix("clock_").unwrap_or(&name) {
        "monotonic" | "mono" => Ok(KernelClock::Monotonic),
        "monotonic_raw" | "raw" => Ok(KernelClock::MonotonicRaw),
        "realtime" | "real" => Ok(KernelClock::Realtime),
        "boottime" | "boot" => Ok(KernelClock::Boottime),
        "tai" => Ok(KernelClock::Tai),
        _ => Err(ArgumentProblem::Value(format!(
            "unknown clockid {text}: there are monotonic, monotonic_raw, realtime, boottime and tai, and numbers"
        ))),
    }
}

/// Bytes of a copy of the stack: the kernel copies words.
fn stack_size(text: &str) -> Result<u32, ArgumentProblem> {
    let size = text
        .parse::<u32>()
        .ok()
        .and_then(|size| size.checked_next_multiple_of(8));
    size.filter(|size| (8..=CallGraph::LARGEST_STACK).contains(size))
        .ok_or_else(|| {
            let most = CallGraph::LARGEST_STACK;
            ArgumentProblem::Value(format!(
                "callchain: Incorrect stack dump size (max {most}): {text}"
            ))
        })
}

/// Registers, from the text of `--user-regs` and `--intr-regs`: none for all of them.
pub(super) fn registers(option: &str, text: Option<&str>) -> Result<RegisterMask, ArgumentProblem> {
    match text {
        None => Ok(RegisterMask::all()),
        Some("?") => {
            let names: Vec<&str> = RegisterMask::names().collect();
            Err(ArgumentProblem::Value(format!(
                "available registers: {}",
                names.join(" ")
            )))
        }
        Some(list) => RegisterMask::parse(list).map_err(|name| {
            ArgumentProblem::Value(format!(
                "Unknown register \"{name}\": see --{option}=? for those that there are"
            ))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        assert_eq!(rate(Some("99"), None), Ok(Some(Rate::Frequency(99))));
        assert_eq!(rate(None, Some("0x10")), Ok(Some(Rate::Period(16))));
        assert_eq!(rate(None, None), Ok(None));
        assert!(matches!(
            rate(Some("5"), Some("5")),
            Err(ArgumentProblem::Contradiction(_))
        ));
        assert!(matches!(
            rate(Some("0"), None),
            Err(ArgumentProblem::Contradiction(_))
        ));
        assert!(matches!(
            rate(Some("abc"), None),
            Err(ArgumentProblem::Value(_))
        ));
    }

    #[test]
    fn clocks() {
        for (text, clock_id) in [
            ("CLOCK_MONOTONIC", 1),
            ("mono", 1),
            ("clock_raw", 4),
            ("Boot", 7),
            ("tai", 11),
            ("5", 5),
        ] {
            assert_eq!(clock(text).unwrap().id(), clock_id, "{text}");
        }
        assert!(clock("process").is_err() && clock("").is_err());
    }

    #[test]
    fn rings() {
        let page = process::page_size();
        let sizes = |records, areas| Ok(RingPages { records, areas });
        assert_eq!(ring_pages("3"), sizes(Some(4), None));
        assert_eq!(asked_pages("9k"), Some((9usize << 10).div_ceil(page)));
        assert_eq!(ring_pages("512K"), sizes(Some(512 * 1024 / page), None));
        assert_eq!(ring_pages("1b"), sizes(Some(1), None));
        assert_eq!(ring_pages("0"), sizes(Some(1), None));
        assert_eq!(ring_pages("16,2M"), sizes(Some(16), Some((2 << 20) / page)));
        assert_eq!(ring_pages(",16"), sizes(None, Some(16)));
        for bad in [
            "",
            "abc",
            "-1",
            "99999999999999999999",
            "9000000000000000000G",
            "1X",
            "16,x",
        ] {
            assert!(ring_pages(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn call_graphs() {
        assert_eq!(
            call_graph("fp,5"),
            Ok(CallGraph::FramePointers { max_stack: Some(5) })
        );
        assert_eq!(
            call_graph("dwarf"),
            Ok(CallGraph::Dwarf { stack_size: 8192 })
        );
        assert_eq!(
            call_graph("dwarf,100"),
            Ok(CallGraph::Dwarf { stack_size: 104 })
        );
        assert_eq!(call_graph("lbr"), Ok(CallGraph::BranchRecords));
        assert_eq!(
            call_graph("fp,defer,9"),
            Ok(CallGraph::FramePointers { max_stack: Some(9) })
        );
        assert!(
            defers_chains("fp,9,defer") && !defers_chains("fp,9") && !defers_chains("dwarf,defer")
        );
        for bad in [
            "dwarf,defer",
            "dwarf,0",
            "dwarf,65529",
            "dwarf,x",
            "lbr,1",
            "fp,x",
            "",
        ] {
            assert!(call_graph(bad).is_err(), "{bad}");
        }
    }
}
