//! Options of perf that choose what there is no choice of here: they are taken, and change nothing.

use clap::{Arg, ArgAction};

/// Those that take a value, and say what other programs are to be run or how a browser shows code.
const WITH_VALUES: [(&str, Option<char>); 6] = [
    ("disassembler-style", Some('M')),
    ("objdump", None),
    ("prefix", None),
    ("prefix-strip", None),
    ("percent-type", None),
    ("samples", None),
];

/// The others: modules are always named as far as the list of the kernel's symbols goes.
const SWITCHES: [(&str, Option<char>); 3] =
    [("modules", Some('m')), ("asm-raw", None), ("source", None)];

/// The options.
pub(super) fn arguments() -> impl Iterator<Item = Arg> {
    let named = |(name, short): (&'static str, Option<char>)| {
        Arg::new(name).long(name).short(short).hide(true)
    };
    let valued = WITH_VALUES
        .into_iter()
        .map(move |option| named(option).value_name("what"));
    valued.chain(
        SWITCHES
            .into_iter()
            .map(move |option| named(option).action(ArgAction::SetTrue)),
    )
}
