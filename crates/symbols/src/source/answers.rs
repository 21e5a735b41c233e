//! Answers that were found once, as bytes: so that another run need not read debug information again.
//!
//! They are checked piece by piece; what is damaged is as if it were not there.

use std::collections::HashMap;
use std::sync::Arc;

use super::{SourceFrame, SourceLine};
use crate::kept::{Kind, pull, push};

/// What is known of each virtual address.
pub(super) type Answers = HashMap<u64, Arc<[SourceFrame]>>;

/// What kept answers begin with.
pub(super) const KIND: &Kind = b"oxsrc\0\0\x04";
/// Answers of one object that are kept; beyond that a run asks again.
const LIMIT: usize = 1 << 20;

/// The bytes of these answers.
pub(super) fn encode(answers: &Answers) -> Vec<u8> {
    let mut addresses: Vec<u64> = answers.keys().copied().collect();
    addresses.sort_unstable();
    addresses.truncate(LIMIT);
    let mut texts = Texts::default();
    let mut body = Vec::new();
    push(&mut body, addresses.len() as u64);
    let mut last = 0;
    for address in addresses {
        push(&mut body, address - last);
        last = address;
        let frames = answers.get(&address).map(|frames| &frames[..]).unwrap_or_default();
        push(&mut body, frames.len() as u64);
        frames.iter().for_each(|frame| encode_frame(frame, &mut texts, &mut body));
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
    match &frame.line {
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
    let mut answers = Answers::new();
    let mut address = 0u64;
    for _ in 0..pull(&mut rest)? {
        address = address.checked_add(pull(&mut rest)?)?;
        let count = pull(&mut rest)?;
        let frames: Option<Vec<SourceFrame>> = (0..count).map(|_| decode_frame(&texts, &mut rest)).collect();
        answers.insert(address, frames?.into());
    }
    Some(answers)
}

fn decode_frame(texts: &[Arc<str>], rest: &mut &[u8]) -> Option<SourceFrame> {
    let text = |number: u64| texts.get(usize::try_from(number).ok()?).cloned();
    let function = match pull(rest)?.checked_sub(1) {
        Some(number) => Some(text(number)?),
        None => None,
    };
    let line = match pull(rest)?.checked_sub(1) {
        Some(number) => Some(SourceLine {
            file: text(number)?,
            line: u32::try_from(pull(rest)?).ok()?,
            column: u32::try_from(pull(rest)?).ok()?,
        }),
        None => None,
    };
    Some(SourceFrame { function, line })
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
        let line = |line| Some(SourceLine { file: "/a/b.c".into(), line, column: 3 });
        let frames = vec![
            SourceFrame { function: Some("inner".into()), line: line(7) },
            SourceFrame { function: Some("outer()".into()), line: None },
        ];
        let unknown = vec![SourceFrame { function: None, line: line(u32::MAX) }];
        [(0x1000, frames), (u64::MAX, unknown), (3, vec![])]
            .into_iter()
            .map(|(offset, frames)| (offset, frames.into()))
            .collect()
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
        for content in [&[0xff; 40][..], &[1, 0xff, 0xff, 0xff, 0x7f], &[0, 0xff, 0xff, 0xff, 0x7f, 1, 2]] {
            assert_eq!(decode(content), None);
        }
    }
}
