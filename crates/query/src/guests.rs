//! Guests of the recorded machine: the files of their kernels.

use std::fs;
use std::path::{Path, PathBuf};

use oxperf_abi::Pid;
use oxperf_itrace::KernelSearchPaths;
use oxperf_machine::{GuestId, GuestModule};
use oxperf_objects::Contents;
use oxperf_symbols::GuestPlaces;

/// The files of guests, as far as the user names them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GuestOptions {
    /// A folder with the files of each guest in a folder of its own, named by the process that runs it.
    pub mounted: Option<PathBuf>,
    /// The kernel's image of guests without such a folder.
    pub vmlinux: Option<PathBuf>,
    /// The copy of their `/proc/kallsyms`; code comes from the kcore beside it.
    pub kallsyms: Option<PathBuf>,
    /// The copy of their `/proc/modules`.
    pub modules: Option<PathBuf>,
    /// The code of guests is in the process that runs them.
    pub code_in_host: bool,
}

impl GuestOptions {
    /// The sources of names of guests' kernels.
    pub(crate) fn symbol_places(&self) -> GuestPlaces {
        GuestPlaces {
            mounted: self.mounted.clone(),
            vmlinux: self.vmlinux.clone(),
            kallsyms: self.kallsyms.clone(),
        }
    }

    /// The guests that are known before any record, with the modules of their kernels.
    pub fn known(&self) -> Vec<(GuestId, Vec<GuestModule>)> {
        let any = self.vmlinux.is_some() || self.kallsyms.is_some() || self.modules.is_some();
        let listed = self.modules.as_deref().map(modules);
        let unmounted = any.then(|| (GuestId::default(), listed.unwrap_or_default()));
        let mounted = self.mounted().into_iter();
        let mounted = mounted.map(|(guest, root)| (guest, modules(&root.join("proc/modules"))));
        unmounted.into_iter().chain(mounted).collect()
    }

    /// The places of the code of guests' kernels.
    pub(crate) fn kernel_code(&self) -> Vec<(GuestId, KernelSearchPaths)> {
        let list = self.kallsyms.as_deref().and_then(Path::parent);
        let unmounted = KernelSearchPaths {
            named_image: self.vmlinux.clone(),
            copies: list.map(Path::to_owned).into_iter().collect(),
            ..KernelSearchPaths::default()
        };
        let mounted = self.mounted().into_iter().map(|(guest, root)| {
            let copies = vec![root.join("proc")];
            let paths = KernelSearchPaths {
                copies,
                ..KernelSearchPaths::default()
            };
            (guest, paths)
        });
        mounted.chain([(GuestId::default(), unmounted)]).collect()
    }

    /// The folders of guests, in order of their processes.
    fn mounted(&self) -> Vec<(GuestId, PathBuf)> {
        let folder = self.mounted.as_ref();
        let entries = folder.and_then(|folder| fs::read_dir(folder).ok());
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
    // A reader without the right to see addresses gets zeros.
    (start != 0).then(|| GuestModule {
        name: format!("[{}]", name.replace('-', "_")),
        start,
        length,
    })
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
