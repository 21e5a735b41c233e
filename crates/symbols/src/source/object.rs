//! The debug information of one object, opened.

use std::sync::{Arc, OnceLock, PoisonError};

use gimli::DebugInfoOffset;
use oxperf_objects::{Elf, Found, Locator};

use super::functions::Functions;
use super::inlined::Inlined;
use super::lines::Lines;
use super::names::{Naming, Origin, REFERENCES_LIMIT, naming};
use super::no_line::Unlined;
use super::sections::Sections;
use super::split::Split;
use super::unit_head::{UnitHead, UnitHome, root};
use super::units::{Unit, Units};
use super::{Dwarf, GimliUnit, SourceFrame, SourceLine};
use crate::cache::identity::keepable;
use crate::demangle::Demangling;

/// The files that an object's debug information lies in, by virtual address. Units are read when they are first asked
/// about.
#[derive(Debug)]
pub(super) struct Object {
    file: File,
    /// The part that several objects have in common.
    common: Option<Box<File>>,
    /// True if there is such a file of which answers may be kept, or none is referred to.
    has_all_common: bool,
    split: Split,
    /// Names of code without lines by the symbols, once there is some.
    unlined: OnceLock<Unlined>,
    demangling: Demangling,
}

/// One file with its units.
#[derive(Debug)]
struct File {
    sections: Sections,
    units: Units,
}

/// One of an object's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Side {
    Own,
    Common,
}

/// A unit of an object's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnitId {
    side: Side,
    offset: usize,
}

/// A unit whose entries can be read, with its sections.
#[derive(Debug)]
pub(super) struct OpenUnit<'a> {
    pub(super) dwarf: Dwarf<'a>,
    pub(super) unit: GimliUnit<'a>,
}

impl OpenUnit<'_> {
    /// Offset of the unit's first entry in it.
    pub(super) fn first_entry(&self) -> usize {
        self.unit.header.size_of_header()
    }
}

impl Object {
    /// Opens the debug information in `found`; `program` is the recorded path of what ran. `None` where the file has
    /// none that can be read.
    pub(super) fn open(
        found: &Arc<Found>,
        program: &[u8],
        locator: &Locator,
        demangling: Demangling,
    ) -> Option<Object> {
        let sections = Sections::open(Arc::clone(found), false)?;
        let units = Units::find(sections.dwarf(), true);
        let (common, is_keepable) = common_file(found, locator).unzip();
        let refers = Elf::parse(&found.contents).is_ok_and(|elf| elf.alternate_link().is_some());
        Some(Object {
            file: File { sections, units },
            has_all_common: is_keepable.unwrap_or(!refers),
            common: common.map(Box::new),
            split: Split::new(locator.clone(), program),
            unlined: OnceLock::new(),
            demangling,
        })
    }

    /// Number of units that there are, and how many of them have been read.
    pub(super) fn units(&self) -> (usize, usize) {
        (self.file.units.len(), self.file.units.touched())
    }

    /// Returns whether all files were there that questions so far led to.
    pub(super) fn is_whole(&self) -> bool {
        self.has_all_common && self.split.is_whole()
    }

    /// The lines of the code from `start` to `end`, each with its first address.
    pub(super) fn lines_between(&self, start: u64, end: u64) -> Vec<(u64, SourceLine)> {
        let Some((dwarf, unit)) = self.unit(start) else {
            return Vec::new();
        };
        self.lines(&dwarf, unit).between(start, end)
    }

    /// The functions that the code at an address belongs to, innermost first; `None` where nothing is known.
    pub(super) fn frames(&self, address: u64) -> Option<Vec<SourceFrame>> {
        self.lined(address)
            .or_else(|| Some(vec![self.unlined(address)?]))
    }

    /// The frame by symbols of code that debug information leaves out.
    fn unlined(&self, address: u64) -> Option<SourceFrame> {
        let read = || {
            Elf::parse(self.file.sections.contents())
                .map(|elf| Unlined::read(&elf))
                .unwrap_or_default()
        };
        let file = self.unlined.get_or_init(read).file(address)?;
        Some(SourceFrame {
            function: None,
            line: Some(SourceLine {
                file,
                line: 0,
                column: 0,
            }),
        })
    }

