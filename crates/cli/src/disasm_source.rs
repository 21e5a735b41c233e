//! The code of functions: the files that hold it, each opened and indexed once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use oxperf_disasm::Syntax;
use oxperf_listing::{
    CodeIndex, CodeNames, DataTypes, Listing, ListingLine, interleave, list, typed_data,
};
use oxperf_machine::{Dso, DsoKind, Machine};
use oxperf_objects::{Contents, Elf, ObjectKind, ObjectQuery, SourceFiles};
use oxperf_profile::FunctionIpc;
use oxperf_profile::{Block, ProfileDso as Object, ProfileSymbol};
use oxperf_query::SymbolOptions;
use oxperf_resolve::{SymbolSource, base_of_module, is_stub};
use oxperf_symbols::{DebugInfo, Demangling, SourceLine, SymbolStore, SymbolTable, demangle};

use crate::output::print_error;

/// The facts that are shown of code beside its instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct CodeOptions {
    /// Use debug files and source text.
    pub(crate) with_source: bool,
    /// The places of source files: the number of folders left out of their paths, and the path before the rest.
    pub(crate) moved_sources: Option<(usize, String)>,
    /// Find the types of the data that instructions work on.
    pub(crate) with_types: bool,
    /// Know other functions by the names of their symbols.
    pub(crate) with_callees: bool,
}

/// The sources of code.
pub(crate) struct Sources<'m> {
    objects: OpenedObjects<'m>,
    demangling: Demangling,
    files: SourceFiles,
    with_types: bool,
    with_callees: bool,
}

/// The files that hold code, each opened once.
struct OpenedObjects<'m> {
    opener: Opener<'m>,
    opened: HashMap<String, Result<Opened, String>>,
}

/// A file that holds code, with the names of its addresses and its source lines.
struct Opened {
    contents: Contents,
    debug_file: Option<Contents>,
    index: CodeIndex,
    lines: Option<Arc<DebugInfo>>,
    /// The address where the code of a kernel module was that has address 0 in its file.
    base: Option<u64>,
}

/// The code of a function.
pub(crate) struct Code {
    pub(crate) listing: Listing,
    /// The data that instructions work on, by their addresses, where that is wanted and known.
    pub(crate) data: HashMap<u64, String>,
    /// The functions of the object, where their names are wanted.
    functions: Option<(Arc<SymbolTable>, Demangling)>,
    /// The kernel's image, or the module, that it was read from.
    image: Option<PathBuf>,
    /// The difference from an address of the object to the virtual address of the file, modulo 2^64.
    shift: u64,
    /// Its source lines, where it may have some.
    lines: Option<Arc<DebugInfo>>,
}

impl Code {
    /// The names of the object, by its whole path and in short: the kernel goes by its image, a module by its file.
    pub(crate) fn object_names(&self, object: &Object) -> [String; 2] {
        match &self.image {
            None => [object.long.clone(), object.short.clone()],
            Some(path) => [Some(path.as_os_str()), path.file_name()]
                .map(|name| name.unwrap_or_default().to_string_lossy().into_owned()),
        }
    }

    /// The source line of the code at a virtual address, with the file's whole path or its name alone; `None` where the
    /// object has no lines.
    pub(crate) fn source_line(&self, address: u64, full_path: bool) -> Option<String> {
        // As perf has it where debug information knows the function and has no line.
        let Some(line) = self.lines.as_ref()?.line(address.wrapping_sub(self.shift)) else {
            return Some("??:0".to_owned());
        };
        let SourceLine { file, line, .. } = &line;
        let name = file
            .rsplit('/')
            .next()
            .filter(|_| !full_path)
            .unwrap_or(file);
        Some(format!("{name}:{line}"))
    }

    /// The name of the function at a virtual address.
    pub(crate) fn function_at(&self, address: u64) -> Option<String> {
        let (functions, demangling) = self.functions.as_ref()?;
        let found = functions.lookup(address.wrapping_sub(self.shift))?;
        let name = functions.symbol(found)?.name;
        // Where one function is asked for by its name, the names of others stand as the linker has them.
        let (linked, suffix) = name.split_at(name.find('@').unwrap_or(name.len()));
        let shown = demangle(linked).filter(|_| *demangling == Demangling::On);
        Some(shown.map_or_else(|| name.to_owned(), |shown| shown + suffix))
    }

    /// The instructions per cycle of the function, by virtual addresses, from the blocks between branches.
    pub(crate) fn pace(&self, blocks: &[Block]) -> FunctionIpc {
        let moved = |address: u64| address.wrapping_add(self.shift);
        let blocks = blocks.iter().map(|block| Block {
            start: block.start.map(moved),
            end: moved(block.end),
            ..*block
        });
        let instructions = self.listing.lines.iter().filter_map(|line| match line {
            ListingLine::Instruction(instruction) => Some(instruction.address),
            _ => None,
        });
        FunctionIpc::new(
            &blocks.collect::<Vec<_>>(),
            &instructions.collect::<Vec<_>>(),
        )
    }

