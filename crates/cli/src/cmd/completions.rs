//! `completions`: the script with which a shell completes command lines of this program.

mod arguments;

use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::output::print_text;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "completions",
    command: arguments::command,
    run: |matches, invocation| run(&arguments::options(matches, &invocation.program)),
    shares_work: false,
};

/// A shell.
#[derive(Clone, Copy)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    /// All shells by their names.
    const ALL: [(&'static str, Shell); 3] = [
        ("bash", Shell::Bash),
        ("zsh", Shell::Zsh),
        ("fish", Shell::Fish),
    ];

    /// The script, where `@NAME@` stands for the name of the program.
    fn script(self) -> &'static str {
        match self {
            Shell::Bash => include_str!("../completion/oxperf.bash"),
            Shell::Zsh => include_str!("../completion/oxperf.zsh"),
            Shell::Fish => include_str!("../completion/oxperf.fish"),
        }
    }
}

struct CompletionsOptions {
    shell: Shell,
    name: String,
}

/// Prints the script.
fn run(options: &CompletionsOptions) -> Result<i32, Failure> {
    let script = options.shell.script().replace("@NAME@", &options.name);
    print_text(script.as_bytes());
    Ok(code::SUCCESS)
}
