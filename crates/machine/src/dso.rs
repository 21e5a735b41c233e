//! Dynamic shared objects: everything that code can be mapped from.

use std::sync::Arc;

use oxperf_abi::{BuildId, CpuMode, Pid};
use oxperf_wire::{JitLine, JitUnwinding};
use rustc_hash::FxHashMap;

use crate::{GuestId, Machine, Map};

/// The number of a dso in its machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct DsoId(pub u32);

/// The kind of a dso, which decides where its symbols come from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DsoKind {
    /// A file on disk.
    File,
    /// The kernel image.
    Kernel,
    /// A kernel module.
    Module,
    /// The kernel image of a guest.
    GuestKernel(GuestId),
    /// A module of a guest's kernel.
    GuestModule(GuestId),
    /// The kernel's page of user code.
    Vdso,
    /// Memory without a file; names may be in `/tmp/perf-PID.map`.
    Anonymous,
    /// A kernel symbol that a record announced; the dso is its own only symbol.
    KernelSymbol,
    /// A function that a program made at run time and logged; the dso is its own only symbol: [`Dso::jit`].
    Jit,
}

/// The only symbol of a dso that is a function made at run time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JitSymbol {
    /// Its name; untrusted.
    pub name: Arc<str>,
    /// Its first address in the dso.
    pub start: u64,
    /// The address behind it.
    pub end: u64,
    /// Its source lines, as far as its maker told them.
    pub lines: Arc<[JitLine]>,
    /// Its unwinding tables, if its maker told it.
    pub unwinding: Option<Arc<JitUnwinding>>,
}

/// One dso.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dso {
    /// Its number in its machine.
    pub id: DsoId,
    /// Path or bracketed name.
    pub name: String,
    /// The name as `script` shows it: the name, but of a module the path only where the recording's build ids have it.
    pub shown: String,
    /// The name as `report` shows it: the file name, or the bracketed name.
    pub short_name: String,
    /// Kind.
    pub kind: DsoKind,
    /// Identity, from the mapping or the file's table.
    pub build_id: Option<BuildId>,
    /// The name of a function made at run time.
    pub jit: Option<JitSymbol>,
    /// The process that mapped it first, of what user programs map.
    pub process: Option<u32>,
    /// Its first mapping that can be executed.
    pub code: Option<CodeMapping>,
}

/// A mapping of a dso's code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodeMapping {
    /// As of the mapping: see [`Map::bias`].
    pub bias: u64,
    /// As of the mapping: see [`Map::file_offset`].
    pub file_offset: u64,
}

impl Dso {
    fn new(name: &str, shown: &str, kind: DsoKind, build_id: Option<BuildId>) -> Dso {
        let short_name = short_name(name, kind);
        Dso {
            id: DsoId::default(),
            name: name.to_owned(),
            shown: shown.to_owned(),
            short_name,
            kind,
            build_id,
            jit: None,
            process: None,
            code: None,
        }
    }
}

fn short_name(name: &str, kind: DsoKind) -> String {
    match kind {
        DsoKind::File | DsoKind::Jit => file_name(name),
        DsoKind::Anonymous => {
            map_file_pid(name).map_or_else(|| file_name(name), |pid| format!("[JIT] tid {pid}"))
        }
        DsoKind::Module | DsoKind::GuestModule(_) => module_name(name),
        DsoKind::Kernel if name.contains("vmlinux") => "[kernel.vmlinux]".to_owned(),
        DsoKind::Kernel | DsoKind::GuestKernel(_) | DsoKind::Vdso | DsoKind::KernelSymbol => {
            name.to_owned()
        }
    }
}

fn file_name(path: &str) -> String {
    path.rsplit('/')
        .find(|part| !part.is_empty())
        .unwrap_or(path)
        .to_owned()
}

/// The process in the name of a map file, `/tmp/perf-PID.map`.
fn map_file_pid(name: &str) -> Option<&str> {
    let pid = name.strip_prefix("/tmp/perf-")?.strip_suffix(".map")?;
    pid.bytes().all(|byte| byte.is_ascii_digit()).then_some(pid)
}

/// The bracketed name of a module from its path: `/lib/modules/.../snd-pcm.ko.xz` is `[snd_pcm]`.
fn module_name(path: &str) -> String {
    if path.starts_with('[') {
        return path.to_owned();
    }
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.split(".ko").next().unwrap_or(file);
    format!("[{}]", stem.replace('-', "_"))
}

/// Returns whether the name of something of the kernel's is a module's.
fn is_module(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    match file.split_once(".ko") {
        Some((_, suffix)) => suffix.is_empty() || suffix.starts_with('.'),
        None => name.starts_with('[') && !name.starts_with("[kernel") && !name.starts_with("[vdso"),
    }
}

