//! The names of a profile as cells show them: harmless, each made once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;

use oxperf_analysis::hist::{Field, SortKey};
use oxperf_profile::{CommId, FrameId, NamesFrom, Profile, SourceId};

use crate::report::ReportText;
use crate::text::sanitize;

/// Width of a symbol's address and of the letter for where its name comes from.
const ORIGIN_WIDTH: usize = "0x0000000000000000 k ".len();

/// The names of a profile.
pub(super) struct NameTexts<'a> {
    /// The profile that they are of.
    pub(super) profile: &'a Profile,
    comms: Vec<Cow<'a, str>>,
    dsos: Vec<Cow<'a, str>>,
    symbols: Vec<Cow<'a, str>>,
    sources: Vec<Cow<'a, str>>,
    /// The names of processes: those of their first threads.
    pub(super) leaders: HashMap<i32, CommId>,
    /// Symbols stand behind an address and a letter for where names come from.
    addresses: bool,
}

impl<'a> NameTexts<'a> {
    /// Makes the names of a profile harmless.
    pub(super) fn new(profile: &'a Profile, text: &ReportText) -> NameTexts<'a> {
        let shows_processes = text.columns.contains(&Field::Key(SortKey::Process));
        NameTexts {
            profile,
            comms: profile.comms.iter().map(|name| sanitize(name)).collect(),
            leaders: if shows_processes {
                leaders(profile)
            } else {
                HashMap::new()
            },
            addresses: text.addresses,
            dsos: profile
                .dsos
                .iter()
                .map(|dso| sanitize(&dso.short))
                .collect(),
            sources: profile.sources.iter().map(|text| sanitize(text)).collect(),
            symbols: profile
                .symbols
                .iter()
                .map(|symbol| sanitize(&symbol.name))
                .collect(),
        }
    }

    /// The texts of a frame's source line and file.
    pub(super) fn sources_of(&self, frame: FrameId) -> [Option<SourceId>; 2] {
        let source = self
            .profile
            .frames
            .get(frame.index())
            .and_then(|frame| frame.source);
        [
            source.map(|source| source.line),
            source.map(|source| source.file),
        ]
    }

    /// The text of a source line or file; empty for none.
    pub(super) fn source(&self, source: Option<SourceId>) -> &str {
        source
            .and_then(|source| self.sources.get(source.index()))
            .map_or("", AsRef::as_ref)
    }

    /// A name of threads.
    pub(super) fn comm(&self, comm: CommId) -> &str {
        self.comms.get(comm.index()).map_or("", AsRef::as_ref)
    }

    /// The name of a frame's object; `None` where nothing is mapped.
    pub(super) fn dso(&self, frame: FrameId) -> Option<&str> {
        let dso = self.profile.frames.get(frame.index())?.dso?;
        self.dsos.get(dso.index()).map(AsRef::as_ref)
    }

    /// The name of a frame's symbol.
    pub(super) fn symbol_name(&self, frame: FrameId) -> Option<&str> {
        let symbol = self.profile.frames.get(frame.index())?.symbol?;
        self.symbols.get(symbol.index()).map(AsRef::as_ref)
    }

    /// True for a frame of an inlined function.
    pub(super) fn is_inlined(&self, frame: FrameId) -> bool {
        let symbol = self
            .profile
            .frames
            .get(frame.index())
            .and_then(|frame| frame.symbol);
        symbol
            .and_then(|symbol| self.profile.symbols.get(symbol.index()))
            .is_some_and(|symbol| symbol.inlined)
    }

    /// Appends the address of a symbol and a letter for where its name comes from, where options ask for it.
    pub(super) fn push_origin(&self, buffer: &mut Vec<u8>, frame: FrameId, address: u64) {
        if !self.addresses {
            return;
        }
        let dso = self
            .profile
            .frames
            .get(frame.index())
            .and_then(|frame| frame.dso);
        let from = dso.and_then(|dso| self.profile.origins.get(dso.index()).copied().flatten());
        let letter = from.map_or('!', NamesFrom::letter);
        // Writing to a vector cannot fail. As C does it, zero goes without 0x.
        let _ = match address {
            0 => write!(buffer, "{:<18} {letter} ", 0),
            _ => write!(buffer, "{address:<#18x} {letter} "),
        };
    }

    /// Width of a symbol beside its name.
    pub(super) fn around_names(&self) -> usize {
        "[k] ".len() + if self.addresses { ORIGIN_WIDTH } else { 0 }
    }
}

fn leaders(profile: &Profile) -> HashMap<i32, CommId> {
    let leading = profile
        .threads
        .iter()
        .filter(|thread| thread.tid.0 == thread.pid.0);
    leading.map(|thread| (thread.pid.0, thread.comm)).collect()
}
