//! From bytes to records, past what is damaged.
//!
//! The source of the bytes is the business of others: they show the bytes that they have, and learn what stands at
//! their beginning. A record is handed out when the next one begins where it ends. If nothing sensible does, either
//! the next header is broken or this record states a wrong size; a [`Search`] finds out and says where to go on.

use oxperf_abi::FileOffset;
use oxperf_wire::RecordHeader;

use super::framing::Framing;
use super::resync::{Found, Search, Tail};
use super::sanity::SanityCheck;
use crate::Damage;

/// The item at the beginning of the bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// A record with so many bytes outside of its size.
    Record {
        header: RecordHeader,
        payload: usize,
    },
    /// So many bytes that belong to a gap whose end is not known yet.
    Skip { count: usize },
    /// Something broken, of which the next `count` bytes are the last.
    Damage { damage: Damage, count: usize },
    /// At least so many bytes are needed to decide.
    More { wanted: u64 },
    /// Only more bytes could decide, and there are none now.
    Pause,
    /// Nothing is left.
    End,
}

/// A walk over records on its way.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    plausible: SanityCheck,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// So far everything makes sense.
    Calm,
    /// Up to here records of unknown kinds follow one another and end where known ones begin.
    Trust { until: u64 },
    /// Something is broken, and it is not known yet where it ends.
    Search(Search),
}

impl Walk {
    pub(super) fn new(plausible: SanityCheck) -> Walk {
        Walk {
            plausible,
            state: State::Calm,
        }
    }

    pub(super) fn framing(&self) -> Framing {
        self.plausible.framing
    }

    /// Says what stands at the beginning of `rest`, which begins at `at`.
    #[inline]
    pub(super) fn step(&mut self, rest: &[u8], at: u64, tail: Tail) -> Step {
        match self.clear(rest) {
            Some((header, length)) => Step::Record {
                header,
                payload: length - header.size as usize,
            },
            None => self.careful_step(rest, at, tail),
        }
    }

    /// The usual case: a record, whose header and whole length it gives, and behind it the header of another that is
    /// at hand, too.
    #[inline]
    pub(super) fn clear(&self, rest: &[u8]) -> Option<(RecordHeader, usize)> {
        let framing = self.plausible.framing;
        let header = framing.header(*rest.first_chunk()?);
        if !self.calm() || !SanityCheck::sane(header) {
            return None;
        }
        let size = header.size as usize;
        let payload = framing.payload_size(header.kind, rest.get(Framing::HEADER..size)?);
        let length = usize::try_from(payload).ok()?.checked_add(size)?;
        let after = rest.get(length..)?;
        let next = framing.header(*after.first_chunk()?);
        let fits = next.size as usize <= after.len() && length as u64 <= self.plausible.largest;
        (fits && SanityCheck::sane(next)).then_some((header, length))
    }

    #[inline]
    fn calm(&self) -> bool {
        matches!(self.state, State::Calm)
    }

    #[cold]
    fn careful_step(&mut self, rest: &[u8], at: u64, tail: Tail) -> Step {
        loop {
            match &mut self.state {
                State::Trust { until } if at < *until => {
                    if let Some(step) = self.framed(rest, at) {
                        return step;
                    }
                }
                State::Calm | State::Trust { .. } => match self.look(rest, at, tail) {
                    Look::Step(step) => {
                        self.state = State::Calm;
                        return step;
                    }
                    Look::Doubt(search) => self.state = State::Search(search),
                },
                State::Search(search) => {
                    let found = search.run(&self.plausible, rest, at, tail);
                    match self.settle(found, rest, at) {
                        Some(step) => return step,
                        None => continue,
                    }
                }
            }
        }
    }

    /// A record that was framed before; `None` if it cannot be, and a search begins.
    fn framed(&mut self, rest: &[u8], at: u64) -> Option<Step> {
        let framed = self.plausible.framing.whole(rest);
        if framed.is_none() {
            self.state = State::Search(Search::for_end_of_gap(at));
        }
        let (header, payload) = framed?;
        Some(Step::Record { header, payload })
    }