    fn lined(&self, address: u64) -> Option<Vec<SourceFrame>> {
        let (dwarf, unit) = self.unit(address)?;
        let lines = self.lines(&dwarf, unit);
        let head = self.head(&dwarf, unit)?;
        let part = self.split.dwarf(&dwarf, &head.home);
        let dwarf = part.as_ref().unwrap_or(&dwarf);
        let entries = head.open(dwarf)?;
        let functions = unit
            .functions
            .get_or_init(|| Functions::read(dwarf, &entries));
        let line = lines.find(address);
        let Some(function) = functions.find(address) else {
            return line.map(|line| {
                vec![SourceFrame {
                    function: None,
                    line: Some(line),
                }]
            });
        };
        let inlined = function
            .inlined
            .get_or_init(|| Inlined::read(dwarf, &entries, function.entry));
        let context = Context {
            dwarf,
            entries: &entries,
            unit,
            head,
        };
        let mut frames = vec![SourceFrame {
            function: self.name(&context, Origin::Unit(function.entry)),
            line: None,
        }];
        for call in inlined.at(address) {
            let file = lines
                .file(call.file)
                .filter(|_| call.line > 0 || call.file > 0);
            let called = file.map(|file| SourceLine {
                file,
                line: call.line,
                column: call.column,
            });
            if let Some(caller) = frames.last_mut() {
                caller.line = called;
            }
            let function = call.origin.and_then(|origin| self.name(&context, origin));
            frames.push(SourceFrame {
                function,
                line: None,
            });
        }
        if let Some(innermost) = frames.last_mut() {
            innermost.line = line;
        }
        frames.reverse();
        Some(frames)
    }

    /// The bytes of the file with the entries.
    pub(super) fn contents(&self) -> &[u8] {
        self.file.sections.contents()
    }

    /// The unit that covers an address.
    pub(super) fn unit_of(&self, address: u64) -> Option<UnitId> {
        let unit = self.file.units.at_address(address)?;
        Some(UnitId {
            side: Side::Own,
            offset: unit.offset,
        })
    }

    /// All units of the object's own file.
    pub(super) fn unit_ids(&self) -> impl Iterator<Item = UnitId> {
        self.file.units.all().iter().map(|unit| UnitId {
            side: Side::Own,
            offset: unit.offset,
        })
    }

    /// Offset, in its unit, of the entry of the function that holds an address.
    pub(super) fn function_entry(&self, address: u64) -> Option<usize> {
        let (dwarf, unit) = self.unit(address)?;
        let head = self.head(&dwarf, unit)?;
        let part = self.split.dwarf(&dwarf, &head.home);
        let dwarf = part.as_ref().unwrap_or(&dwarf);
        let entries = head.open(dwarf)?;
        let functions = unit
            .functions
            .get_or_init(|| Functions::read(dwarf, &entries));
        functions.find(address).map(|function| function.entry)
    }

