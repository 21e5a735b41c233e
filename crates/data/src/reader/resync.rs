//! The search for records behind something that is none.
//!
//! A place is taken for the beginning of a record when several plausible ones follow one another from there on, or
//! when they end exactly where the data do; the more evidence they give, the fewer it takes (see [`Evidence`]). Every place is
//! looked at once and a bounded number of records behind it, so that a search takes time in proportion to the bytes
//! it passes over, whatever these hold.

use super::framing::Framing;
use super::sanity::{Evidence, SanityCheck};

/// The state of the input behind the bytes at hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tail {
    /// More bytes can be had.
    More,
    /// More bytes may come, but not now: whole records must not wait for them.
    Pause,
    /// Nothing.
    End,
}

/// A search on its way. Places count as those of the walk do.
#[derive(Clone, Debug)]
pub(super) struct Search {
    /// The first byte that makes no sense.
    from: u64,
    /// The next place to look at.
    next: u64,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// At `from` stands a whole record, and nothing sensible at its end. Either it states a wrong size, then records
    /// that begin inside of it go on beyond its end, or what stands at its end is broken.
    Liar { end: u64 },
    /// At `from` stands no record.
    Record {
        /// The size stated there, if that alone is what is wrong.
        expected: Option<u64>,
        /// The end of the last record
        chain: Option<u64>,
    },
}

/// The outcome of a search so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// No records from `from` on; the next one begins at `to`.
    Records { from: u64, to: u64 },
    /// Records of unknown kinds follow one another up to known ones.
    UnknownKinds { until: u64 },
    /// The record states its size rightly; what is broken begins at its end.
    Innocent,
    /// No records from `from` to the end of the data.
    Nothing { from: u64, expected: Option<u64> },
    /// No records before `to`, and bytes before it are not needed any more.
    NothingUpTo { to: u64 },
    /// So many bytes are needed from the beginning of those at hand on.
    More { wanted: u64 },
    /// More bytes are needed, and there are none now.
    Pause,
}

/// The outcome of a look at a place.
enum Place {
    Record,
    /// Nothing; the next place worth a look.
    Nothing {
        next: u64,
    },
    /// More bytes are needed, up to this place.
    More {
        until: u64,
    },
}

/// Bytes that are kept in case that they are records of unknown kinds.
const KEPT: u64 = 1 << 20;

impl Search {
    /// Looks for the record that follows the bytes at `from`, which are none; `expected` is the size that they
    /// state when only that is wrong.
    pub(super) fn for_record(from: u64, expected: Option<u64>) -> Search {
        // The bytes at `from` may be a record of an unknown kind, but not one that is known to be cut.
        let chain = expected.is_none().then_some(from);
        Search {
            from,
            next: from,
            what: What::Record { expected, chain },
        }
    }

    /// Looks for the record that follows the bytes at `from`, which are no record of any kind.
    pub(super) fn for_end_of_gap(from: u64) -> Search {
        Search {
            from,
            next: from,
            what: What::Record {
                expected: None,
                chain: None,
            },
        }
    }

    /// Finds out whether the record at `from`, of `size` bytes, is what it says.
    pub(super) fn for_liar(from: u64, size: u64) -> Search {
        Search {
            from,
            next: from + 1,
            what: What::Liar {
                end: from.saturating_add(size),
            },
        }
    }

    /// Goes on with the bytes `rest` that begin at `at`.
    pub(super) fn run(
        &mut self,
        plausible: &SanityCheck,
        rest: &[u8],
        at: u64,
        tail: Tail,
    ) -> Found {
        let view = View {
            plausible,
            rest,
            at,
            tail,
        };
        match self.what {
            What::Liar { end } => self.run_for_liar(&view, end),
            What::Record { expected, chain } => self.run_for_record(&view, expected, chain),
        }
    }

