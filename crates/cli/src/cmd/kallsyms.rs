//! `kallsyms NAMES`: where the kernel that runs here has these symbols.

mod arguments;

use oxperf_symbols::{Demangling, kallsyms_table};

use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::output::{print_error, print_line};
use crate::usage;

/// The kernel's list of symbols.
const LIST: &str = "/proc/kallsyms";

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "kallsyms",
    command: arguments::command,
    run: |matches, invocation| run(&arguments::names(matches), &invocation.program),
    shares_work: false,
};

fn run(names: &[String], program: &str) -> Result<i32, Failure> {
    if names.is_empty() {
        let form = format!("{program} kallsyms [<options>] <symbol name>");
        print_error(&usage::text(&arguments::command(), &[form], &[]));
        return Ok(code::BAD_OPTION);
    }
    let text = std::fs::read(LIST)
        .map_err(|error| Failure::new(format!("cannot read {LIST}: {error}")))?;
    let table = kallsyms_table(&text, None, Demangling::Off);
    if table.is_empty() {
        return Err(Failure::new(format!(
            "{LIST} hides its addresses from this user: run as root, or lower kernel.kptr_restrict"
        )));
    }
    for name in names {
        let mut symbols = table.ids().filter_map(|id| table.symbol(id));
        let line = match symbols.find(|symbol| symbol.name == *name) {
            Some(symbol) => {
                let range = format!("{:#x}-{:#x}", symbol.start, symbol.end);
                let [short, long] = object(&text, name);
                format!("{name}: {short} {long} {range} ({range})")
            }
            None => format!("{name}: not found"),
        };
        print_line(&line)?;
    }
    Ok(code::SUCCESS)
}

/// The short and the long name of what has the symbol: the kernel, or a module.
fn object(text: &[u8], name: &str) -> [String; 2] {
    let lines = text.split(|&byte| byte == b'\n');
    let module = lines
        .filter_map(|line| std::str::from_utf8(line).ok())
        .find_map(|line| {
            let mut words = line.split_whitespace().skip(2);
            (words.next() == Some(name)).then(|| words.next().map(str::to_owned))
        });
    match module.flatten() {
        Some(module) => [module.clone(), module],
        None => ["[kernel]".to_owned(), "[kernel.kallsyms]".to_owned()],
    }
}
