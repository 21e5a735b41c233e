//! The code of a kernel: from a copy of its memory, its image, or the kernel that runs here.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use intel_pt::{Code, ImageId};
use oxperf_abi::BuildId;
use oxperf_machine::{DsoId, KernelReference, Objects};
use oxperf_objects::{KernelMemory, KernelPiece, KernelSymbol};
use rustc_hash::FxHashMap;

use super::modules::ModuleCode;
use super::patches::Patches;
use crate::trace::CodeChange;

/// The places where a kernel's code is looked for, the preferred ones first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KernelSearchPaths {
    /// Code that the recording holds itself, such as that of BPF programs: addresses and bytes.
    pub parts: Vec<(u64, Vec<u8>)>,
    /// The image that the user names (`--vmlinux`); taken whatever its identity.
    pub named_image: Option<PathBuf>,
    /// Folders with a copy of the kernel's memory (`kcore`) and its symbols (`kallsyms`).
    pub copies: Vec<PathBuf>,
    /// A folder of such folders by build id: `~/.debug/[kernel.kcore]`.
    pub cached_copies: Option<PathBuf>,
    /// Images that are taken if they have the recorded build id.
    pub images: Vec<PathBuf>,
    /// A list of the kernel's symbols (a copy of `/proc/kallsyms`): what the code in modules' files calls.
    pub symbols: Option<PathBuf>,
    /// The build id that the kernel that runs here must have to be asked; `None` where it is not asked.
    pub running: Option<BuildId>,
}

/// A kernel's code.
#[derive(Debug, Default)]
pub(super) struct KernelCode {
    memories: Vec<KernelMemory>,
    patches: Patches,
    /// The file of its symbols.
    list: Option<PathBuf>,
    symbols: OnceLock<FxHashMap<Box<[u8]>, u64>>,
}

/// The identity of a kernel, as a recording has it.
#[derive(Clone, Copy, Debug, Default)]
struct Identity<'m> {
    build_id: Option<BuildId>,
    symbol: Option<KernelSymbol<'m>>,
}

impl<'m> Identity<'m> {
    fn of(objects: &'m Objects) -> Identity<'m> {
        let reference = objects.kernel_reference();
        let build_id = objects
            .kernel()
            .and_then(|kernel| objects.dso(kernel).build_id);
        Identity {
            build_id,
            symbol: reference.map(as_objects_know_it),
        }
    }
}

fn as_objects_know_it(reference: &KernelReference) -> KernelSymbol<'_> {
    KernelSymbol {
        name: reference.symbol.as_bytes(),
        address: reference.address,
    }
}

impl KernelCode {
    /// Finds the code of a machine's kernel as it was before any of the changes.
    pub(super) fn find(
        places: &KernelSearchPaths,
        objects: &Objects,
        changes: &[CodeChange],
    ) -> KernelCode {
        let identity = Identity::of(objects);
        // The kernel's mapping goes on to the end of all addresses; its text does not.
        const LONGEST: u64 = 64 << 20;
        let shown =
            |(at, _): (Range<u64>, _)| at.start..at.end.min(at.start.saturating_add(LONGEST));
        let wanted: Vec<_> = objects.kernel_stretches().map(shown).collect();
        let parts = Some(places.parts.clone())
            .filter(|parts| !parts.is_empty())
            .map(KernelMemory::of_parts);
        let memories = parts
            .into_iter()
            .chain(places.memory(identity, &wanted))
            .collect();
        let list = places
            .symbols
            .clone()
            .or_else(|| places.list_of_running(identity));
        let mut code = KernelCode {
            memories,
            list,
            ..KernelCode::default()
        };
        for change in changes.iter().rev() {
            code.patch(change.address, &change.old);
        }
        code
    }

    /// Finds the code of a guest's kernel, of which the recording may have the place of a symbol.
    pub(super) fn find_of_guest(
        places: &KernelSearchPaths,
        reference: Option<&KernelReference>,
    ) -> KernelCode {
        let identity = Identity {
            build_id: None,
            symbol: reference.map(as_objects_know_it),
        };
        let memories = places.memory(identity, &[]).into_iter().collect();
        KernelCode {
            memories,
            ..KernelCode::default()
        }
    }

    /// True when any code was found.
    pub(super) fn is_known(&self) -> bool {
        !self.memories.is_empty()
    }

    /// Puts bytes in the place of those at an address.
    pub(super) fn patch(&mut self, address: u64, bytes: &[u8]) {
        let memories = &self.memories;
        self.patches.add(address, bytes, &|address| {
            memories.iter().find_map(|memory| memory.at(address))
        });
    }

    /// Changes with every patch.
    pub(super) fn version(&self) -> u32 {
        self.patches.version()
    }

