//! The kernel's modules, from `/proc/modules`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use oxperf_abi::BuildId;

use super::RecordSink;
use super::kernel::{KernelSpace, KernelSpaceMap};

/// A loaded module.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Module<'a> {
    name: &'a str,
    start: u64,
    len: u64,
}

/// Appends a record for each loaded module of the running kernel with a known address.
pub(super) fn write(root: &Path, with_build_ids: bool, sink: &mut RecordSink) {
    let Ok(text) = fs::read_to_string(root.join("proc/modules")) else {
        return;
    };
    let space = KernelSpace::of_host(with_build_ids);
    write_list(&text, &ModuleFiles::read(root), Some(root), space, sink);
}

/// Appends a record for each module of a list with a known address; `root` tells their identities.
pub(super) fn write_list(
    list: &str,
    files: &ModuleFiles,
    root: Option<&Path>,
    space: KernelSpace,
    sink: &mut RecordSink,
) {
    let root = root.filter(|_| space.with_build_ids);
    for module in list.lines().filter_map(Module::parse) {
        let name = files.name_of(module.name);
        let map = KernelSpaceMap {
            name: name.as_bytes(),
            start: module.start,
            len: module.len,
            pgoff: 0,
            build_id: root.and_then(|root| build_id(root, module.name)),
        };
        map.write(space, sink);
    }
}

/// A module of the running kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadedModule {
    /// Its file, or its name in brackets where that is not known.
    pub name: String,
    /// First address.
    pub start: u64,
    /// Address behind the last.
    pub end: u64,
    /// Its identity.
    pub build_id: Option<BuildId>,
}

/// The modules with known addresses, below the root of a machine's file system; none if they cannot be read.
pub fn loaded_modules(root: &Path) -> Vec<LoadedModule> {
    let text = fs::read_to_string(root.join("proc/modules")).unwrap_or_default();
    let files = ModuleFiles::read(root);
    let modules = text
        .lines()
        .filter_map(Module::parse)
        .map(|module| LoadedModule {
            name: files.name_of(module.name).to_string(),
            start: module.start,
            end: module.start.saturating_add(module.len),
            build_id: build_id(root, module.name),
        });
    modules.collect()
}

impl<'a> Module<'a> {
    /// `NAME SIZE REFERENCES USERS STATE ADDRESS`; an address of zero is hidden.
    fn parse(line: &'a str) -> Option<Module<'a>> {
        let mut fields = line.split_ascii_whitespace();
        let name = fields.next()?;
        let len = fields.next()?.parse().ok()?;
        let start = u64::from_str_radix(fields.nth(3)?.trim_start_matches("0x"), 16).ok()?;
        (start != 0).then_some(Module { name, start, len })
    }
}

/// The build id of a loaded module.
pub(crate) fn build_id(root: &Path, module: &str) -> Option<BuildId> {
    let notes = root
        .join("sys/module")
        .join(module)
        .join("notes/.note.gnu.build-id");
    crate::build_id::in_notes(&fs::read(notes).ok()?)
}

/// The files of the installed modules by module name.
#[derive(Default)]
pub(super) struct ModuleFiles(HashMap<String, String>);

impl ModuleFiles {
    /// From the dependency list of the running kernel; empty when there is none.
    fn read(root: &Path) -> ModuleFiles {
        let release =
            fs::read_to_string(root.join("proc/sys/kernel/osrelease")).unwrap_or_default();
        let directory = format!("lib/modules/{}", release.trim());
        let list =
            fs::read_to_string(root.join(&directory).join("modules.dep")).unwrap_or_default();
        ModuleFiles::parse(&directory, &list)
    }

    /// From the dependency list of a guest whose root is mounted; paths are those on the host.
    pub(super) fn of_guest(root: &Path) -> ModuleFiles {
        let version = fs::read_to_string(root.join("proc/version")).unwrap_or_default();
        let release = version.split_ascii_whitespace().nth(2).unwrap_or_default();
        let directory = format!("lib/modules/{release}");
        let list = fs::read_to_string(root.join(&directory).join("modules.dep"));
        let mut files = ModuleFiles::parse(&directory, &list.unwrap_or_default());
        for file in files.0.values_mut() {
            file.insert_str(0, &root.to_string_lossy());
        }
        files
    }

    fn parse(directory: &str, list: &str) -> ModuleFiles {
        let files = list.lines().filter_map(|line| {
            let path = line.split(':').next()?;
            let file = path.rsplit('/').next()?;
            let name = file.split(".ko").next()?.replace('-', "_");
            Some((name, format!("/{directory}/{path}")))
        });
        ModuleFiles(files.collect())
    }

    /// The module's file, or its name in brackets.
    fn name_of(&self, module: &str) -> String {
        self.0
            .get(module)
            .cloned()
            .unwrap_or_else(|| format!("[{module}]"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_module_list() {
        let line = "nf_tables 409600 12 nft_ct,nft_nat, Live 0xffffffffc0a00000 (E)";
        assert_eq!(
            Module::parse(line),
            Some(Module {
                name: "nf_tables",
                start: 0xffff_ffff_c0a0_0000,
                len: 409_600
            })
        );
        assert_eq!(Module::parse("x 1 0 - Live 0x0000000000000000"), None);
        assert_eq!(Module::parse("x y"), None);
    }

    #[test]
    fn files_go_by_module_name() {
        let files = ModuleFiles::parse(
            "lib/modules/6.1",
            "kernel/net/nf-tables.ko.xz: kernel/lib/crc.ko\nkernel/lib/crc.ko:\n",
        );
        assert_eq!(
            files.name_of("nf_tables"),
            "/lib/modules/6.1/kernel/net/nf-tables.ko.xz"
        );
        assert_eq!(files.name_of("crc"), "/lib/modules/6.1/kernel/lib/crc.ko");
        assert_eq!(files.name_of("other"), "[other]");
    }
}
