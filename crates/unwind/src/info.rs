//! All that one object says about unwinding: read on request, each address once.

use std::sync::{Arc, PoisonError, RwLock};

use gimli::RunTimeEndian;
use oxperf_objects::{Contents, Elf};
use rustc_hash::FxHashMap;

use crate::arch::Arch;
use crate::row::Row;
use crate::tables::{DebugTables, EhTables, NoRow};

/// The rows of an object by address, as far as they were asked for.
type Rows = FxHashMap<u64, Result<Arc<Row>, NoRow>>;

/// The unwind tables of one object.
#[derive(Debug)]
pub struct UnwindInfo {
    /// The file; of code without one its table alone.
    image: Contents,
    /// True if places in the file have other addresses.
    is_file: bool,
    arch: Arch,
    endian: RunTimeEndian,
    eh: Option<EhTables>,
    debug: Option<DebugTables>,
    rows: RwLock<Rows>,
}

impl UnwindInfo {
    /// Takes the tables of an object: those for its exceptions from its image, those for debuggers from its separate
    /// debug file or else from the image, too. `None` when the image is no object for a processor that is known.
    pub fn new(image: Contents, debug: Option<&Contents>) -> Option<UnwindInfo> {
        let elf = Elf::parse(&image).ok()?;
        let arch = Arch::by_elf_machine(elf.machine())?;
        let endian = endian(elf.is_little_endian());
        let debug = debug
            .and_then(|file| Elf::parse(file).ok())
            .and_then(|file| DebugTables::of(&file));
        let (eh, debug) = (EhTables::of(&elf), debug.or_else(|| DebugTables::of(&elf)));
        Some(UnwindInfo {
            arch,
            endian,
            eh,
            debug,
            rows: RwLock::default(),
            image,
            is_file: true,
        })
    }

    /// Takes the table of a function without a file: entries as in `.eh_frame`, which refer to the function's addresses from
    /// where they stand themselves.
    pub fn of_table(
        arch: Arch,
        little_endian: bool,
        function: u64,
        at: u64,
        entries: &[u8],
    ) -> UnwindInfo {
        UnwindInfo {
            arch,
            endian: endian(little_endian),
            eh: Some(EhTables::alone(entries.len(), at, function)),
            debug: None,
            rows: RwLock::default(),
            image: Contents::from_memory(entries.to_vec()),
            is_file: false,
        }
    }

    /// The rules at an instruction, by its offset in the file.
    pub(crate) fn row(&self, offset: u64) -> Result<Arc<Row>, NoRow> {
        let known = self
            .rows
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&offset)
            .cloned();
        known.unwrap_or_else(|| {
            let row = self.find(offset).map(Arc::new);
            let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
            rows.entry(offset).or_insert(row).clone()
        })
    }

    /// The processor whose code the object holds.
    pub(crate) fn arch(&self) -> Arch {
        self.arch
    }

    /// The bytes of the file from an offset on.
    pub(crate) fn bytes(&self, offset: u64) -> Option<&[u8]> {
        let image = Some(&self.image).filter(|_| self.is_file)?;
        image.get(usize::try_from(offset).ok()?..)
    }

    fn find(&self, offset: u64) -> Result<Row, NoRow> {
        let at = match self.is_file {
            true => {
                let elf = Elf::parse(&self.image).map_err(|_| NoRow::Damaged)?;
                elf.offset_to_address(offset).ok_or(NoRow::NotCovered)?
            }
            false => offset,
        };
        let found = self
            .eh
            .as_ref()
            .map(|eh| eh.row(&self.image, self.endian, self.arch, at));
        match (found, &self.debug) {
            (Some(Ok(row)), _) => Ok(row),
            (_, Some(debug)) => debug.row(self.endian, self.arch, at),
            (Some(Err(why)), None) => Err(why),
            (None, None) => Err(NoRow::NotCovered),
        }
    }
}

fn endian(little: bool) -> RunTimeEndian {
    if little {
        RunTimeEndian::Little
    } else {
        RunTimeEndian::Big
    }
}
