//! Callers picked by their names: the parent of a sample, and callers that stand for all that they called.
//!
//! A chain is read from the outermost caller in or from the innermost out, as the call graph is; that says which of
//! several callers counts.

use std::collections::HashMap;

use rustc_hash::FxHashMap;

use super::{Detail, DetailId, DetailText, FrameId, NodeId, Profile};
use crate::ChainOrder;

impl Profile {
    /// Tells of every sample its parent, as [`Detail::Parent`]: the first function of its chain whose name is one.
    pub fn note_parents(&mut self, order: ChainOrder, is_parent: impl Fn(&str) -> bool) {
        let wanted = self.functions(is_parent);
        let mut names: HashMap<&str, u64> = HashMap::new();
        let mut texts = std::mem::take(&mut self.details.texts);
        let mut of_chain: FxHashMap<NodeId, Option<u64>> = FxHashMap::default();
        for chain in self
            .events
            .iter()
            .flat_map(|event| &event.groups)
            .map(|group| group.chain)
        {
            of_chain.entry(chain).or_insert_with(|| {
                let symbol = self.first(chain, order, &wanted)?;
                let name = self
                    .symbols
                    .get(self.frames.get(symbol.index())?.symbol?.index())?
                    .name
                    .as_str();
                Some(*names.entry(name).or_insert_with(|| {
                    texts.push(DetailText {
                        order: name.as_bytes().to_vec(),
                        text: name.to_owned(),
                    });
                    texts.len() as u64 - 1
                }))
            });
        }
        self.details.texts = texts;
        let mut noted = Noted::new(self);
        let mut events = std::mem::take(&mut self.events);
        for group in events.iter_mut().flat_map(|event| &mut event.groups) {
            group.detail = noted.of(
                self,
                group.detail,
                of_chain.get(&group.chain).copied().flatten(),
            );
        }
        self.events = events;
        (self.details.kinds, self.details.values) = (noted.kinds, noted.values);
    }

    /// Moves samples to the last function of their chains whose name is one, and forgets what the chain was before it.
    pub fn ignore_callees(&mut self, order: ChainOrder, is_root: impl Fn(&str) -> bool) {
        let wanted = self.functions(is_root);
        let mut moved: FxHashMap<NodeId, Option<(FrameId, NodeId)>> = FxHashMap::default();
        let mut events = std::mem::take(&mut self.events);
        for group in events.iter_mut().flat_map(|event| &mut event.groups) {
            let to = *moved.entry(group.chain).or_insert_with(|| {
                let mut frames: Vec<FrameId> = self.chains.path_to_root(group.chain).collect();
                frames.reverse();
                let is_wanted =
                    |frame: &FrameId| wanted.get(frame.index()).copied().unwrap_or(false);
                let left = match order {
                    ChainOrder::Caller => &frames[frames.iter().rposition(is_wanted)?..],
                    ChainOrder::Callee => &frames[..=frames.iter().position(is_wanted)?],
                };
                let root = if order == ChainOrder::Caller {
                    left.first()
                } else {
                    left.last()
                };
                Some((*root?, self.chains.insert(left)))
            });
            if let Some((frame, chain)) = to {
                (group.frame, group.chain) = (frame, chain);
            }
        }
        self.events = events;
        self.chains.seal();
    }

    /// Which frames are in functions of these names; those that were inlined do not count.
    fn functions(&self, is_one: impl Fn(&str) -> bool) -> Vec<bool> {
        let symbols: Vec<bool> = self
            .symbols
            .iter()
            .map(|symbol| !symbol.inlined && is_one(&symbol.name))
            .collect();
        let of_frame = |symbol: Option<super::SymbolId>| {
            symbol.and_then(|id| symbols.get(id.index()).copied())
        };
        self.frames
            .iter()
            .map(|frame| of_frame(frame.symbol).unwrap_or(false))
            .collect()
    }