/// Two mappings of one path are one dso only if the file behind the path is the same.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct DsoKey {
    pub(crate) name: String,
    pub(crate) kind: DsoKind,
    pub(crate) build_id: Option<BuildId>,
    pub(crate) inode: Option<(u32, u32, u64)>,
}

/// All dsos of a machine by number, in blocks: a copy shares them all, and what is changed afterwards is one block and one
/// dso.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedDsos {
    blocks: Vec<Arc<Vec<Arc<Dso>>>>,
    count: usize,
}

impl SharedDsos {
    const BLOCK: usize = 64;

    fn push(&mut self, dso: Dso) -> DsoId {
        let id = DsoId(self.count as u32);
        let dso = Dso { id, ..dso };
        self.count += 1;
        match self
            .blocks
            .last_mut()
            .filter(|block| block.len() < Self::BLOCK)
        {
            Some(block) => Arc::make_mut(block).push(Arc::new(dso)),
            None => self.blocks.push(Arc::new(vec![Arc::new(dso)])),
        }
        id
    }

    #[inline]
    pub(crate) fn get(&self, id: DsoId) -> &Dso {
        let number = id.0 as usize;
        &self.blocks[number / Self::BLOCK][number % Self::BLOCK]
    }

    fn get_mut(&mut self, id: DsoId) -> &mut Dso {
        let number = id.0 as usize;
        let block = Arc::make_mut(&mut self.blocks[number / Self::BLOCK]);
        Arc::make_mut(&mut block[number % Self::BLOCK])
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Dso> + '_ {
        (0..self.count).map(|number| self.get(DsoId(number as u32)))
    }

    /// Notes a process that has a dso mapped; the first one counts.
    pub(crate) fn note_process(&mut self, id: DsoId, pid: Pid) {
        let process = u32::try_from(pid.0).ok().filter(|process| *process > 0);
        if process.is_some() && self.get(id).process.is_none() {
            self.get_mut(id).process = process;
        }
    }

    /// Notes a mapping of code; the first one of a dso counts.
    pub(crate) fn note_code(&mut self, map: &Map) {
        if self.get(map.dso).code.is_none() {
            self.get_mut(map.dso).code = Some(CodeMapping {
                bias: map.bias,
                file_offset: map.file_offset,
            });
        }
    }

    /// Names the function that a dso is.
    pub(crate) fn set_jit_symbol(&mut self, id: DsoId, symbol: JitSymbol) {
        if self.get(id).jit.is_none() {
            self.get_mut(id).jit = Some(symbol);
        }
    }
}

/// The keys that dsos are found by, and what the recording's build ids say of them.
#[derive(Debug, Default)]
pub(crate) struct DsoNames {
    ids: FxHashMap<DsoKey, DsoId>,
    recorded_ids: FxHashMap<String, BuildId>,
    recorded_names: Vec<String>,
    /// The kernel's image, as the build ids name it.
    recorded_kernel: Option<String>,
    /// The modules that have build ids: their names there by their bracketed ones.
    recorded_modules: FxHashMap<String, String>,
    /// The newest dso of each name.
    by_name: FxHashMap<String, DsoId>,
}

impl DsoNames {
    /// Notes the build id that the recording gives for a name, also of the newest dso that has it and no id.
    pub(crate) fn note_build_id(
        &mut self,
        dsos: &mut SharedDsos,
        mode: CpuMode,
        name: &str,
        build_id: BuildId,
    ) {
        if mode == CpuMode::Kernel {
            self.note_kernel_name(name);
        }
        let known = self.by_name.get(name).copied();
        if let Some(id) = known.filter(|id| dsos.get(*id).build_id.is_none()) {
            dsos.get_mut(id).build_id = Some(build_id);
        }
        if self
            .recorded_ids
            .insert(name.to_owned(), build_id)
            .is_none()
            && known.is_none()
        {
            self.recorded_names.push(name.to_owned());
        }
    }

    /// The build ids may call the kernel by a path, such as that of its `vmlinux`.
    fn note_kernel_name(&mut self, name: &str) {
        if is_module(name) {
            self.recorded_modules
                .entry(module_name(name))
                .or_insert_with(|| name.to_owned());
        } else {
            self.recorded_kernel.get_or_insert_with(|| name.to_owned());
        }
    }

    /// The dso for a key, made at its first use.
    fn find_or_add(&mut self, dsos: &mut SharedDsos, key: DsoKey) -> DsoId {
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let id = dsos.push(self.make(&key));
        self.by_name.insert(key.name.clone(), id);
        self.ids.insert(key, id);
        id
    }

