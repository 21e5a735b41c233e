//! The sections of an object that hold unwind tables, and the entry for an address in them.

use std::ops::Range;
use std::sync::OnceLock;

use gimli::{
    BaseAddresses, CieOrFde, DebugFrame, EhFrame, EhFrameHdr, EndianSlice, FrameDescriptionEntry,
    RunTimeEndian, UnwindContext, UnwindSection,
};
use oxperf_objects::{Contents, Elf};

use crate::arch::Arch;
use crate::row::Row;

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// The reason why an address has no row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoRow {
    /// No entry is for it.
    NotCovered,
    /// The entry for it cannot be read.
    Damaged,
}

/// `.eh_frame`, with its search table where it has one.
#[derive(Debug)]
pub(crate) struct EhTables {
    frame: Part,
    header: Option<Part>,
    text: u64,
    got: u64,
    index: OnceLock<Vec<Covered>>,
}

/// `.debug_frame`.
#[derive(Debug)]
pub(crate) struct DebugTables {
    bytes: Vec<u8>,
    index: OnceLock<Vec<Covered>>,
}

/// A section in the file, and where it lies in memory.
#[derive(Clone, Debug)]
struct Part {
    bytes: Range<usize>,
    address: u64,
}

/// The addresses that an entry is for, and where it stands.
#[derive(Clone, Copy, Debug)]
struct Covered {
    start: u64,
    end: u64,
    offset: usize,
}

impl EhTables {
    /// Those of an image; `None` where it has none.
    pub(crate) fn of(image: &Elf<'_>) -> Option<EhTables> {
        let part = |name: &[u8]| {
            let section = image.section(name)?;
            let bytes = image.bytes_of(section)?;
            let start = usize::try_from(section.offset).ok()?;
            Some(Part {
                bytes: start..start + bytes.len(),
                address: section.address,
            })
        };
        let address = |name| image.section(name).map_or(0, |section| section.address);
        Some(EhTables {
            frame: part(b".eh_frame").filter(|part| !part.bytes.is_empty())?,
            header: part(b".eh_frame_hdr"),
            text: address(b".text"),
            got: address(b".got"),
            index: OnceLock::new(),
        })
    }

    /// Entries that are all of a file, which lie at an address beside the code of one function.
    pub(crate) fn alone(size: usize, address: u64, function: u64) -> EhTables {
        let frame = Part {
            bytes: 0..size,
            address,
        };
        EhTables {
            frame,
            header: None,
            text: function,
            got: 0,
            index: OnceLock::new(),
        }
    }

    /// The row for an address of the object's own.
    pub(crate) fn row(
        &self,
        file: &Contents,
        endian: RunTimeEndian,
        arch: Arch,
        at: u64,
    ) -> Result<Row, NoRow> {
        let bytes = |part: &Part| file.get(part.bytes.clone()).unwrap_or_default();
        let mut section = EhFrame::new(bytes(&self.frame), endian);
        section.set_vendor(vendor(arch));
        section.set_address_size(arch.address_size());
        let bases = BaseAddresses::default()
            .set_eh_frame(self.frame.address)
            .set_text(self.text)
            .set_got(self.got);
        let entry = match &self.header {
            Some(header) => {
                let bases = bases.clone().set_eh_frame_hdr(header.address);
                by_header(
                    &section,
                    EndianSlice::new(bytes(header), endian),
                    arch,
                    &bases,
                    at,
                )
            }
            None => None,
        };
        let entry = match entry {
            Some(entry) => Some(entry),
            None => by_index(
                &section,
                &bases,
                self.index.get_or_init(|| index(&section, &bases)),
                at,
            )?,
        };
        row(&section, &bases, &entry.ok_or(NoRow::NotCovered)?, arch, at)
    }
}

impl DebugTables {
    /// Those of a file with debug information; `None` where it has none.
    pub(crate) fn of(file: &Elf<'_>) -> Option<DebugTables> {
        let bytes = file.unpacked(".debug_frame")?.into_owned();
        (!bytes.is_empty()).then(|| DebugTables {
            bytes,
            index: OnceLock::new(),
        })
    }

    /// The row for an address of the object's own.
    pub(crate) fn row(&self, endian: RunTimeEndian, arch: Arch, at: u64) -> Result<Row, NoRow> {
        let mut section = DebugFrame::new(&self.bytes, endian);
        section.set_address_size(arch.address_size());
        section.set_vendor(vendor(arch));
        let bases = BaseAddresses::default();
        let index = self.index.get_or_init(|| index(&section, &bases));
        let entry = by_index(&section, &bases, index, at)?.ok_or(NoRow::NotCovered)?;
        row(&section, &bases, &entry, arch, at)
    }
}

fn vendor(arch: Arch) -> gimli::Vendor {
    match arch {
        Arch::X86_64 | Arch::X86 => gimli::Vendor::Default,
        Arch::Aarch64 => gimli::Vendor::AArch64,
    }
}

/// The entry that the search table gives, if it is for the address.
fn by_header<'a>(
    section: &EhFrame<Slice<'a>>,
    header: Slice<'a>,
    arch: Arch,
    bases: &BaseAddresses,
    at: u64,
) -> Option<FrameDescriptionEntry<Slice<'a>>> {
    let header = EhFrameHdr::from(header)
        .parse(bases, arch.address_size())
        .ok()?;
    header
        .table()?
        .fde_for_address(section, bases, at, EhFrame::cie_from_offset)
        .ok()
}

/// The entry that a walk over the section found.
fn by_index<'a, S: UnwindSection<Slice<'a>>>(
    section: &S,
    bases: &BaseAddresses,
    index: &[Covered],
    at: u64,
) -> Result<Option<FrameDescriptionEntry<Slice<'a>>>, NoRow> {
    let after = index.partition_point(|covered| covered.start <= at);
    let covered = after
        .checked_sub(1)
        .and_then(|last| index.get(last))
        .filter(|covered| at < covered.end);
    let Some(covered) = covered else {
        return Ok(None);
    };
    let entry = section.fde_from_offset(bases, S::Offset::from(covered.offset), S::cie_from_offset);
    entry.map(Some).map_err(|_| NoRow::Damaged)
}

/// Every entry of a section by its addresses; what follows damage is not found.
fn index<'a, S: UnwindSection<Slice<'a>>>(section: &S, bases: &BaseAddresses) -> Vec<Covered> {
    let mut entries = section.entries(bases);
    let mut covered = Vec::new();
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(entry) = entry else {
            continue;
        };
        let Ok(entry) = entry.parse(S::cie_from_offset) else {
            continue;
        };
        let (start, end) = (entry.initial_address(), entry.end_address());
        covered.push(Covered {
            start,
            end,
            offset: entry.offset(),
        });
    }
    covered.sort_by_key(|covered| covered.start);
    covered
}

fn row<'a, S: UnwindSection<Slice<'a>, Offset: Copy>>(
    section: &S,
    bases: &BaseAddresses,
    entry: &FrameDescriptionEntry<Slice<'a>>,
    arch: Arch,
    at: u64,
) -> Result<Row, NoRow> {
    let mut context = UnwindContext::new();
    let found = entry
        .unwind_info_for_address(section, bases, &mut context, at)
        .map_err(|_| NoRow::Damaged)?;
    let return_register = entry.cie().return_address_register().0;
    Row::of(
        found,
        section,
        arch,
        return_register,
        entry.is_signal_trampoline(),
    )
    .ok_or(NoRow::Damaged)
}