    /// The virtual address of a place in the function.
    pub(crate) fn virtual_address(&self, address: u64) -> Option<u64> {
        Some(address.wrapping_add(self.shift))
    }
}

impl<'m> Sources<'m> {
    /// Finds files as `store` does.
    pub(crate) fn new(
        symbols: &SymbolOptions,
        machine: &'m Machine,
        store: &'m SymbolStore,
        options: &CodeOptions,
    ) -> Sources<'m> {
        let mut files = SourceFiles::new(symbols.search_paths.clone(), true);
        if let Some((folders, prefix)) = &options.moved_sources {
            files = files.moved(*folders, prefix);
        }
        let opener = Opener {
            machine,
            store,
            kernel: symbols.vmlinux.clone(),
            with_source: options.with_source,
        };
        let objects = OpenedObjects {
            opener,
            opened: HashMap::new(),
        };
        let demangling = symbols.demangling;
        let CodeOptions {
            with_types,
            with_callees,
            ..
        } = *options;
        Sources {
            objects,
            demangling,
            files,
            with_types,
            with_callees,
        }
    }

    /// Reports source files that are there and cannot be read: code is shown without their lines.
    pub(crate) fn report_unreadable(&self) {
        for (path, why) in self.files.unreadable() {
            print_error(&format!(
                "Failed to open {}: {why}, continuing without its lines",
                path.display()
            ));
        }
    }

    /// Finds the types of the data that functions of an object work on: `ask` is given who knows them, and what turns a
    /// function into its virtual addresses. `None` where the object has no code.
    pub(crate) fn data_types<T>(
        &mut self,
        name: &str,
        ask: impl FnOnce(&mut DataTypes<'_>, &dyn Fn(&ProfileSymbol) -> Option<Range<u64>>) -> T,
    ) -> Option<T> {
        let (
            dso,
            Opened {
                contents,
                debug_file,
                index,
                lines,
                base,
            },
        ) = self.objects.get(name).ok()?;
        let image = Elf::parse(contents).ok()?;
        let debug_file = debug_file.as_ref().and_then(elf_of);
        let names = CodeNames::new(index, &image, debug_file.as_ref(), self.demangling);
        let range = |symbol: &ProfileSymbol| {
            let start = virtual_start(&image, (dso.kind, *base), symbol)?;
            Some(start..start.checked_add(symbol.end.checked_sub(symbol.start)?)?)
        };
        Some(ask(
            &mut DataTypes::new(&image, names, lines.as_deref()),
            &range,
        ))
    }

    /// Lists the code of a function of an object, or says why it cannot.
    pub(crate) fn code(
        &mut self,
        name: &str,
        symbol: &ProfileSymbol,
        syntax: Syntax,
    ) -> Result<Code, String> {
        let with_source = self.objects.opener.with_source;
        let (machine, store) = (self.objects.opener.machine, self.objects.opener.store);
        let kernel = self.objects.opener.kernel.clone();
        let (
            dso,
            Opened {
                contents,
                debug_file,
                index,
                lines,
                base,
            },
        ) = self.objects.get(name)?;
        let image = Elf::parse(contents).map_err(|error| error.to_string())?;
        let debug_file = debug_file.as_ref().and_then(elf_of);
        let names = CodeNames::new(index, &image, debug_file.as_ref(), self.demangling);
        let start = virtual_start(&image, (dso.kind, *base), symbol)
            .ok_or_else(|| format!("{name} has no code there."))?;
        let shift = start.wrapping_sub(symbol.start);
        let range = start..symbol.end.wrapping_add(shift);
        let data = match self.with_types {
            true => typed_data(
                &mut DataTypes::new(&image, names, lines.as_deref()),
                range.clone(),
            ),
            false => HashMap::new(),
        };
        let source = lines.as_ref().filter(|_| with_source);
        let (listing, rows) = rayon::join(
            || list(&image, &names, range, syntax).map_err(|error| format!("{name}: {error}")),
            || source.map(|lines| lines.lines_between(symbol.start, symbol.end)),
        );
        let listing = listing?;
        let rows: Vec<(u64, SourceLine)> = rows
            .into_iter()
            .flatten()
            .map(|(offset, line)| (offset.wrapping_add(shift), line))
            .collect();
        let listing = interleave(listing, &rows, &mut self.files);
        let image = match dso.kind {
            DsoKind::Kernel => kernel,
            DsoKind::Module => Some(PathBuf::from(&dso.name)),
            _ => None,
        };
        let lines = lines.clone().filter(|_| !is_stub(&symbol.name));
        let table = || SymbolSource::table(store, dso, machine.objects());
        let functions = self
            .with_callees
            .then(table)
            .flatten()
            .map(|table| (table, self.demangling));
        Ok(Code {
            listing,
            data,
            functions,
            image,
            shift,
            lines,
        })
    }
}

