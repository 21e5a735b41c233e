//! What a recorder says, in a form that two of them have in common.

use super::super::stat;
use super::syntax;

/// Lines of perf about its own host, and the lines of `-v` about its memory.
const OF_PERF: [&str; 16] = [
    // What the shell says of perf7's end.
    "Aborted",
    // What perf finds out with -v about itself.
    "nr_cblocks: ",
    "affinity: ",
    "mmap flush: ",
    "comp level: ",
    "Control descriptor is not initialized",
    "Downloading ",
    "build <",
    "auxtrace idx ",
    "intel_pt default config: ",
    END_OF_KVM,
    "Failed to open /proc/schedstat",
    "failed to write feature ",
    "Invalid CPUID ",
    "Problems creating module maps",
    "DEBUGINFOD_URLS=",
];

/// What perf7 says when `kvm` ends: it ends by a signal behind a whole recording.
const END_OF_KVM: &str = "double free or corruption";
const ABORTED: i32 = 128 + 6;

/// The exit code; in place of perf7's own end that of the workload.
pub(super) fn exit_code(code: Option<i32>, errors: &str, workload: i32) -> Option<i32> {
    let is_end = code == Some(ABORTED) && errors.contains(END_OF_KVM);
    if is_end { Some(workload) } else { code }
}

/// The text without numbers that differ from run to run, and without the options that a mistake is about, which each
/// program describes in its own words.
pub(super) fn comparable(text: &str) -> String {
    let end = [" Usage: ", "\nUsage: "];
    let end = end.iter().filter_map(|mark| text.find(mark)).min();
    let text = end.map_or(text, |end| &text[..end]);
    let text = without_losses(text);
    let text = syntax::said_once(&text);
    let kept = text.lines().filter(|line| {
        !line.trim().is_empty() && !OF_PERF.iter().any(|start| line.starts_with(start))
    });
    let text: String = kept
        .map(|line| without_recorder(&summary(line)) + "\n")
        .collect();
    stat::opened::comparable(&text)
}

/// The text without perf's words about records that were lost, which is a matter of chance.
fn without_losses(text: &str) -> String {
    const BEGINNING: &str = "Warning:\nProcessed ";
    const END: &str = "Check IO/CPU overload!\n";
    let parts = text.split_once(BEGINNING).and_then(|(before, rest)| {
        let (_, behind) = rest.split_once(END)?;
        Some(format!("{before}{behind}"))
    });
    parts.unwrap_or_else(|| text.to_owned())
}

/// The line without the recorder's number in a condition that leaves it out.
pub(super) fn without_recorder(line: &str) -> String {
    const CONDITION: &str = "common_pid != ";
    match line.split_once(CONDITION) {
        Some((before, rest)) => {
            let behind = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
            format!("{before}{CONDITION}N{behind}")
        }
        None => line.to_owned(),
    }
}

/// The lines at the end of a recording without what they count, and without the name of the program.
fn summary(line: &str) -> String {
    const RECORDER: &str = "[ oxperf record: ";
    const OF_PERF: &str = "[ perf record: ";
    let line = line.replace(RECORDER, OF_PERF);
    // The program may have begun the line.
    if !line.contains(OF_PERF) {
        return line;
    }
    // How many samples there are is of no account, nor that there are some.
    let line = match line
        .split_once(" (")
        .filter(|(_, rest)| rest.contains(" samples)"))
    {
        Some((before, rest)) => {
            let behind = rest.split_once(')').map_or("", |(_, behind)| behind);
            format!("{before}{behind}")
        }
        None => line,
    };
    let words = line.split(' ').map(|word| {
        if let Some(name) = without_moment(word) {
            return name;
        }
        let digits = word.trim_end_matches([',', ')']);
        let is_number = digits.parse::<f64>().is_ok();
        if is_number { "N" } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The name of a file without the moment of its end.
fn without_moment(word: &str) -> Option<&str> {
    const DIGITS: usize = 16;
    let (name, moment) = word.rsplit_once('.')?;
    let is_moment = moment.len() == DIGITS && moment.bytes().all(|byte| byte.is_ascii_digit());
    is_moment.then_some(name)
}

/// Our text, where it alone gives the reason of a refusal for which perf shows its options and no more.
pub(super) fn forgiven(perfs: &str, ours: &str) -> String {
    const SILENT: &str = "stderr\n\n";
    let (Some((before, silent)), Some((own, _))) =
        (perfs.split_once("stderr\n"), ours.split_once("stderr\n"))
    else {
        return ours.to_owned();
    };
    let is_refusal = before == own && !before.starts_with("exit Some(0)");
    match is_refusal && format!("stderr\n{silent}").starts_with(SILENT) {
        true => perfs.to_owned(),
        false => ours.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_the_name_of_the_program_are_left_out() {
        let text = "\n[ oxperf record: Captured and wrote 0.001 MB x (7 samples), compressed (original 0.001 MB, ratio is 1.2) ]\n";
        let expected =
            "[ perf record: Captured and wrote N MB x, compressed (original N MB, ratio is N ]\n";
        assert_eq!(comparable(text), expected);
        assert_eq!(
            comparable("[ perf record: Dump out.data.2026112811033620 ]\n"),
            "[ perf record: Dump out.data ]\n"
        );
        assert_eq!(comparable("wrong\n\n Usage: perf record\n"), "wrong\n");
        assert_eq!(comparable("Failed to open /proc/schedstat\n"), "");
        let lost =
            "a\nWarning:\nProcessed 7 events and lost 1 chunks!\n\nCheck IO/CPU overload!\n\nb\n";
        assert_eq!(comparable(lost), "a\nb\n");
        let condition = comparable("failed to set filter \"common_pid != 338\" on a\n");
        assert_eq!(condition, "failed to set filter \"common_pid != N\" on a\n");
    }

    #[test]
    fn an_end_by_a_signal_is_taken_for_success_where_it_is_told() {
        assert_eq!(
            exit_code(Some(134), "double free or corruption (!prev)\n", 22),
            Some(22)
        );
        assert_eq!(exit_code(Some(134), "wrong\n", 22), Some(134));
        assert_eq!(comparable("double free or corruption (!prev)\n"), "");
    }

    #[test]
    fn a_reason_that_perf_does_not_give_is_forgiven() {
        let perfs = "exit Some(129)\nstdout\n\nstderr\n\n";
        let ours = "exit Some(129)\nstdout\n\nstderr\nwhy\n\n";
        assert_eq!(forgiven(perfs, ours), perfs);
        let other = ours.replace("129", "0");
        assert_eq!(forgiven(&perfs.replace("129", "0"), &other), other);
    }
}
