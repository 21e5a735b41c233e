//! Answers that were found once, as bytes: so that another run need not read debug information again.
//!
//! They are checked piece by piece; what is damaged is as if it were not there.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{SourceFrame, SourceLine};
use crate::cache::{Kind, pull, push};

/// The questions so far with their answers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answers {
    /// The functions of each virtual address.
    pub(super) frames: HashMap<u64, Arc<[SourceFrame]>>,
    stretches: Stretches,
}

/// The lines of stretches of code, by the offsets where those begin and end.
#[derive(Debug, Default, PartialEq, Eq)]
struct Stretches {
    known: BTreeMap<(u64, u64), Rows>,
    /// Number of rows that they have together.
    rows: usize,
}

/// Lines, each with the offset of its first byte, in ascending order.
type Rows = Vec<(u64, SourceLine)>;

impl Answers {
    /// The lines of a stretch of code, if it was asked about.
    pub(super) fn stretch(&self, start: u64, end: u64) -> Option<&[(u64, SourceLine)]> {
        self.stretches.known.get(&(start, end)).map(Vec::as_slice)
    }

    /// From now on these are the lines of a stretch; `false` where there are too many to be kept.
    pub(super) fn keep_stretch(
        &mut self,
        start: u64,
        end: u64,
        rows: &[(u64, SourceLine)],
    ) -> bool {
        let all = self.stretches.rows.saturating_add(rows.len());
        if all > ROWS_LIMIT || self.stretches.known.len() >= ROWS_LIMIT {
            return false;
        }
        self.stretches.rows = all;
        self.stretches.known.insert((start, end), rows.to_vec());
        true
    }
}

/// The beginning of cached answers.
pub(super) const KIND: &Kind = b"oxsrc\0\0\x06";
/// Answers of one object that are kept; beyond that a run asks again.
const LIMIT: usize = 1 << 20;
/// The limit of rows of stretches, and of stretches.
const ROWS_LIMIT: usize = 1 << 18;

/// The bytes of these answers.
pub(super) fn encode(answers: &Answers) -> Vec<u8> {
    let mut addresses: Vec<u64> = answers.frames.keys().copied().collect();
    addresses.sort_unstable();
    addresses.truncate(LIMIT);
    let mut texts = Texts::default();
    let mut body = Vec::new();
    push(&mut body, addresses.len() as u64);
    let mut last = 0;
    for address in addresses {
        push(&mut body, address - last);
        last = address;
        let frames = answers
            .frames
            .get(&address)
            .map(|frames| &frames[..])
            .unwrap_or_default();
        push(&mut body, frames.len() as u64);
        frames
            .iter()
            .for_each(|frame| encode_frame(frame, &mut texts, &mut body));
    }
    push(&mut body, answers.stretches.known.len() as u64);
    for (&(start, end), rows) in &answers.stretches.known {
        [start, end, rows.len() as u64]
            .into_iter()
            .for_each(|number| push(&mut body, number));
        for (offset, line) in rows {
            push(&mut body, *offset);
            encode_line(Some(line), &mut texts, &mut body);
        }
    }
    let mut content = Vec::new();
    push(&mut content, texts.list.len() as u64);
    for text in &texts.list {
        push(&mut content, text.len() as u64);
        content.extend_from_slice(text.as_bytes());
    }
    content.extend_from_slice(&body);
    content
}

fn encode_frame(frame: &SourceFrame, texts: &mut Texts, out: &mut Vec<u8>) {
    match &frame.function {
        Some(function) => push(out, texts.number(function) + 1),
        None => push(out, 0),
    }
    encode_line(frame.line.as_ref(), texts, out);
}

fn encode_line(line: Option<&SourceLine>, texts: &mut Texts, out: &mut Vec<u8>) {
    match line {
        Some(line) => {
            push(out, texts.number(&line.file) + 1);
            push(out, line.line.into());
            push(out, line.column.into());
        }
        None => push(out, 0),
    }
}