    fn first(&self, chain: NodeId, order: ChainOrder, wanted: &[bool]) -> Option<FrameId> {
        let mut frames = self
            .chains
            .path_to_root(chain)
            .filter(|frame| wanted.get(frame.index()).copied().unwrap_or(false));
        match order {
            ChainOrder::Callee => frames.next(),
            ChainOrder::Caller => frames.last(),
        }
    }
}

/// The combinations of details with parents among them.
struct Noted {
    kinds: Vec<Detail>,
    values: Vec<Option<u64>>,
    known: FxHashMap<(DetailId, Option<u64>), DetailId>,
}

impl Noted {
    fn new(profile: &Profile) -> Noted {
        let mut kinds = profile.details.kinds.clone();
        kinds.push(Detail::Parent);
        Noted {
            kinds,
            values: Vec::new(),
            known: FxHashMap::default(),
        }
    }

    fn of(&mut self, profile: &Profile, before: DetailId, parent: Option<u64>) -> DetailId {
        let width = self.kinds.len();
        *self.known.entry((before, parent)).or_insert_with(|| {
            let place = self.values.len() / width;
            let old = width - 1;
            let values = profile
                .details
                .values
                .get(before.index() * old..(before.index() + 1) * old);
            self.values.extend_from_slice(values.unwrap_or_default());
            self.values.push(parent);
            self.values.resize((place + 1) * width, None);
            DetailId(u32::try_from(place).unwrap_or(u32::MAX))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CommId, ThreadId};
    use crate::{DsoId, EventProfile, Frame, Level, ProfileSymbol, SampleGroup, SymbolId};

    /// One sample of `main` calling `work` calling `main_loop`.
    fn profile() -> Profile {
        let mut profile = Profile::default();
        for (nth, name) in ["main", "work", "main_loop"].into_iter().enumerate() {
            let id = nth as u32;
            let (start, end) = (u64::from(id) * 16, u64::from(id) * 16 + 16);
            profile.symbols.push(ProfileSymbol {
                name: name.to_owned(),
                dso: DsoId(0),
                start,
                end,
                inlined: false,
                is_data: false,
            });
            let symbol = Some(SymbolId(id));
            profile.frames.add(Frame {
                dso: None,
                symbol,
                address: start,
                dso_address: start,
                level: Level::User,
                source: None,
                alone: false,
                outermost: true,
            });
        }
        let chain = profile.chains.insert(&[FrameId(0), FrameId(1), FrameId(2)]);
        let group = SampleGroup {
            thread: ThreadId(0),
            comm: CommId(0),
            detail: DetailId(0),
            frame: FrameId(2),
            branch: None,
            history: None,
            chain,
            samples: 1,
            period: 1,
            latency: 0,
            order: 0,
        };
        profile.events.push(EventProfile {
            groups: vec![group],
            sample_count: 1,
            ..EventProfile::default()
        });
        profile
    }

    fn parent(order: ChainOrder) -> Option<String> {
        let mut profile = profile();
        profile.note_parents(order, |name| name.starts_with("main"));
        let detail = profile.events[0].groups[0].detail;
        profile
            .details
            .text(detail, Detail::Parent)
            .map(str::to_owned)
    }

    #[test]
    fn the_parent_is_the_first_one_in_the_direction_of_reading() {
        assert_eq!(parent(ChainOrder::Caller).as_deref(), Some("main"));
        assert_eq!(parent(ChainOrder::Callee).as_deref(), Some("main_loop"));
    }

    #[test]
    fn callees_are_forgotten() {
        let moved = |order| {
            let mut profile = profile();
            profile.ignore_callees(order, |name| name == "work");
            let group = profile.events[0].groups[0];
            (
                group.frame,
                profile.chains.path_to_root(group.chain).collect::<Vec<_>>(),
            )
        };
        assert_eq!(
            moved(ChainOrder::Callee),
            (FrameId(1), vec![FrameId(1), FrameId(0)])
        );
        assert_eq!(
            moved(ChainOrder::Caller),
            (FrameId(1), vec![FrameId(2), FrameId(1)])
        );
    }
}