    /// Looks at a record and the one behind it.
    fn look(&self, rest: &[u8], at: u64, tail: Tail) -> Look {
        let framing = self.plausible.framing;
        let length = rest.len() as u64;
        let Some(first) = rest.first_chunk() else {
            return Look::Step(missing(Framing::HEADER as u64, rest, at, tail));
        };
        let header = framing.header(*first);
        let credible = SanityCheck::sane(header) || SanityCheck::possible(header);
        let too_long = tail != Tail::More && u64::from(header.size) > length;
        if !credible {
            return Look::Doubt(Search::for_record(at, None));
        }
        if too_long {
            return self.cut(u64::from(header.size), at, tail);
        }
        let Some(body) = rest.get(Framing::HEADER..header.size as usize) else {
            return Look::Step(Step::More {
                wanted: u64::from(header.size),
            });
        };
        let payload = framing.payload_size(header.kind, body);
        let total = payload.saturating_add(u64::from(header.size));
        if total > self.plausible.largest {
            return Look::Doubt(Search::for_record(at, None));
        }
        if total > length {
            return match tail {
                Tail::More => Look::Step(Step::More { wanted: total }),
                _ => self.cut(total, at, tail),
            };
        }
        let after = rest.get(total as usize..).unwrap_or_default();
        let record = Step::Record {
            header,
            payload: payload as usize,
        };
        self.look_behind(record, total, after, at, tail)
    }

    /// A record whose end is not there.
    fn cut(&self, expected: u64, at: u64, tail: Tail) -> Look {
        match tail {
            Tail::Pause => Look::Step(Step::Pause),
            _ => Look::Doubt(Search::for_record(at, Some(expected))),
        }
    }

    /// A whole record, `record`, takes `total` bytes: does `after` go on with another one?
    fn look_behind(&self, record: Step, total: u64, after: &[u8], at: u64, tail: Tail) -> Look {
        let Some(next) = after.first_chunk() else {
            return Look::Step(if tail == Tail::More {
                Step::More {
                    wanted: total.saturating_add(Framing::HEADER as u64),
                }
            } else {
                record
            });
        };
        let next = self.plausible.framing.header(*next);
        let credible = SanityCheck::sane(next) || SanityCheck::possible(next);
        let there = u64::from(next.size) <= after.len() as u64;
        match (credible, there, tail) {
            (true, true, _) | (true, false, Tail::Pause) => Look::Step(record),
            (true, false, Tail::More) => Look::Step(Step::More {
                wanted: total.saturating_add(u64::from(next.size)),
            }),
            _ => Look::Doubt(Search::for_liar(at, total)),
        }
    }

    /// Does what a search says; `None` to look again from where it ended.
    fn settle(&mut self, found: Found, rest: &[u8], at: u64) -> Option<Step> {
        let count = |to: u64| {
            usize::try_from(to.saturating_sub(at))
                .unwrap_or(usize::MAX)
                .min(rest.len())
        };
        Some(match found {
            Found::Records { from, to } => {
                self.state = State::Calm;
                let damage = Damage::Gap {
                    from: FileOffset(from),
                    to: FileOffset(to),
                };
                Step::Damage {
                    damage,
                    count: count(to),
                }
            }
            Found::UnknownKinds { until } => {
                self.state = State::Trust { until };
                return None;
            }
            Found::Innocent => {
                self.state = State::Calm;
                return self.framed(rest, at);
            }
            Found::Nothing { from, expected } => {
                self.state = State::Calm;
                lost_to_the_end(from, expected, rest, at)
            }
            Found::NothingUpTo { to } => Step::Skip { count: count(to) },
            Found::More { wanted } => Step::More { wanted },
            Found::Pause => Step::Pause,
        })
    }
}

/// The outcome of a look at a record.
enum Look {
    Step(Step),
    Doubt(Search),
}

/// The step to take when there is not even a header.
fn missing(wanted: u64, rest: &[u8], at: u64, tail: Tail) -> Step {
    match tail {
        Tail::More => Step::More { wanted },
        _ if rest.is_empty() => Step::End,
        Tail::Pause => Step::Pause,
        Tail::End => lost_to_the_end(at, Some(wanted), rest, at),
    }
}

/// Nothing from `from` to the end of the data is a record; `expected` when one begins there that is only too long.
fn lost_to_the_end(from: u64, expected: Option<u64>, rest: &[u8], at: u64) -> Step {
    let (offset, end) = (FileOffset(from), at.saturating_add(rest.len() as u64));
    let damage = match expected {
        Some(expected) => Damage::RecordCut {
            offset,
            expected,
            found: end - from,
        },
        None => Damage::Gap {
            from: offset,
            to: FileOffset(end),
        },
    };
    Step::Damage {
        damage,
        count: rest.len(),
    }
}
