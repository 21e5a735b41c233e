//! Split units: the skeleton stays in the program, the entries lie in a file of their own (`.dwo`) or, many together,
//! in a package beside the program (`.dwp`).

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use oxperf_objects::{Found, Locator};

use super::Dwarf;
use super::sections::{PackageSections, Sections};
use super::unit_head::{UnitHead, UnitHome, UnitRoot, root};
use crate::cache::identity::keepable;

/// Finds the other parts of split units.
#[derive(Debug)]
pub(super) struct Split {
    locator: Locator,
    /// The recorded path of the program.
    program: Vec<u8>,
    package: OnceLock<Option<PackageSections>>,
    /// True if a part was asked for that is not there, or that answers are not to be kept of.
    misses: AtomicBool,
}

impl Split {
    /// Looks beside the program of that recorded path, and where its units say.
    pub(super) fn new(locator: Locator, program: &[u8]) -> Split {
        Split {
            locator,
            program: program.to_owned(),
            package: OnceLock::new(),
            misses: AtomicBool::new(false),
        }
    }

    /// Returns whether all parts were there that were asked for, in files that answers may be kept of.
    pub(super) fn is_whole(&self) -> bool {
        !self.misses.load(Ordering::Relaxed)
    }

    /// The package beside the program.
    fn package(&self) -> Option<&PackageSections> {
        let open = || PackageSections::open(self.open(&[&self.program[..], b".dwp"].concat())?);
        self.package.get_or_init(open).as_ref()
    }

    fn open(&self, path: &[u8]) -> Option<Found> {
        let found = self.locator.companion(path).ok()?;
        if keepable(&found).is_none() {
            self.misses.store(true, Ordering::Relaxed);
        }
        Some(found)
    }

    /// The head of a unit: its own first entry, or that of its other part where it is but a skeleton. A part that is
    /// not there, or of another build, leaves the skeleton: lines without functions.
    pub(super) fn head<'a>(
        &'a self,
        dwarf: &Dwarf<'a>,
        skeleton: &UnitRoot<'a>,
    ) -> Option<UnitHead> {
        if skeleton.dwo_name.is_some() {
            if let Some(part) = self.part(dwarf, skeleton) {
                return Some(part);
            }
            self.misses.store(true, Ordering::Relaxed);
        }
        UnitHead::of(skeleton, UnitHome::Here)
    }

    fn part<'a>(&'a self, dwarf: &Dwarf<'a>, skeleton: &UnitRoot<'a>) -> Option<UnitHead> {
        let id = skeleton.unit.dwo_id?;
        if let Some(part) = self.package().and_then(|package| package.unit(id, dwarf)) {
            return head_of(&part, skeleton, UnitHome::Package(id));
        }
        let text = |value: Option<_>| dwarf.attr_string(&skeleton.unit, value?).ok();
        let name = text(skeleton.dwo_name)?;
        let name = Path::new(std::ffi::OsStr::from_bytes(name.slice()));
        let base = text(skeleton.comp_dir)
            .map(|base| base.slice())
            .unwrap_or_default();
        let path = Path::new(std::ffi::OsStr::from_bytes(base)).join(name);
        let sections = Box::new(Sections::open(
            self.open(path.as_os_str().as_bytes())?.into(),
            true,
        )?);
        // The file moves into the head that is read from it.
        let mut head = {
            let mut part = sections.dwarf();
            part.file_type = gimli::DwarfFileType::Dwo;
            head_in(&part, skeleton)?
        };
        head.home = UnitHome::File(sections);
        Some(head)
    }

    /// The sections that a unit's entries lie in.
    pub(super) fn dwarf<'a>(&'a self, here: &Dwarf<'a>, home: &'a UnitHome) -> Option<Dwarf<'a>> {
        match home {
            UnitHome::Here => None,
            UnitHome::File(sections) => {
                let mut part = sections.dwarf();
                part.make_dwo(here);
                Some(part)
            }
            UnitHome::Package(id) => self.package()?.unit(*id, here),
        }
    }
}

fn head_of(part: &Dwarf<'_>, skeleton: &UnitRoot<'_>, home: UnitHome) -> Option<UnitHead> {
    Some(UnitHead {
        home,
        ..head_in(part, skeleton)?
    })
}

/// The head of the part with the skeleton's id. Addresses count from where the skeleton says.
fn head_in(part: &Dwarf<'_>, skeleton: &UnitRoot<'_>) -> Option<UnitHead> {
    let mut headers = part.units();
    while let Ok(Some(header)) = headers.next() {
        let Some(root) = root(part, header) else {
            continue;
        };
        if root.unit.dwo_id == skeleton.unit.dwo_id {
            let mut head = UnitHead::of(&root, UnitHome::Here)?;
            head.low_pc = skeleton.unit.low_pc;
            head.addr_base = skeleton.unit.addr_base;
            if root.unit.header.version() < 5 {
                head.rnglists_base = skeleton.unit.rnglists_base;
            }
            return Some(head);
        }
    }
    None
}