    fn make(&self, key: &DsoKey) -> Dso {
        let (name, shown) = match key.kind {
            DsoKind::Kernel => {
                let name = self.recorded_kernel.as_ref().unwrap_or(&key.name);
                (name, name)
            }
            DsoKind::Module => (&key.name, &self.module_shown(&key.name)),
            _ => (&key.name, &key.name),
        };
        let build_id = key
            .build_id
            .or_else(|| self.recorded_ids.get(name).copied());
        Dso::new(name, shown, key.kind, build_id)
    }

    fn module_shown(&self, name: &str) -> String {
        let bracketed = module_name(name);
        self.recorded_modules
            .get(&bracketed)
            .cloned()
            .unwrap_or(bracketed)
    }

    /// The names in the recording's table, in its order.
    pub(crate) fn recorded(&self) -> &[String] {
        &self.recorded_names
    }
}

impl Machine {
    /// The dso for a key, made at its first use.
    pub(crate) fn find_or_add_dso(&mut self, key: DsoKey) -> DsoId {
        let is_kernel = key.kind == DsoKind::Kernel;
        let id = self.names.find_or_add(&mut self.objects.dsos, key);
        if is_kernel {
            self.objects.kernel_dso.get_or_insert(id);
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_ids_may_come_before_and_after_the_mapping() {
        let (mut names, mut dsos) = (DsoNames::default(), SharedDsos::default());
        let [early, late] = [1, 2].map(|byte| BuildId::new(&[byte; 20]));
        let user = CpuMode::User;
        names.note_build_id(&mut dsos, user, "a", early.unwrap());
        let key = |name: &str| DsoKey {
            name: name.into(),
            kind: DsoKind::File,
            build_id: None,
            inode: None,
        };
        let ids = [
            names.find_or_add(&mut dsos, key("a")),
            names.find_or_add(&mut dsos, key("b")),
        ];
        names.note_build_id(&mut dsos, user, "a", late.unwrap());
        names.note_build_id(&mut dsos, user, "b", late.unwrap());
        assert_eq!(ids.map(|id| dsos.get(id).build_id), [early, late]);
    }

    #[test]
    fn the_kernel_and_its_modules_are_shown_as_the_build_ids_name_them() {
        let (mut names, mut dsos) = (DsoNames::default(), SharedDsos::default());
        let id = BuildId::new(&[1; 20]).unwrap();
        for name in ["/lib/modules/6.1/kernel/fs/ext4.ko.xz", "/boot/vmlinux"] {
            names.note_build_id(&mut dsos, CpuMode::Kernel, name, id);
        }
        let mut shown = |kind, name: &str| {
            let key = DsoKey {
                name: name.into(),
                kind,
                build_id: None,
                inode: None,
            };
            let dso = names.find_or_add(&mut dsos, key);
            (dsos.get(dso).shown.clone(), dsos.get(dso).build_id)
        };
        assert_eq!(
            shown(DsoKind::Module, "[ext4]").0,
            "/lib/modules/6.1/kernel/fs/ext4.ko.xz"
        );
        assert_eq!(
            shown(DsoKind::Module, "/lib/modules/6.1/kernel/fs/xfs.ko").0,
            "[xfs]"
        );
        assert_eq!(
            shown(DsoKind::Kernel, "[kernel.kallsyms]"),
            ("/boot/vmlinux".to_owned(), Some(id))
        );
    }

    #[test]
    fn a_copy_stays_as_it_is() {
        let mut dsos = SharedDsos::default();
        let grow = |dsos: &mut SharedDsos| dsos.push(Dso::new("a", "a", DsoKind::File, None));
        let known = [(); SharedDsos::BLOCK + 1].map(|()| grow(&mut dsos));
        let before = dsos.clone();
        grow(&mut dsos);
        known.iter().for_each(|id| dsos.note_process(*id, Pid(7)));
        let processes =
            |dsos: &SharedDsos| dsos.iter().filter(|dso| dso.process == Some(7)).count();
        assert_eq!((before.iter().len(), processes(&before)), (known.len(), 0));
        assert_eq!(
            (dsos.iter().len(), processes(&dsos)),
            (known.len() + 1, known.len())
        );
    }

    #[test]
    fn short_names() {
        for (name, kind, expected) in [
            ("/usr/lib/libc.so.6", DsoKind::File, "libc.so.6"),
            ("/tmp/perf-12.map", DsoKind::Anonymous, "[JIT] tid 12"),
            (
                "/lib/modules/6.1/kernel/snd-pcm.ko.xz",
                DsoKind::Module,
                "[snd_pcm]",
            ),
            ("[ext4]", DsoKind::Module, "[ext4]"),
            ("/boot/vmlinux", DsoKind::Kernel, "[kernel.vmlinux]"),
            ("[vdso]", DsoKind::Vdso, "[vdso]"),
            ("/", DsoKind::File, "/"),
        ] {
            assert_eq!(short_name(name, kind), expected);
        }
    }
}