    /// The code around an address.
    pub(super) fn at(&self, address: u64) -> Option<Code<'_>> {
        if let Some(code) = self.patches.at(address) {
            return Some(code);
        }
        let (number, piece) = self
            .memories
            .iter()
            .enumerate()
            .find_map(|(number, memory)| Some((number as u64, memory.at(address)?)))?;
        let image = KERNEL_IMAGE | number << 16 | piece.number as u64;
        self.unchanged(address, image, piece)
    }

    /// The code around an address of a module that lies here.
    pub(super) fn in_module<'m>(
        &self,
        address: u64,
        dso: DsoId,
        module: &'m ModuleCode,
    ) -> Option<Code<'m>> {
        let memory = KernelPiece {
            number: 0,
            start: module.start,
            bytes: &module.bytes,
        };
        self.unchanged(address, MODULE_IMAGE | u64::from(dso.0), memory)
    }

    /// The code around an address in a piece of memory, up to where it was changed.
    fn unchanged<'b>(&self, address: u64, image: u64, memory: KernelPiece<'b>) -> Option<Code<'b>> {
        let KernelPiece {
            start: from, bytes, ..
        } = memory;
        let free = self.patches.free_around(address);
        let start = free.start.max(from);
        let first = usize::try_from(start - from).ok()?;
        let length = usize::try_from(free.end.saturating_sub(start)).unwrap_or(usize::MAX);
        let bytes = bytes.get(first..)?;
        let bytes = &bytes[..length.min(bytes.len())];
        let image = ImageId(image | u64::from(self.version()) << 24);
        Some(Code {
            image,
            offset: start - from,
            start,
            bytes,
        })
    }

    /// The address of a symbol of the kernel or of one of its modules.
    pub(super) fn symbol(&self, name: &[u8]) -> Option<u64> {
        let read = || match self.list.as_deref().map(fs::read) {
            Some(Ok(text)) => text
                .split(|byte| *byte == b'\n')
                .filter_map(symbol_of)
                .collect(),
            _ => self
                .memories
                .iter()
                .flat_map(KernelMemory::symbols)
                .collect(),
        };
        self.symbols.get_or_init(read).get(name).copied()
    }
}

const RUNNING_LIST: &str = "/proc/kallsyms";

/// Marks the images of a kernel; others have numbers below.
const KERNEL_IMAGE: u64 = 1 << 60;
/// Marks the files of its modules.
const MODULE_IMAGE: u64 = 1 << 59;

impl KernelSearchPaths {
    /// The first place that has the kernel's memory: of the one that runs here what is `wanted`.
    fn memory(&self, identity: Identity<'_>, wanted: &[Range<u64>]) -> Option<KernelMemory> {
        let named = self.named_image.as_deref();
        let named = named.and_then(|path| KernelMemory::image(path, None, identity.symbol).ok());
        let copies = || {
            let cached = identity.build_id.into_iter().flat_map(|id| self.cached(id));
            let mut folders = self.copies.iter().cloned().chain(cached);
            folders.find_map(|folder| copy(&folder, identity.symbol))
        };
        let images = || {
            let id = identity.build_id?;
            self.images
                .iter()
                .find_map(|path| KernelMemory::image(path, Some(id), identity.symbol).ok())
        };
        named
            .or_else(copies)
            .or_else(images)
            .or_else(|| self.of_running(identity, wanted))
    }

    /// The folders of a build id.
    fn cached(&self, id: BuildId) -> Vec<PathBuf> {
        let Some(cache) = &self.cached_copies else {
            return Vec::new();
        };
        let entries = fs::read_dir(cache.join(id.to_string()))
            .into_iter()
            .flatten();
        let mut folders: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        folders.sort_unstable();
        folders
    }

    fn is_running(&self, identity: Identity<'_>) -> bool {
        self.running
            .zip(identity.build_id)
            .is_some_and(|(a, b)| a.padded() == b.padded())
    }

    /// The list of symbols of the kernel that runs here, if it is the recorded one.
    fn list_of_running(&self, identity: Identity<'_>) -> Option<PathBuf> {
        self.is_running(identity)
            .then(|| PathBuf::from(RUNNING_LIST))
    }

    fn of_running(&self, identity: Identity<'_>, wanted: &[Range<u64>]) -> Option<KernelMemory> {
        if !self.is_running(identity) || !has_symbol(Path::new(RUNNING_LIST), identity.symbol) {
            return None;
        }
        KernelMemory::running(Path::new("/proc/kcore"), wanted).ok()
    }
}

/// The copy in a folder, if it is of the recorded boot.
fn copy(folder: &Path, symbol: Option<KernelSymbol<'_>>) -> Option<KernelMemory> {
    let same = has_symbol(&folder.join("kallsyms"), symbol);
    KernelMemory::copied(&folder.join("kcore"))
        .ok()
        .filter(|_| same)
}

/// True when a list of a kernel's symbols has a symbol at its address.
fn has_symbol(kallsyms: &Path, symbol: Option<KernelSymbol<'_>>) -> bool {
    let Some(symbol) = symbol else { return true };
    // No further than needed: the running kernel writes its list as it is read.
    let Ok(list) = File::open(kallsyms) else {
        return false;
    };
    BufReader::new(list)
        .split(b'\n')
        .map_while(Result::ok)
        .any(|line| {
            symbol_of(&line)
                .is_some_and(|(name, address)| *name == *symbol.name && address == symbol.address)
        })
}

/// The symbol in a line of such a list: `ffffffff81000000 T _text`.
fn symbol_of(line: &[u8]) -> Option<(Box<[u8]>, u64)> {
    let mut words = line.split(u8::is_ascii_whitespace);
    let address = u64::from_str_radix(std::str::from_utf8(words.next()?).ok()?, 16).ok()?;
    Some((words.nth(1)?.into(), address))
}
