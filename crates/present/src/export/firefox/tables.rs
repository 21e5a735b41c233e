//! The tables of one track: its stacks, and what their frames are.

use std::hash::Hash;
use std::io::{self, Write};

use oxperf_profile::{ContextTree, DsoId, FrameId, Level, NodeId};
use rustc_hash::FxHashMap;

use super::super::code::CodeExport;
use super::libs::Libs;
use super::{column, optional, separate};
use crate::json::string;

/// Values by the places where they came first.
struct Table<T> {
    list: Vec<T>,
    places: FxHashMap<T, u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table {
            list: Vec::new(),
            places: FxHashMap::default(),
        }
    }
}

impl<T: Clone + Eq + Hash> Table<T> {
    /// The place of a value, which is put there if it is new.
    fn place(&mut self, value: T) -> u32 {
        let Table { list, places } = self;
        *places.entry(value).or_insert_with_key(|value| {
            list.push(value.clone());
            list.len() as u32 - 1
        })
    }
}

/// A row of the frame table.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct FrameRow {
    frame: FrameId,
    /// The number of functions that it is inlined in.
    depth: u32,
    /// The frame of the function that has the code.
    code: FrameId,
}

/// A row of the function table: places of texts and resources.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct FunctionRow {
    name: u32,
    resource: Option<u32>,
    file: Option<u32>,
}

/// A row of the table of symbols.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct SymbolRow {
    lib: u32,
    address: u64,
    size: u64,
    name: u32,
}

/// The stacks and frames that a track's samples use, in the order in which they came.
pub(super) struct Tables<'l> {
    libs: &'l Libs,
    /// Each stack: the stack that called it, and its row of the frame table.
    stacks: Vec<(Option<u32>, u32)>,
    /// The stack of a node of the chains, and the row of its innermost frame.
    stack_of: FxHashMap<NodeId, (Option<u32>, Option<FrameRow>)>,
    frames: Table<FrameRow>,
    functions: Table<FunctionRow>,
    symbols: Table<SymbolRow>,
    resources: Table<DsoId>,
    texts: Table<String>,
}

/// The numbers of a frame that its columns hold.
struct FrameCells {
    address: Option<u64>,
    category: u32,
    function: u32,
    depth: u32,
    symbol: Option<u32>,
    line: Option<u32>,
}