    fn run_for_liar(&mut self, view: &View<'_>, end: u64) -> Found {
        while self.next < end {
            match view.crosses(self.next, end, self.in_step()) {
                Place::Record => {
                    return Found::Records {
                        from: self.from,
                        to: self.next,
                    };
                }
                Place::Nothing { next } => self.next = next,
                // A whole record does not wait for what may never come.
                Place::More { .. } if view.tail == Tail::Pause => break,
                Place::More { until } => return view.more(until),
            }
        }
        Found::Innocent
    }

    fn run_for_record(
        &mut self,
        view: &View<'_>,
        expected: Option<u64>,
        mut chain: Option<u64>,
    ) -> Found {
        while let Some(bytes) = view.bytes_from(self.next).first_chunk::<8>() {
            if self.next > self.from && view.may_begin(*bytes) {
                match view.goes_on(self.next, self.in_step()) {
                    Place::Record if chain == Some(self.next) => {
                        return Found::UnknownKinds { until: self.next };
                    }
                    Place::Record => {
                        return Found::Records {
                            from: self.from,
                            to: self.next,
                        };
                    }
                    Place::Nothing { .. } => {}
                    Place::More { until } => {
                        self.what = What::Record { expected, chain };
                        return view.more(until);
                    }
                }
            }
            if chain == Some(self.next) {
                chain = view
                    .end_by_size(self.next)
                    .filter(|end| end - self.from <= KEPT);
            }
            self.next += 1;
        }
        self.give_way(view, expected, chain)
    }

    /// All bytes at hand were looked at.
    fn give_way(&mut self, view: &View<'_>, expected: Option<u64>, chain: Option<u64>) -> Found {
        self.what = What::Record { expected, chain };
        match view.tail {
            Tail::End if chain == Some(view.end()) => Found::UnknownKinds { until: view.end() },
            Tail::End => Found::Nothing {
                from: self.from,
                expected,
            },
            _ if chain.is_none() && self.next > view.at => Found::NothingUpTo { to: self.next },
            _ => view.more(self.next.saturating_add(Framing::HEADER as u64)),
        }
    }

    /// The evidence that a place must give: records keep the step of eight bytes in which they stand.
    fn in_step(&self) -> Evidence {
        let in_step = (self.next - self.from).is_multiple_of(8);
        if in_step {
            Evidence::ENOUGH
        } else {
            Evidence::ENOUGH_OUT_OF_STEP
        }
    }
}

/// The bytes at hand.
struct View<'v> {
    plausible: &'v SanityCheck,
    rest: &'v [u8],
    at: u64,
    tail: Tail,
}

/// The content of a place.
enum Look {
    /// A record that tells something, and ends there; what it tells is all that is asked for where more follows than
    /// is worth waiting for.
    Record {
        evidence: Evidence,
        end: u64,
    },
    /// The end of the data cuts what stands there.
    Cut,
    /// The data are at their end.
    End,
    Nothing,
    /// More bytes are needed, up to this place.
    More {
        until: u64,
    },
}

