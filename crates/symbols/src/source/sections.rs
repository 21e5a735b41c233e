//! The DWARF sections of one file, where they lie in it or unpacked.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use gimli::{DwarfPackageSections, DwarfSections, LocationLists, RunTimeEndian};
use oxperf_objects::{Contents, Elf, Found};

use super::{Dwarf, Slice};

/// A file that stays open, with its sections.
#[derive(Debug)]
pub(super) struct Sections {
    file: Arc<Found>,
    endian: RunTimeEndian,
    dwarf: DwarfSections<Held>,
    is_split: bool,
    /// Location lists of variables, once somebody has asked: lists of DWARF 2 to 4, lists of DWARF 5.
    locations: OnceLock<[Held; 2]>,
}

/// The sections of a package of split units.
#[derive(Debug)]
pub(super) struct PackageSections {
    contents: Contents,
    endian: RunTimeEndian,
    sections: DwarfPackageSections<Held>,
}

/// One section.
#[derive(Debug)]
enum Held {
    InFile(Range<usize>),
    Unpacked(Vec<u8>),
}

impl Held {
    fn bytes<'a>(&'a self, contents: &'a [u8]) -> &'a [u8] {
        match self {
            Held::InFile(range) => contents.get(range.clone()).unwrap_or_default(),
            Held::Unpacked(bytes) => bytes,
        }
    }
}

impl Sections {
    /// The sections of a file; those of split units where `split`. `None` where it is no ELF file with DWARF in it.
    pub(super) fn open(file: Arc<Found>, split: bool) -> Option<Sections> {
        let elf = Elf::parse(&file.contents).ok()?;
        let endian = endian(&elf);
        let dwarf = DwarfSections::load(|id| {
            hold(
                &elf,
                if split {
                    id.dwo_name()
                } else {
                    Some(id.name())
                },
            )
        })
        .ok()?;
        let has_units = elf.has_debug_section(if split {
            ".debug_info.dwo"
        } else {
            ".debug_info"
        });
        has_units.then_some(Sections {
            file,
            endian,
            dwarf,
            is_split: split,
            locations: OnceLock::new(),
        })
    }

    /// The bytes of the whole file.
    pub(super) fn contents(&self) -> &[u8] {
        &self.file.contents
    }

    /// The sections for gimli.
    pub(super) fn dwarf(&self) -> Dwarf<'_> {
        self.dwarf
            .borrow(|held| Slice::new(held.bytes(&self.file.contents), self.endian))
    }

    /// The lists of where variables are held, for gimli.
    pub(super) fn locations(&self) -> LocationLists<Slice<'_>> {
        let read = || {
            let elf = Elf::parse(&self.file.contents).ok();
            let names = match self.is_split {
                true => [".debug_loc.dwo", ".debug_loclists.dwo"],
                false => [".debug_loc", ".debug_loclists"],
            };
            names.map(|name| {
                elf.as_ref()
                    .map_or(Held::InFile(0..0), |elf| held(elf, name))
            })
        };
        let [old, new] = self.locations.get_or_init(read);
        let [old, new] =
            [old, new].map(|held| Slice::new(held.bytes(&self.file.contents), self.endian));
        LocationLists::new(old.into(), new.into())
    }
}

impl PackageSections {
    /// The sections of a package file.
    pub(super) fn open(found: Found) -> Option<PackageSections> {
        let Found { contents, .. } = found;
        let elf = Elf::parse(&contents).ok()?;
        let endian = endian(&elf);
        let sections = DwarfPackageSections::load(|id| hold(&elf, id.dwo_name())).ok()?;
        elf.has_debug_section(".debug_cu_index")
            .then_some(PackageSections {
                contents,
                endian,
                sections,
            })
    }

    /// The part of one unit, whose skeleton is in `parent`.
    pub(super) fn unit<'a>(&'a self, id: gimli::DwoId, parent: &Dwarf<'a>) -> Option<Dwarf<'a>> {
        let borrow = |held: &'a Held| Slice::new(held.bytes(&self.contents), self.endian);
        let package = self
            .sections
            .borrow(borrow, Slice::new(&[], self.endian))
            .ok()?;
        package.find_cu(id, parent).ok()?
    }
}

fn endian(elf: &Elf<'_>) -> RunTimeEndian {
    if elf.is_little_endian() {
        RunTimeEndian::Little
    } else {
        RunTimeEndian::Big
    }
}

/// One section of a file, empty where it has none. What nothing here reads is left out.
fn hold(elf: &Elf<'_>, name: Option<&str>) -> gimli::Result<Held> {
    let name = name.filter(|name| !UNUSED.contains(name));
    Ok(name.map_or(Held::InFile(0..0), |name| held(elf, name)))
}

fn held(elf: &Elf<'_>, name: &str) -> Held {
    match elf.unpacked(name) {
        Some(Cow::Owned(bytes)) => Held::Unpacked(bytes),
        Some(Cow::Borrowed(_)) => Held::InFile(range(elf, name).unwrap_or_default()),
        None => Held::InFile(0..0),
    }
}

/// Sections that may be large and tell nothing of lines and functions. Where variables are held is read when somebody
/// asks.
const UNUSED: [&str; 10] = [
    ".debug_loc",
    ".debug_loclists",
    ".debug_macinfo",
    ".debug_macro",
    ".debug_names",
    ".debug_types",
    ".debug_loc.dwo",
    ".debug_loclists.dwo",
    ".debug_macinfo.dwo",
    ".debug_macro.dwo",
];

fn range(elf: &Elf<'_>, name: &str) -> Option<Range<usize>> {
    let section = elf.section(name.as_bytes())?;
    let start = usize::try_from(section.offset).ok()?;
    Some(start..start.checked_add(usize::try_from(section.size).ok()?)?)
}
