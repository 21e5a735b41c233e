//! Distinct stacks: frames become a number once, and a row once.

use oxperf_collect::StackNames;
use oxperf_profile::{Frame, FrameId, Level, Profile};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

use crate::error::ColumnsError;
use crate::rows::TableRows;
use crate::schema::{Presence, STACKS};
use crate::stack_id::{HashedAddress, HashedFrame, StackHash, StackId};

const STACK_ID: usize = STACKS.place("stack_id");
const SYMBOL: usize = STACKS.place("symbol");
const DSO: usize = STACKS.place("dso");
const MODE: usize = STACKS.place("mode");
const DEPTH: usize = STACKS.place("depth");
const SYMBOLS: usize = STACKS.place("symbols");
const DSOS: usize = STACKS.place("dsos");
const INLINED: usize = STACKS.place("inlined");
const FILES: usize = STACKS.place("files");
const LINES: usize = STACKS.place("lines");
const BUILD_IDS: usize = STACKS.place("build_ids");
const OFFSETS: usize = STACKS.place("offsets");

/// Distinct stacks that are remembered. When there are more, all are forgotten: a later one may get a second row.
const MOST_STACKS: usize = 1 << 19;

/// The parts of frames that rows of stacks have beside names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StackColumns {
    /// Which functions are inlined.
    pub inlined: bool,
    /// Source files and lines.
    pub lines: bool,
    /// Build ids and offsets, by which stacks are told apart, too.
    pub addresses: bool,
}

/// The stacks so far, and the rows of those that are new.
#[derive(Debug)]
pub struct StackTable {
    columns: StackColumns,
    /// The stacks by the hash of their frames' numbers.
    known: FxHashMap<u128, StackId>,
    /// The bytes of the numbers that are hashed.
    numbers: Vec<u8>,
    /// The second hash of each number.
    checks: FxHashMap<i64, u64>,
    /// The text that is hashed.
    text: Vec<u8>,
    /// What rows and hashes have of each frame of names.
    kept: Vec<Option<KeptFrame>>,
    new: TableRows,
}

/// What rows and the hash of a stack have of a frame, so that it is looked up once.
#[derive(Clone, Debug)]
struct KeptFrame {
    hashed: Box<[u8]>,
    symbol: u32,
    dso: u32,
    /// Where it is the leaf of a stack.
    leaf: LeafCodes,
}

/// The numbers of a leaf's texts in their own columns.
#[derive(Clone, Copy, Debug)]
struct LeafCodes {
    symbol: u32,
    dso: u32,
    mode: Option<u32>,
}

impl StackTable {
    /// No stacks.
    pub fn new(columns: StackColumns) -> StackTable {
        let has = |when| match when {
            Presence::Option("--inline") => columns.inlined,
            Presence::Option("--lines") => columns.lines,
            Presence::Option("--raw") => columns.addresses,
            Presence::Option(_) => false,
            Presence::Always | Presence::Recorded => true,
        };
        StackTable {
            columns,
            known: FxHashMap::default(),
            numbers: Vec::new(),
            checks: FxHashMap::default(),
            text: Vec::new(),
            kept: Vec::new(),
            new: TableRows::new(&STACKS, |column| has(column.when)),
        }
    }

    /// The number of a stack, innermost frame first; a new one gets a row.
    ///
    /// # Errors
    /// Another stack has the same number.
    #[inline]
    pub(crate) fn id_of(
        &mut self,
        frames: &[FrameId],
        names: &impl FrameNames,
    ) -> Result<StackId, ColumnsError> {
        self.numbers.clear();
        let numbers = frames.iter().flat_map(|frame| frame.0.to_le_bytes());
        self.numbers.extend(numbers);
        let hash = xxh3_128(&self.numbers);
        match self.known.get(&hash) {
            Some(id) => Ok(*id),
            None => self.add(hash, frames, names),
        }
    }

    /// The rows of the stacks that are new since they were cleared.
    pub fn rows(&self) -> &TableRows {
        &self.new
    }

    /// Forgets the rows, not the stacks.
    pub fn clear_rows(&mut self) {
        self.new.clear();
        self.new.forget_texts();
        self.kept.clear();
    }

    /// Forgets the stacks so far, because frames get new numbers or there are too many. Their rows stay.
    pub fn forget(&mut self) {
        self.known = FxHashMap::default();
        self.checks = FxHashMap::default();
        self.kept.clear();
    }

