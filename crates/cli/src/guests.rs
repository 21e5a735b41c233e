//! Guests of the recorded machine: the options that say where their kernels are.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_abi::Pid;
use oxperf_itrace::KernelSearchPaths;
use oxperf_machine::{GuestId, GuestModule};
use oxperf_objects::Contents;
use oxperf_symbols::GuestPlaces;

/// The options.
pub(crate) fn arguments() -> [Arg; 5] {
    let file = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    [
        file(
            "guestmount",
            "DIR",
            "The files of guests: a folder for each, named by the process that runs it",
        ),
        file(
            "guestvmlinux",
            "FILE",
            "Names and code of the kernel of other guests from this image",
        ),
        file(
            "guestkallsyms",
            "FILE",
            "Names of their kernel from this copy of its /proc/kallsyms, code from the kcore beside it",
        ),
        file(
            "guestmodules",
            "FILE",
            "Modules of their kernel from this copy of its /proc/modules",
        ),
        Arg::new("guest-code")
            .long("guest-code")
            .action(ArgAction::SetTrue)
            .help("The code of guests is in the process that runs them"),
    ]
}

/// Where the names of guests' kernels come from.
pub(crate) fn names(matches: &ArgMatches) -> GuestPlaces {
    let [mounted, vmlinux, kallsyms] =
        ["guestmount", "guestvmlinux", "guestkallsyms"].map(|name| file(matches, name));
    GuestPlaces {
        mounted,
        vmlinux,
        kallsyms,
    }
}

/// The guests that the options tell of, with the modules of their kernels.
pub(crate) fn known(matches: &ArgMatches) -> Vec<(GuestId, Vec<GuestModule>)> {
    let list = file(matches, "guestmodules");
    let any =
        names(matches).vmlinux.is_some() || names(matches).kallsyms.is_some() || list.is_some();
    let meant = any.then(|| {
        (
            GuestId::default(),
            list.map(|list| modules(&list)).unwrap_or_default(),
        )
    });
    let mounted = mounted(matches).into_iter();
    meant
        .into_iter()
        .chain(mounted.map(|(guest, root)| (guest, modules(&root.join("proc/modules")))))
        .collect()
}

/// Where the code of guests' kernels lies.
pub(crate) fn code(matches: &ArgMatches) -> Vec<(GuestId, KernelSearchPaths)> {
    let copies: Vec<PathBuf> = file(matches, "guestkallsyms")
        .iter()
        .filter_map(|list| list.parent())
        .map(Path::to_owned)
        .collect();
    let meant = KernelSearchPaths {
        named_image: file(matches, "guestvmlinux"),
        copies,
        ..KernelSearchPaths::default()
    };
    let mounted = mounted(matches).into_iter().map(|(guest, root)| {
        let copies = vec![root.join("proc")];
        (
            guest,
            KernelSearchPaths {
                copies,
                ..KernelSearchPaths::default()
            },
        )
    });
    mounted.chain([(GuestId::default(), meant)]).collect()
}

/// The folders of guests, in order of their processes.
fn mounted(matches: &ArgMatches) -> Vec<(GuestId, PathBuf)> {
    let entries = file(matches, "guestmount").and_then(|folder| fs::read_dir(folder).ok());
    let entries = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<(i32, PathBuf)> = entries
        .filter_map(|path| Some((path.file_name()?.to_str()?.parse().ok()?, path)))
        .filter(|(process, path): &(i32, PathBuf)| {
            *process > 0 && path.join("proc/kallsyms").is_file()
        })
        .collect();
    found.sort_unstable();
    found
        .into_iter()
        .map(|(process, path)| (GuestId::of(Pid(process)), path))
        .collect()
}

/// The modules in a list as `/proc/modules` has it; none where it cannot be read.
fn modules(list: &Path) -> Vec<GuestModule> {
    let text = Contents::read(list)
        .map(|contents| contents.to_vec())
        .unwrap_or_default();
    String::from_utf8_lossy(&text)
        .lines()
        .filter_map(module)
        .collect()
}

/// `ext4 1015808 1 - Live 0xffffffffc0a00000`
fn module(line: &str) -> Option<GuestModule> {
    let mut words = line.split_ascii_whitespace();
    let (name, length) = (words.next()?, words.next()?.parse().ok()?);
    let start = u64::from_str_radix(words.nth(3)?.strip_prefix("0x")?, 16).ok()?;
    // Who may not see addresses reads zeros.
    (start != 0).then(|| GuestModule {
        name: format!("[{}]", name.replace('-', "_")),
        start,
        length,
    })
}

fn file(matches: &ArgMatches, name: &str) -> Option<PathBuf> {
    matches.get_one::<String>(name).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_read_as_the_kernel_lists_them() {
        let found = module("snd-pcm 1015808 1 - Live 0xffffffffc0a00000 (E)").unwrap();
        assert_eq!(
            (found.name.as_str(), found.start, found.length),
            ("[snd_pcm]", 0xffff_ffff_c0a0_0000, 1_015_808)
        );
        assert_eq!(module("ext4 10 1 - Live 0x0000000000000000"), None);
        assert_eq!(module("nonsense"), None);
    }
}