impl<'v> View<'v> {
    fn bytes_from(&self, place: u64) -> &'v [u8] {
        let index = place
            .checked_sub(self.at)
            .and_then(|index| usize::try_from(index).ok());
        index
            .and_then(|index| self.rest.get(index..))
            .unwrap_or_default()
    }

    /// One past the last byte at hand.
    fn end(&self) -> u64 {
        self.at + self.rest.len() as u64
    }

    fn more(&self, until: u64) -> Found {
        match self.tail {
            Tail::Pause => Found::Pause,
            _ => Found::More {
                wanted: until.saturating_sub(self.at),
            },
        }
    }

    /// A first look at a header, for every byte of what is searched.
    #[inline]
    fn may_begin(&self, bytes: [u8; 8]) -> bool {
        SanityCheck::possible(self.plausible.framing.header(bytes))
    }

    /// End of the record of whatever kind that begins at a place. Those with bytes outside of their size are of known
    /// kinds.
    fn end_by_size(&self, place: u64) -> Option<u64> {
        let bytes = self.bytes_from(place);
        let header = self.plausible.framing.header(*bytes.first_chunk()?);
        let body = bytes
            .get(Framing::HEADER..header.size as usize)
            .unwrap_or_default();
        let alone = self.plausible.framing.payload_size(header.kind, body) == 0;
        (alone && header.size as usize >= Framing::HEADER)
            .then(|| place.saturating_add(u64::from(header.size)))
    }

    /// Looks at one place thoroughly.
    fn look(&self, place: u64) -> Look {
        let bytes = self.bytes_from(place);
        let ended = self.tail == Tail::End;
        let Some(first) = bytes.first_chunk() else {
            return match (ended, place == self.end()) {
                (true, true) => Look::End,
                (true, false) => Look::Cut,
                (false, _) => Look::More {
                    until: place.saturating_add(Framing::HEADER as u64),
                },
            };
        };
        let header = self.plausible.framing.header(*first);
        if !SanityCheck::possible(header) || u64::from(header.size) > self.plausible.largest {
            return Look::Nothing;
        }
        let end = place.saturating_add(u64::from(header.size));
        let Some(body) = bytes.get(Framing::HEADER..header.size as usize) else {
            return if ended {
                Look::Cut
            } else {
                Look::More { until: end }
            };
        };
        let payload = self.plausible.framing.payload_size(header.kind, body);
        match self.plausible.evidence(header, body) {
            Some(_) if end.saturating_add(payload) - place > self.plausible.largest => {
                Look::Nothing
            }
            Some(evidence) => Look::Record {
                evidence,
                end: end.saturating_add(payload),
            },
            None => Look::Nothing,
        }
    }

    /// Returns whether records begin at `place` that give `enough` evidence.
    fn goes_on(&self, place: u64, enough: Evidence) -> Place {
        self.tells(place, Evidence::default(), enough, place + 1)
    }

    /// Returns whether the records from `position` on give `enough` together with the evidence so far.
    fn tells(&self, position: u64, told: Evidence, enough: Evidence, otherwise: u64) -> Place {
        let (mut position, mut told, nothing) =
            (position, told, Place::Nothing { next: otherwise });
        while told < enough {
            match self.look(position) {
                Look::Record { evidence, end } => {
                    told = told.with(evidence);
                    position = end;
                }
                // No further evidence follows. What is out of step needs two records nevertheless.
                Look::End if told.is_something(enough) => return Place::Record,
                Look::Cut if told.is_something(Evidence::ENOUGH_OUT_OF_STEP) => {
                    return Place::Record;
                }
                Look::More { until } => return Place::More { until },
                _ => return nothing,
            }
        }
        Place::Record
    }

    /// Returns whether records begin at `place` and go on beyond `end`, but not at `end`.
    fn crosses(&self, place: u64, end: u64, enough: Evidence) -> Place {
        let (mut position, mut told) = (place, Evidence::default());
        // What the record tells that lies across the end.
        let mut across = Evidence::default();
        while position < end {
            // Once there are several in a row, those of unknown kinds are taken, too.
            let proven = told >= enough;
            position = match self.look(position) {
                Look::Record { evidence, end } => {
                    told = told.with(evidence);
                    across = evidence;
                    end
                }
                Look::More { until } => return Place::More { until },
                _ => match self.unknown_kind(position).filter(|_| proven) {
                    Some(after) => after,
                    None => {
                        return Place::Nothing {
                            next: if proven {
                                position.max(place + 1)
                            } else {
                                place + 1
                            },
                        };
                    }
                },
            };
        }
        let next = if told >= enough { end } else { place + 1 };
        if position == end {
            return Place::Nothing { next };
        }
        self.tells(position, across, Evidence::ENOUGH, next)
    }

    /// The end of a record that only the quick test takes.
    fn unknown_kind(&self, place: u64) -> Option<u64> {
        let header = self
            .plausible
            .framing
            .header(*self.bytes_from(place).first_chunk()?);
        SanityCheck::sane(header).then(|| place.saturating_add(u64::from(header.size)))
    }
}