    fn add(
        &mut self,
        hash: u128,
        frames: &[FrameId],
        names: &impl FrameNames,
    ) -> Result<StackId, ColumnsError> {
        if self.known.len() > MOST_STACKS {
            self.forget();
        }
        let StackColumns {
            lines, addresses, ..
        } = self.columns;
        self.text.clear();
        for frame in frames {
            if addresses {
                let address = names.address(*frame);
                address
                    .hashed(&names.text(*frame, false))
                    .write(&mut self.text);
            } else {
                let kept = keep(&mut self.kept, &mut self.new, *frame, names, lines);
                self.text.extend_from_slice(&kept.hashed);
            }
        }
        let StackHash { id, check } = StackHash::of(&self.text);
        self.known.insert(hash, id);
        // Frames of one name may differ, such as those of one object in several places: they are one stack.
        match self.checks.insert(id.0, check) {
            None => self.push_row(id, frames, names),
            Some(known) if known != check => return Err(ColumnsError::StackClash { id }),
            Some(_) => {}
        }
        Ok(id)
    }

    fn push_row(&mut self, id: StackId, frames: &[FrameId], names: &impl FrameNames) {
        let StackColumns {
            lines, addresses, ..
        } = self.columns;
        let rows = &mut self.new;
        let leaf = frames
            .first()
            .map(|leaf| keep(&mut self.kept, rows, *leaf, names, lines).leaf);
        push_int(rows, STACK_ID, id.0);
        push_int(rows, DEPTH, frames.len() as i64);
        push_code(rows, SYMBOL, leaf.map(|leaf| leaf.symbol));
        push_code(rows, DSO, leaf.map(|leaf| leaf.dso));
        push_code(rows, MODE, leaf.and_then(|leaf| leaf.mode));
        for frame in frames {
            let kept = keep(&mut self.kept, rows, *frame, names, lines);
            push_item(rows, SYMBOLS, kept.symbol.into());
            push_item(rows, DSOS, kept.dso.into());
            if lines || self.columns.inlined {
                push_details(rows, &names.text(*frame, lines));
            }
            if addresses {
                let FrameAddress { build_id, offset } = names.address(*frame);
                push_coded(rows, BUILD_IDS, &build_id);
                push_item(rows, OFFSETS, offset);
            }
        }
        let lists = [SYMBOLS, DSOS, FILES, LINES, INLINED, BUILD_IDS, OFFSETS];
        for place in lists {
            if let Some(column) = rows.at(place) {
                column.end_list();
            }
        }
    }
}

/// What is kept of a frame.
fn keep<'k>(
    kept: &'k mut Vec<Option<KeptFrame>>,
    rows: &mut TableRows,
    id: FrameId,
    names: &impl FrameNames,
    lines: bool,
) -> &'k KeptFrame {
    let place = id.index();
    if kept.len() <= place {
        kept.resize(place + 1, None);
    }
    kept[place].get_or_insert_with(|| {
        let text = names.text(id, lines);
        let mut hashed = Vec::new();
        text.hashed().write(&mut hashed);
        let mut code =
            |place: usize, text: &str| rows.at(place).map_or(0, |column| column.code(text));
        KeptFrame {
            hashed: hashed.into(),
            symbol: code(SYMBOLS, &text.symbol),
            dso: code(DSOS, text.dso),
            leaf: LeafCodes {
                symbol: code(SYMBOL, &text.symbol),
                dso: code(DSO, text.dso),
                mode: text.mode.map(|mode| code(MODE, mode)),
            },
        }
    })
}

fn push_int(rows: &mut TableRows, place: usize, value: i64) {
    if let Some(column) = rows.at(place) {
        column.push_int(value);
    }
}

fn push_code(rows: &mut TableRows, place: usize, code: Option<u32>) {
    if let Some(column) = rows.at(place) {
        match code {
            Some(code) => column.push_code(code),
            None => column.push_null(),
        }
    }
}

fn push_item(rows: &mut TableRows, place: usize, value: i64) {
    if let Some(column) = rows.at(place) {
        column.push_item(value);
    }
}

fn push_coded(rows: &mut TableRows, place: usize, text: &str) {
    if let Some(column) = rows.at(place) {
        let code = column.code(text);
        column.push_item(i64::from(code));
    }
}

/// Source lines and what is inlined.
fn push_details(rows: &mut TableRows, frame: &FrameText<'_>) {
    push_coded(rows, FILES, frame.line.map_or("", |(file, _)| file));
    push_item(rows, LINES, frame.line.map_or(0, |(_, line)| line.into()));
    push_item(rows, INLINED, frame.inlined.into());
}