impl<'m> OpenedObjects<'m> {
    /// The object of that name, and its file; or why there is none.
    fn get(&mut self, name: &str) -> Result<(&'m Dso, &Opened), String> {
        let dso = self
            .opener
            .machine
            .objects()
            .dsos()
            .find(|dso| dso.name == name);
        let dso = dso.ok_or_else(|| format!("{name} was not mapped."))?;
        let opened = match self.opened.entry(name.to_owned()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(self.opener.open(dso)),
        };
        Ok((dso, opened.as_ref().map_err(Clone::clone)?))
    }
}

/// The means to open a file of code.
struct Opener<'a> {
    machine: &'a Machine,
    store: &'a SymbolStore,
    kernel: Option<PathBuf>,
    /// Debug files and source text are used.
    with_source: bool,
}

impl Opener<'_> {
    fn open(&self, dso: &Dso) -> Result<Opened, String> {
        match dso.kind {
            DsoKind::File => self.object(dso, ObjectKind::User),
            DsoKind::Vdso => self.object(dso, ObjectKind::Vdso),
            DsoKind::Kernel => self.kernel(dso),
            DsoKind::Module => self.module(dso),
            DsoKind::GuestKernel(_) | DsoKind::GuestModule(_) => {
                Err("Code of guests' kernels is not shown yet.".to_owned())
            }
            DsoKind::Anonymous | DsoKind::KernelSymbol | DsoKind::Jit => {
                Err("This code was made at run time; the recording does not hold it.".to_owned())
            }
        }
    }

    fn module(&self, dso: &Dso) -> Result<Opened, String> {
        let opened = self.object(dso, ObjectKind::KernelModule)?;
        let image =
            Elf::parse(&opened.contents).map_err(|error| format!("{}: {error}", dso.name))?;
        let base = base_of_module(self.store, dso, self.machine.objects(), &image);
        let lines = SymbolSource::source(self.store, dso, self.machine.objects());
        Ok(Opened {
            lines,
            base,
            ..opened
        })
    }

    fn object(&self, dso: &Dso, kind: ObjectKind) -> Result<Opened, String> {
        let wanted = ObjectQuery {
            path: dso.name.as_bytes(),
            build_id: dso.build_id,
            kind,
            process: dso.process,
        };
        let found = self.store.locator().image(&wanted).map_err(|missing| {
            let tried = missing
                .tried
                .iter()
                .map(|(path, why)| format!("\n  {}: {why}", path.display()));
            format!(
                "No file with the recorded identity was found:{}",
                tried.collect::<String>()
            )
        })?;
        let image =
            Elf::parse(&found.contents).map_err(|error| format!("{}: {error}", dso.name))?;
        let debug = self
            .store
            .locator()
            .debug_file(&wanted, Some(&image))
            .ok()
            .filter(|_| self.with_source);
        let debug_file = debug.map(|found| found.contents);
        let by_offset = kind != ObjectKind::KernelModule;
        let (index, lines) = rayon::join(
            || CodeIndex::new(&image, debug_file.as_ref().and_then(elf_of).as_ref()),
            || by_offset.then(|| self.store.source(&wanted).ok()).flatten(),
        );
        Ok(Opened {
            contents: found.contents,
            debug_file,
            index,
            lines,
            base: None,
        })
    }

    fn kernel(&self, dso: &Dso) -> Result<Opened, String> {
        let Some(path) = &self.kernel else {
            let id = dso
                .build_id
                .map(|id| format!(" with build id {id}"))
                .unwrap_or_default();
            return Err(format!(
                "No kernel image{id} was given: name one with --vmlinux FILE."
            ));
        };
        let contents = Contents::open(path).map_err(|why| format!("{}: {why}", path.display()))?;
        let image = Elf::parse(&contents).map_err(|why| format!("{}: {why}", path.display()))?;
        let index = CodeIndex::new(&image, None);
        let lines = SymbolSource::source(self.store, dso, self.machine.objects());
        Ok(Opened {
            contents,
            debug_file: None,
            index,
            lines,
            base: None,
        })
    }
}

fn elf_of(contents: &Contents) -> Option<Elf<'_>> {
    Elf::parse(contents).ok()
}

/// The virtual address of a function's first byte. Functions of files are known by their places there, those of kernel
/// modules by where they ran, and those of the kernel, too, which the image knows by name alone.
fn virtual_start(
    image: &Elf<'_>,
    (kind, base): (DsoKind, Option<u64>),
    symbol: &ProfileSymbol,
) -> Option<u64> {
    if let Some(base) = base {
        return Some(symbol.start.wrapping_sub(base));
    }
    if kind != DsoKind::Kernel {
        return image.offset_to_address(symbol.start);
    }
    let tables = image
        .sections()
        .iter()
        .filter(|section| section.kind == SYMTAB);
    let mut symbols = tables.flat_map(|table| image.symbols(table));
    symbols
        .find(|found| found.name == symbol.name.as_bytes())
        .map(|found| found.value)
}

/// `SHT_SYMTAB`.
const SYMTAB: u32 = 2;
