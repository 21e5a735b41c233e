//! `annotate --type-stat`, `--insn-stat`: the places where samples ran, counted by what is known of the data there.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use oxperf_listing::{DataAccess, Miss};
use oxperf_present::annotate::{
    InstructionStatistics, TypeStatistics, Unknown, instruction_statistics, type_statistics,
};
use oxperf_profile::{DsoId, Profile};

use super::options::StatisticsOptions;
use crate::data_types::Seen;
use crate::failure::Failure;
use crate::output::Output;

/// Where a place stands in the order in which perf looks at them, which is the order of instructions that count as much as
/// others: by event, those that are the only one of their object last, then by object and address.
type Turn = (usize, bool, Rc<str>, u64);

/// A place in an object where samples of some events ran.
struct Place {
    turn: Turn,
    /// Of how many events there are samples.
    events: u64,
}

/// What is known so far.
pub(super) struct Statistics {
    /// The places that have not been counted yet, by one of their frames.
    places: HashMap<usize, Place>,
    types: TypeStatistics,
    /// Good and bad places of instructions, and the first place of each with its number there.
    instructions: HashMap<Rc<str>, (u64, u64, (Turn, usize))>,
}

impl Statistics {
    /// Of the places where something ran.
    pub(super) fn new(profile: &Profile) -> Statistics {
        let names: Vec<Rc<str>> = profile
            .dsos
            .iter()
            .map(|dso| dso.short.as_str().into())
            .collect();
        let mut places = HashMap::new();
        // Frames of one place in several programs are one place.
        let mut known = HashMap::new();
        for (nth, event) in profile.events.iter().enumerate() {
            let mut of_event: HashMap<Option<DsoId>, BTreeMap<u64, usize>> = HashMap::new();
            for group in &event.groups {
                let Some(frame) = profile.frames.get(group.frame.index()) else {
                    continue;
                };
                of_event
                    .entry(frame.dso)
                    .or_default()
                    .entry(frame.dso_address)
                    .or_insert(group.frame.index());
            }
            for (dso, addresses) in of_event {
                let name = || {
                    dso.and_then(|dso| names.get(dso.index()).cloned())
                        .unwrap_or_else(|| "".into())
                };
                let is_only = addresses.len() == 1;
                for (address, frame) in addresses {
                    let frame = *known.entry((dso, address)).or_insert(frame);
                    let first = || Place {
                        turn: (nth, is_only, name(), address),
                        events: 0,
                    };
                    places.entry(frame).or_insert_with(first).events += 1;
                }
            }
        }
        Statistics {
            places,
            types: TypeStatistics::default(),
            instructions: HashMap::new(),
        }
    }

    /// Counts a place by what is known there.
    pub(super) fn add(&mut self, seen: Seen) {
        let Some(Place { turn, events }) = self.places.remove(&seen.frame) else {
            return;
        };
        let why = unknown(seen.access);
        self.count(why, events);
        if let Some(DataAccess::Data { followed: true, .. }) = seen.access {
            self.types.followed += events;
        }
        let last = seen.instructions.len().saturating_sub(1);
        for (nth, name) in seen.instructions.into_iter().enumerate() {
            let first = (turn.clone(), nth);
            let (known, missed, earliest) = self
                .instructions
                .entry(name)
                .or_insert_with(|| (0, 0, first.clone()));
            *earliest = first.min(earliest.clone());
            // The instruction that is looked at last is the one that counts.
            *known += if nth == last && why.is_none() {
                events
            } else {
                0
            };
            *missed += if nth == last && why.is_some() {
                events
            } else {
                0
            };
        }
    }

    fn count(&mut self, why: Option<Unknown>, events: u64) {
        match why {
            None => self.types.known += events,
            Some(why) => *self.types.unknown.entry(why).or_default() += events,
        }
    }

    /// What all places come to.
    pub(super) fn finish(mut self) -> Counted {
        let untold = self.places.values().map(|place| place.events).sum();
        if untold > 0 {
            self.count(Some(Unknown::DebugInfo), untold);
        }
        let mut instructions: Vec<_> = self.instructions.into_iter().collect();
        instructions
            .sort_by(|(_, a), (_, b)| (Reverse(a.0 + a.1), &a.2).cmp(&(Reverse(b.0 + b.1), &b.2)));
        let instructions =
            instructions
                .into_iter()
                .map(|(name, (known, unknown, _))| InstructionStatistics {
                    name: name.to_string(),
                    known,
                    unknown,
                });
        Counted {
            types: self.types,
            instructions: instructions.collect(),
        }
    }
}

/// What was counted; nothing where types of data are not asked for.
#[derive(Default)]
pub(super) struct Counted {
    types: TypeStatistics,
    instructions: Vec<InstructionStatistics>,
}

impl Counted {
    /// Writes what is wanted.
    pub(super) fn write(
        &self,
        output: &mut Output,
        wanted: StatisticsOptions,
    ) -> Result<(), Failure> {
        if wanted.by_reason {
            type_statistics(output, &self.types)?;
        }
        if wanted.by_instruction {
            instruction_statistics(output, &self.instructions)?;
        }
        Ok(())
    }
}

/// Why nothing is known.
fn unknown(access: Option<DataAccess>) -> Option<Unknown> {
    let Some(access) = access else {
        return Some(Unknown::Function);
    };
    let DataAccess::Unknown(miss) = access else {
        return None;
    };
    Some(match miss {
        Miss::NoInstruction => Unknown::Instruction,
        Miss::NoMemory => Unknown::Memory,
        Miss::NoDebugInfo => Unknown::DebugInfo,
        Miss::NoUnit => Unknown::Unit,
        Miss::NoVariable => Unknown::Variable,
        Miss::NoType | Miss::NoPointer => Unknown::Type,
        Miss::Outside => Unknown::Offset,
    })
}