/// The texts and places of frames.
pub(crate) trait FrameNames {
    /// The texts of a frame; its source line if that is wanted.
    fn text(&self, id: FrameId, lines: bool) -> FrameText<'_>;

    /// Where a frame is.
    fn address(&self, id: FrameId) -> FrameAddress;
}

impl FrameNames for StackNames<'_> {
    fn text(&self, id: FrameId, lines: bool) -> FrameText<'_> {
        FrameText::of(self.profile, id, lines)
    }

    fn address(&self, id: FrameId) -> FrameAddress {
        FrameAddress::of(self, id)
    }
}

/// Where a frame is.
#[derive(Debug, Default)]
pub(crate) struct FrameAddress {
    build_id: String,
    offset: i64,
}

impl FrameAddress {
    fn of(names: &StackNames<'_>, id: FrameId) -> FrameAddress {
        let frame = names.profile.frames.get(id.index());
        let build_id = frame
            .and_then(|frame| frame.dso)
            .and_then(|dso| names.build_id(dso));
        FrameAddress {
            build_id: build_id.map(|id| id.to_string()).unwrap_or_default(),
            offset: frame.map_or(0, |frame| frame.dso_address.cast_signed()),
        }
    }

    fn hashed<'h>(&'h self, text: &'h FrameText<'_>) -> HashedAddress<'h> {
        let stays = self.build_id.is_empty() || text.is_named;
        HashedAddress {
            build_id: &self.build_id,
            offset: self.offset,
            name: stays.then_some((&*text.symbol, text.dso)),
        }
    }
}

/// The texts of a frame.
#[derive(Debug)]
pub(crate) struct FrameText<'a> {
    /// The function, or the object in brackets.
    pub(crate) symbol: std::borrow::Cow<'a, str>,
    /// The object.
    pub(crate) dso: &'a str,
    pub(crate) mode: Option<&'static str>,
    pub(crate) line: Option<(&'a str, i32)>,
    pub(crate) inlined: bool,
    /// `true` if the function is known.
    pub(crate) is_named: bool,
}

/// What stands for an object where nothing is mapped.
const UNKNOWN: &str = "[unknown]";

impl<'a> FrameText<'a> {
    /// The texts of a frame; its source line if that is wanted.
    pub(crate) fn of(names: &'a Profile, id: FrameId, lines: bool) -> FrameText<'a> {
        let Some(frame) = names.frames.get(id.index()) else {
            return FrameText::nowhere();
        };
        let symbol = frame
            .symbol
            .and_then(|symbol| names.symbols.get(symbol.index()));
        let dso = frame.dso.and_then(|dso| names.dsos.get(dso.index()));
        let dso = dso.map_or(UNKNOWN, |dso| dso.short.as_str());
        let line = lines.then(|| line_of(names, frame)).flatten();
        FrameText {
            symbol: match symbol {
                Some(symbol) => symbol.name.as_str().into(),
                None => FrameText::of_object(dso).into(),
            },
            dso,
            mode: frame.dso.map(|_| mode_of(frame.level)),
            line,
            inlined: symbol.is_some_and(|symbol| symbol.inlined),
            is_named: symbol.is_some(),
        }
    }

    /// What stands for a function of an object that has no name.
    pub(crate) fn of_object(dso: &str) -> String {
        format!("[{}]", dso.trim_matches(['[', ']']))
    }

    fn nowhere() -> FrameText<'static> {
        FrameText {
            symbol: UNKNOWN.into(),
            dso: UNKNOWN,
            mode: None,
            line: None,
            inlined: false,
            is_named: false,
        }
    }

    fn hashed(&self) -> HashedFrame<'_> {
        HashedFrame {
            symbol: &self.symbol,
            dso: self.dso,
            line: self.line,
            inlined: self.inlined,
        }
    }
}

fn line_of<'a>(names: &'a Profile, frame: &Frame) -> Option<(&'a str, i32)> {
    let source = frame.source?;
    let file = names.sources.get(source.file.index())?;
    Some((file, source.number?.get().cast_signed()))
}

fn mode_of(level: Level) -> &'static str {
    match level {
        Level::Kernel => "kernel",
        Level::User => "user",
        Level::GuestKernel => "guest_kernel",
        Level::GuestUser => "guest_user",
        Level::Hypervisor => "hypervisor",
    }
}
