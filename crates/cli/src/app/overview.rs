//! The text of `--help` without a command: the commands, and lines to begin with.

use std::fmt::Write;

/// The purpose of the program.
pub(super) const ABOUT: &str =
    "Find where programs spend their time: record, report and read perf.data, as Linux perf does.";

const EXAMPLES: &str = "\
 Examples:
   oxperf profile -- ./program      record, print the hottest functions, write flamegraph.html
   oxperf record -g -- ./program    record call chains into perf.data
   oxperf report                    show perf.data as a table of functions and callers
   oxperf script | less             show every sample
";

/// The text for these commands, each with a line about it.
pub(super) fn text(program: &str, commands: &[(String, String)]) -> String {
    let width = commands.iter().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or(0);
    let mut text = format!(
        "\n usage: {program} [--version] [--help] [OPTIONS] COMMAND [ARGS]\n\n {ABOUT}\n\n Commands:\n"
    );
    for (name, about) in commands {
        let _ = writeln!(text, "   {name:width$}   {about}");
    }
    let examples = EXAMPLES.replace("oxperf", program);
    let _ = write!(
        text,
        "\n{examples}\n See '{program} help COMMAND' for more information on a specific command.\n"
    );
    text
}