/// The answers in such bytes; `None` where they are damaged.
pub(super) fn decode(mut rest: &[u8]) -> Option<Answers> {
    let count = pull(&mut rest)?;
    let mut texts: Vec<Arc<str>> = Vec::new();
    for _ in 0..count {
        let size = usize::try_from(pull(&mut rest)?).ok()?;
        let (text, after) = rest.split_at_checked(size)?;
        texts.push(std::str::from_utf8(text).ok()?.into());
        rest = after;
    }
    let mut answers = Answers::default();
    let mut address = 0u64;
    for _ in 0..pull(&mut rest)? {
        address = address.checked_add(pull(&mut rest)?)?;
        let count = pull(&mut rest)?;
        let frames: Option<Vec<SourceFrame>> = (0..count)
            .map(|_| decode_frame(&texts, &mut rest))
            .collect();
        answers.frames.insert(address, frames?.into());
    }
    for _ in 0..pull(&mut rest)? {
        let (start, end) = (pull(&mut rest)?, pull(&mut rest)?);
        let row = |rest: &mut &[u8]| Some((pull(rest)?, decode_line(&texts, rest)??));
        let rows: Option<Rows> = (0..pull(&mut rest)?).map(|_| row(&mut rest)).collect();
        answers.keep_stretch(start, end, &rows?);
    }
    Some(answers)
}

fn decode_frame(texts: &[Arc<str>], rest: &mut &[u8]) -> Option<SourceFrame> {
    let text = |number: u64| texts.get(usize::try_from(number).ok()?).cloned();
    let function = match pull(rest)?.checked_sub(1) {
        Some(number) => Some(text(number)?),
        None => None,
    };
    Some(SourceFrame {
        function,
        line: decode_line(texts, rest)?,
    })
}

/// A line, or that there is none.
fn decode_line(texts: &[Arc<str>], rest: &mut &[u8]) -> Option<Option<SourceLine>> {
    let Some(file) = pull(rest)?.checked_sub(1) else {
        return Some(None);
    };
    Some(Some(SourceLine {
        file: texts.get(usize::try_from(file).ok()?).cloned()?,
        line: u32::try_from(pull(rest)?).ok()?,
        column: u32::try_from(pull(rest)?).ok()?,
    }))
}

/// Texts by number, each once.
#[derive(Default)]
struct Texts {
    list: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u64>,
}

impl Texts {
    fn number(&mut self, text: &Arc<str>) -> u64 {
        let next = self.list.len() as u64;
        let number = *self.numbers.entry(Arc::clone(text)).or_insert(next);
        if number == next {
            self.list.push(Arc::clone(text));
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers() -> Answers {
        let line = |line| {
            Some(SourceLine {
                file: "/a/b.c".into(),
                line,
                column: 3,
            })
        };
        let frames = vec![
            SourceFrame {
                function: Some("inner".into()),
                line: line(7),
            },
            SourceFrame {
                function: Some("outer()".into()),
                line: None,
            },
        ];
        let unknown = vec![SourceFrame {
            function: None,
            line: line(u32::MAX),
        }];
        let frames = [(0x1000, frames), (u64::MAX, unknown), (3, vec![])];
        let frames = frames
            .into_iter()
            .map(|(offset, frames)| (offset, frames.into()))
            .collect();
        let mut answers = Answers {
            frames,
            stretches: Stretches::default(),
        };
        let row = |offset, line| {
            (
                offset,
                SourceLine {
                    file: "/a/d.c".into(),
                    line,
                    column: 1,
                },
            )
        };
        assert!(answers.keep_stretch(
            0x1000,
            0x1100,
            &[row(0x1000, 4), row(0x1000, 5), row(0x10f0, 1)]
        ));
        assert!(answers.keep_stretch(1, u64::MAX, &[]));
        answers
    }

    #[test]
    fn stretches_that_are_too_long_are_not_kept() {
        let rows = vec![
            (
                0,
                SourceLine {
                    file: "f".into(),
                    line: 1,
                    column: 0
                }
            );
            ROWS_LIMIT
        ];
        let mut answers = Answers::default();
        assert!(answers.keep_stretch(0, 9, &rows));
        assert!(!answers.keep_stretch(9, 19, &rows[..1]));
        assert_eq!(answers.stretch(0, 9).map(<[_]>::len), Some(ROWS_LIMIT));
        assert_eq!(answers.stretch(9, 19), None);
    }

    #[test]
    fn what_was_found_is_read_again() {
        assert_eq!(decode(&encode(&answers())), Some(answers()));
    }

    #[test]
    fn a_cut_is_as_if_nothing_were_there() {
        let bytes = encode(&answers());
        (0..bytes.len()).for_each(|end| assert_eq!(decode(&bytes[..end]), None, "cut at {end}"));
    }

    #[test]
    fn counts_that_lie_are_refused() {
        for content in [
            &[0xff; 40][..],
            &[1, 0xff, 0xff, 0xff, 0x7f],
            &[0, 0xff, 0xff, 0xff, 0x7f, 1, 2],
        ] {
            assert_eq!(decode(content), None);
        }
    }
}
