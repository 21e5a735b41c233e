//! The table of build ids: the binaries of the recording with their identity.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use oxperf_abi::{BuildId, CpuMode};
use oxperf_data::features::{BuildIdEntry, BuildIds};
use oxperf_objects::{Elf, Locator, ObjectKind, ObjectQuery, SearchPaths};

use super::hit_dsos::Dso;
use super::scan::Scan;
use crate::options::BuildIdPolicy;
use crate::{build_id, synthesize};

/// The name of the kernel in the table; its mapping's name goes on with a symbol.
const KERNEL: &[u8] = b"[kernel.kallsyms]";
const VDSO: &[u8] = b"[vdso]";

/// The table that is wanted of the binaries of a recording. Where nobody knows which of them were hit, it has those
/// whose mappings carry no build ids.
pub(crate) fn build_ids(scan: &Scan, wanted: BuildIdPolicy) -> BuildIds {
    let is_wanted = |dso: &&Dso| match wanted {
        BuildIdPolicy::Off => false,
        BuildIdPolicy::All => true,
        BuildIdPolicy::Hit if scan.knows_hits => dso.hit,
        BuildIdPolicy::Hit => dso.build_id.is_none(),
    };
    let mut entries: Vec<BuildIdEntry> = scan
        .dsos
        .iter()
        .filter(is_wanted)
        .filter_map(entry)
        .collect();
    entries.sort_by(|a, b| (a.misc.0, &a.name).cmp(&(b.misc.0, &b.name)));
    entries.dedup();
    BuildIds(entries)
}

fn entry(dso: &Dso) -> Option<BuildIdEntry> {
    let name = if dso.name.starts_with(KERNEL) {
        KERNEL
    } else {
        &dso.name
    };
    let id = dso.build_id.or_else(|| find(dso))?;
    Some(BuildIdEntry::host(
        dso.mode,
        id,
        String::from_utf8_lossy(name).into_owned(),
    ))
}

/// Reads the identity of a binary whose mapping did not carry it.
fn find(dso: &Dso) -> Option<BuildId> {
    match &dso.name[..] {
        name if name.starts_with(KERNEL) => synthesize::running_build_id(Path::new("/")),
        VDSO => vdso(),
        name if dso.mode == CpuMode::Kernel && name.starts_with(b"[") => {
            let module = std::str::from_utf8(name).ok()?.trim_matches(['[', ']']);
            synthesize::module_build_id(Path::new("/"), module)
        }
        name if name.starts_with(b"/") => build_id::of_file(Path::new(OsStr::from_bytes(name))),
        _ => None,
    }
}

fn vdso() -> Option<BuildId> {
    let wanted = ObjectQuery {
        path: VDSO,
        build_id: None,
        kind: ObjectKind::Vdso,
        process: None,
    };
    let found = Locator::new(SearchPaths::default()).image(&wanted).ok()?;
    Elf::parse(&found.contents).ok()?.build_id()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dso(name: &[u8], mode: CpuMode, hit: bool) -> Dso {
        Dso {
            name: name.to_vec(),
            mode,
            build_id: BuildId::new(&[7; 20]),
            hit,
        }
    }

    #[test]
    fn the_kernel_comes_first_and_loses_its_symbol() {
        let dsos = [
            dso(b"/bin/b", CpuMode::User, true),
            dso(b"/bin/a", CpuMode::User, false),
            dso(b"[kernel.kallsyms]_text", CpuMode::Kernel, true),
        ];
        let mut scan = Scan {
            dsos: dsos.to_vec(),
            knows_hits: true,
            ..Scan::default()
        };
        let names = |scan: &Scan, wanted| {
            build_ids(scan, wanted)
                .0
                .into_iter()
                .map(|entry| entry.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names(&scan, BuildIdPolicy::Hit),
            ["[kernel.kallsyms]", "/bin/b"]
        );
        assert_eq!(
            names(&scan, BuildIdPolicy::All),
            ["[kernel.kallsyms]", "/bin/a", "/bin/b"]
        );
        assert!(names(&scan, BuildIdPolicy::Off).is_empty());
        // The mappings of all of them carried build ids.
        scan.knows_hits = false;
        assert!(names(&scan, BuildIdPolicy::Hit).is_empty());
    }

    #[test]
    fn what_has_no_identity_is_left_out() {
        let nameless = Dso {
            build_id: None,
            ..dso(b"//anon", CpuMode::User, true)
        };
        let scan = Scan {
            dsos: vec![nameless],
            ..Scan::default()
        };
        assert_eq!(build_ids(&scan, BuildIdPolicy::All), BuildIds::default());
    }
}