    /// Opens a unit, with what tells where its variables are held.
    pub(super) fn open_unit(&self, id: UnitId) -> Option<OpenUnit<'_>> {
        let file = self.file_of(id.side)?;
        let unit = file
            .units
            .at_offset(id.offset)
            .filter(|unit| unit.offset == id.offset)?;
        let mut dwarf = self.dwarf(id.side);
        let head = match id.side {
            Side::Own => self.head(&dwarf, unit)?,
            Side::Common => whole_head(&dwarf, unit)?,
        };
        let mut locations = file.sections.locations();
        if let Some(part) = self.split.dwarf(&dwarf, &head.home) {
            locations = head.home.locations().unwrap_or_default();
            dwarf = part;
        }
        dwarf.locations = locations;
        let unit = head.open(&dwarf)?;
        Some(OpenUnit { dwarf, unit })
    }

    /// The entry that is meant by `origin` in a unit.
    pub(super) fn entry_at(&self, unit: UnitId, origin: Origin) -> Option<(UnitId, usize)> {
        let (side, offset) = match origin {
            Origin::Unit(entry) => return Some((unit, entry)),
            Origin::File(offset) => (unit.side, offset),
            Origin::Common(offset) => (Side::Common, offset),
        };
        let holder = self.file_of(side)?.units.at_offset(offset)?;
        Some((
            UnitId {
                side,
                offset: holder.offset,
            },
            offset.checked_sub(holder.offset)?,
        ))
    }

    fn file_of(&self, side: Side) -> Option<&File> {
        match side {
            Side::Own => Some(&self.file),
            Side::Common => self.common.as_deref(),
        }
    }

    fn unit(&self, address: u64) -> Option<(Dwarf<'_>, &Unit)> {
        let unit = self.file.units.at_address(address)?;
        Some((self.dwarf(Side::Own), unit))
    }

    /// The sections of a file, with the common ones beside the own.
    fn dwarf(&self, side: Side) -> Dwarf<'_> {
        let common = || self.common.as_ref().map(|common| common.sections.dwarf());
        match side {
            Side::Common => common().unwrap_or_default(),
            Side::Own => {
                let mut dwarf = self.file.sections.dwarf();
                if let Some(common) = common() {
                    dwarf.set_sup(common);
                }
                dwarf
            }
        }
    }

    fn lines<'u>(&self, dwarf: &Dwarf<'_>, unit: &'u Unit) -> &'u Lines {
        unit.lines.get_or_init(|| {
            let header = dwarf.unit_header(DebugInfoOffset(unit.offset));
            header
                .and_then(|header| dwarf.unit(header))
                .map(|unit| Lines::read(dwarf, &unit))
                .unwrap_or_default()
        })
    }

    fn head<'u>(&'u self, dwarf: &Dwarf<'u>, unit: &'u Unit) -> Option<&'u UnitHead> {
        let read = || {
            let header = dwarf.unit_header(DebugInfoOffset(unit.offset)).ok()?;
            self.split.head(dwarf, &root(dwarf, header)?)
        };
        unit.head.get_or_init(read).as_ref()
    }

    /// The name of an entry; remembered, as the same functions are inlined in many places.
    fn name(&self, context: &Context<'_, '_>, origin: Origin) -> Option<Arc<str>> {
        let Origin::Unit(entry) = origin else {
            return self.look_up(context, origin);
        };
        let names = || {
            context
                .unit
                .names
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(known) = names().get(&entry) {
            return known.clone();
        }
        let found = self.look_up(context, origin);
        names().insert(entry, found.clone());
        found
    }

    fn look_up(&self, context: &Context<'_, '_>, origin: Origin) -> Option<Arc<str>> {
        let mut found = Naming::default();
        let mut next = Some((Side::Own, context.head.offset, origin));
        for _ in 0..REFERENCES_LIMIT {
            let Some((side, unit, origin)) = next else {
                break;
            };
            let Some((said, home)) = self.said(context, side, unit, origin) else {
                break;
            };
            found.linkage = found.linkage.or(said.linkage);
            found.name = found.name.or(said.name);
            if found.linkage.is_some() {
                break;
            }
            next = said.origin.map(|origin| (home.0, home.1, origin));
        }
        self.shown(found)
    }

    /// The naming that an entry states which is meant by `origin` in a unit of a file, and the position of that entry.
    fn said(
        &self,
        context: &Context<'_, '_>,
        side: Side,
        unit: usize,
        origin: Origin,
    ) -> Option<(Naming, (Side, usize))> {
        let (side, offset) = match origin {
            Origin::Unit(entry) if side == Side::Own && unit == context.head.offset => {
                return Some((naming(context.dwarf, context.entries, entry)?, (side, unit)));
            }
            Origin::Unit(entry) => (side, unit.checked_add(entry)?),
            Origin::File(offset) => (side, offset),
            Origin::Common(offset) => (Side::Common, offset),
        };
        let holder = self.file_of(side)?.units.at_offset(offset)?;
        let dwarf = self.dwarf(side);
        let entries = whole_head(&dwarf, holder)?.open(&dwarf)?;
        let said = naming(&dwarf, &entries, offset.checked_sub(holder.offset)?)?;
        Some((said, (side, holder.offset)))
    }

    fn shown(&self, said: Naming) -> Option<Arc<str>> {
        let name = said.linkage.or(said.name)?;
        Some(Arc::from(self.demangling.show(name.as_bytes(), "")))
    }
}

/// A unit whose entries are being read.
struct Context<'c, 'a> {
    dwarf: &'c Dwarf<'a>,
    entries: &'c GimliUnit<'a>,
    unit: &'c Unit,
    head: &'c UnitHead,
}

/// The head of a unit that lies in its file as a whole.
fn whole_head<'u>(dwarf: &Dwarf<'_>, unit: &'u Unit) -> Option<&'u UnitHead> {
    let read = || {
        let header = dwarf.unit_header(DebugInfoOffset(unit.offset)).ok()?;
        UnitHead::of(&root(dwarf, header)?, UnitHome::Here)
    };
    unit.head.get_or_init(read).as_ref()
}

fn common_file(found: &Found, locator: &Locator) -> Option<(File, bool)> {
    let elf = Elf::parse(&found.contents).ok()?;
    let common = locator.alternate(&found.path, elf.alternate_link()?).ok()?;
    let is_keepable = keepable(&common).is_some();
    let sections = Sections::open(Arc::new(common), false)?;
    let units = Units::find(sections.dwarf(), false);
    Some((File { sections, units }, is_keepable))
}