impl Tables<'_> {
    pub(super) fn new(libs: &Libs) -> Tables<'_> {
        Tables {
            libs,
            stacks: Vec::new(),
            stack_of: FxHashMap::from_iter([(ContextTree::ROOT, (None, None))]),
            frames: Table::default(),
            functions: Table::default(),
            symbols: Table::default(),
            resources: Table::default(),
            texts: Table::default(),
        }
    }

    /// The place of a text.
    pub(super) fn text(&mut self, text: &str) -> u32 {
        match self.texts.places.get(text) {
            Some(place) => *place,
            None => self.texts.place(text.to_owned()),
        }
    }

    /// The stack of a chain; `None` for a sample without a frame.
    pub(super) fn stack(&mut self, code: &CodeExport<'_>, chain: NodeId) -> Option<u32> {
        let (mut new, mut node) = (Vec::new(), chain);
        let mut stack = loop {
            if let Some(known) = self.stack_of.get(&node) {
                break *known;
            }
            let Some((caller, run)) = code.profile.chains.node(node) else {
                break (None, None);
            };
            new.push((node, run));
            node = caller;
        };
        for (node, run) in new.into_iter().rev() {
            stack = run
                .iter()
                .fold(stack, |stack, &frame| self.called(code, stack, frame));
            self.stack_of.insert(node, stack);
        }
        stack.0
    }

    /// The stack of a frame that a stack called, with its row.
    fn called(
        &mut self,
        code: &CodeExport<'_>,
        (caller, around): (Option<u32>, Option<FrameRow>),
        frame: FrameId,
    ) -> (Option<u32>, Option<FrameRow>) {
        let has_code = code.frame(frame).is_none_or(|frame| frame.outermost);
        let row = match around.filter(|_| !has_code) {
            Some(around) => FrameRow {
                frame,
                depth: around.depth + 1,
                code: around.code,
            },
            None => FrameRow {
                frame,
                depth: 0,
                code: frame,
            },
        };
        let place = self.frames.place(row);
        self.stacks.push((caller, place));
        (Some(self.stacks.len() as u32 - 1), Some(row))
    }

    /// Appends the tables as members of the track's object.
    pub(super) fn write(&mut self, code: &CodeExport<'_>, text: &mut Vec<u8>) -> io::Result<()> {
        let rows = std::mem::take(&mut self.frames.list);
        let frames: Vec<FrameCells> = rows.iter().map(|row| self.cells(code, *row)).collect();
        self.write_stacks(text)?;
        write_frames(&frames, text)?;
        self.write_functions(text)?;
        self.write_resources(code, text)?;
        self.write_symbols(text)?;
        self.write_texts(text);
        Ok(())
    }

    fn cells(&mut self, code: &CodeExport<'_>, row: FrameRow) -> FrameCells {
        let Some(frame) = code.frame(row.frame) else {
            let name = self.text("");
            return FrameCells {
                address: None,
                category: 0,
                function: self.function(name, None, None),
                depth: 0,
                symbol: None,
                line: None,
            };
        };
        let dso = code.dso(frame);
        let name = match code.function(frame) {
            Some(name) => self.text(name),
            None => self.text(&code.nameless(dso)),
        };
        let file = code.file(frame).map(|file| self.text(file));
        let base = dso.and_then(|dso| code.objects.get(dso.index()));
        let base = base.map_or(0, |object| object.base);
        let relative = |address: u64| address.wrapping_sub(base);
        FrameCells {
            address: dso.map(|_| relative(code.address(row.frame))),
            category: category(dso, frame.level),
            function: self.function(name, dso, file),
            depth: row.depth,
            symbol: self.symbol(code, row.code, base),
            line: frame.source.and_then(|source| Some(source.number?.get())),
        }
    }

    fn function(&mut self, name: u32, dso: Option<DsoId>, file: Option<u32>) -> u32 {
        let resource = dso.map(|dso| self.resources.place(dso));
        self.functions.place(FunctionRow {
            name,
            resource,
            file,
        })
    }

    /// The symbol of a frame that has code.
    fn symbol(&mut self, code: &CodeExport<'_>, id: FrameId, base: u64) -> Option<u32> {
        let frame = code.frame(id)?;
        let symbol = code.profile.symbols.get(frame.symbol?.index())?;
        let row = SymbolRow {
            lib: self.libs.place(symbol.dso)?,
            address: code.entry(id)?.wrapping_sub(base),
            size: symbol.end.saturating_sub(symbol.start),
            name: self.text(&symbol.name),
        };
        Some(self.symbols.place(row))
    }

    fn write_stacks(&self, text: &mut Vec<u8>) -> io::Result<()> {
        write!(text, ",\"stackTable\":{{\"length\":{}", self.stacks.len())?;
        column("prefix", &self.stacks, text, |(prefix, _), text| {
            optional(*prefix, "null", text)
        })?;
        column("frame", &self.stacks, text, |(_, frame), text| {
            write!(text, "{frame}")
        })?;
        text.push(b'}');
        Ok(())
    }

    fn write_functions(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let rows = &self.functions.list;
        write!(text, ",\"funcTable\":{{\"length\":{}", rows.len())?;
        column("name", rows, text, |row, text| write!(text, "{}", row.name))?;
        column("resource", rows, text, |row, text| {
            optional(row.resource, "-1", text)
        })?;
        for (name, value) in [("isJS", "false"), ("relevantForJS", "false")] {
            constant(name, value, rows.len(), text)?;
        }
        column("fileName", rows, text, |row, text| {
            optional(row.file, "null", text)
        })?;
        for name in ["lineNumber", "columnNumber"] {
            constant(name, "null", rows.len(), text)?;
        }
        text.push(b'}');
        Ok(())
    }

    fn write_resources(&mut self, code: &CodeExport<'_>, text: &mut Vec<u8>) -> io::Result<()> {
        let objects = std::mem::take(&mut self.resources.list);
        let name = |dso: &DsoId| {
            let object = code.profile.dsos.get(dso.index());
            self.text(object.map_or("", |dso| &dso.short))
        };
        let names: Vec<u32> = objects.iter().map(name).collect();
        write!(text, ",\"resourceTable\":{{\"length\":{}", objects.len())?;
        column("lib", &objects, text, |dso, text| {
            optional(self.libs.place(*dso), "null", text)
        })?;
        column("name", &names, text, |name, text| write!(text, "{name}"))?;
        constant("host", "null", objects.len(), text)?;
        constant("type", "1", objects.len(), text)?;
        text.push(b'}');
        Ok(())
    }

    fn write_symbols(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let rows = &self.symbols.list;
        write!(text, ",\"nativeSymbols\":{{\"length\":{}", rows.len())?;
        column("address", rows, text, |row, text| {
            write!(text, "{}", row.address)
        })?;
        column("functionSize", rows, text, |row, text| {
            write!(text, "{}", row.size)
        })?;
        column("libIndex", rows, text, |row, text| {
            write!(text, "{}", row.lib)
        })?;
        column("name", rows, text, |row, text| write!(text, "{}", row.name))?;
        text.push(b'}');
        Ok(())
    }

    fn write_texts(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(b",\"stringArray\":[");
        for (index, item) in self.texts.list.iter().enumerate() {
            separate(index, text);
            string::write(item, text);
        }
        text.push(b']');
    }
}

fn write_frames(frames: &[FrameCells], text: &mut Vec<u8>) -> io::Result<()> {
    write!(text, ",\"frameTable\":{{\"length\":{}", frames.len())?;
    column("address", frames, text, |frame, text| {
        optional(frame.address, "-1", text)
    })?;
    column("category", frames, text, |frame, text| {
        write!(text, "{}", frame.category)
    })?;
    column("func", frames, text, |frame, text| {
        write!(text, "{}", frame.function)
    })?;
    column("inlineDepth", frames, text, |frame, text| {
        write!(text, "{}", frame.depth)
    })?;
    for name in ["subcategory", "innerWindowID"] {
        constant(name, "0", frames.len(), text)?;
    }
    column("nativeSymbol", frames, text, |frame, text| {
        optional(frame.symbol, "null", text)
    })?;
    column("line", frames, text, |frame, text| {
        optional(frame.line, "null", text)
    })?;
    constant("column", "null", frames.len(), text)?;
    text.push(b'}');
    Ok(())
}

/// The place of a frame's category in the profile's list.
fn category(dso: Option<DsoId>, level: Level) -> u32 {
    match (dso, level) {
        (None, _) => 0,
        (Some(_), Level::User | Level::GuestUser) => 1,
        (Some(_), Level::Kernel | Level::GuestKernel | Level::Hypervisor) => 2,
    }
}

/// Appends a column whose values are all the same.
fn constant(name: &str, value: &str, length: usize, text: &mut Vec<u8>) -> io::Result<()> {
    column(name, &vec![(); length], text, |(), text| {
        text.write_all(value.as_bytes())
    })
}
