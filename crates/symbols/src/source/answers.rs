//! Answers that were found once, as bytes: so that another run need not read debug information again.
//!
//! They are sealed, and then checked piece by piece; what is damaged is as if it were not there.

use std::collections::HashMap;
use std::sync::Arc;

use super::{SourceFrame, SourceLine};
use crate::kept::{open, pull, push, seal};

/// What is known of each offset.
pub(super) type Answers = HashMap<u64, Arc<[SourceFrame]>>;

const MAGIC: &[u8; 8] = b"oxsrc\0\0\x02";
/// Answers of one object that are kept; beyond that a run asks again.
const LIMIT: usize = 1 << 20;

/// The bytes of these answers.
pub(super) fn encode(identity: &[u8], answers: &Answers) -> Vec<u8> {
    let mut offsets: Vec<u64> = answers.keys().copied().collect();
    offsets.sort_unstable();
    offsets.truncate(LIMIT);
    let mut texts = Texts::default();
    let mut body = Vec::new();
    push(&mut body, offsets.len() as u64);
    let mut last = 0;
    for offset in offsets {
        push(&mut body, offset - last);
        last = offset;
        let frames = answers.get(&offset).map(|frames| &frames[..]).unwrap_or_default();
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
    seal(MAGIC, identity, &content)
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

/// The answers in such bytes; `None` where they are damaged, or belong to another object.
pub(super) fn decode(identity: &[u8], bytes: &[u8]) -> Option<Answers> {
    let mut rest = open(MAGIC, identity, bytes)?;
    let count = pull(&mut rest)?;
    let mut texts: Vec<Arc<str>> = Vec::new();
    for _ in 0..count {
        let size = usize::try_from(pull(&mut rest)?).ok()?;
        let (text, after) = rest.split_at_checked(size)?;
        texts.push(std::str::from_utf8(text).ok()?.into());
        rest = after;
    }
    let mut answers = Answers::new();
    let mut offset = 0u64;
    for _ in 0..pull(&mut rest)? {
        offset = offset.checked_add(pull(&mut rest)?)?;
        let count = pull(&mut rest)?;
        let frames: Option<Vec<SourceFrame>> = (0..count).map(|_| decode_frame(&texts, &mut rest)).collect();
        answers.insert(offset, frames?.into());
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
        let bytes = encode(b"this", &answers());
        assert_eq!(decode(b"this", &bytes), Some(answers()));
        assert_eq!(decode(b"that", &bytes), None);
    }

    #[test]
    fn damage_is_as_if_nothing_were_there() {
        let bytes = encode(b"this", &answers());
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x11;
            assert_eq!(decode(b"this", &damaged), None, "byte {at}");
            assert_eq!(decode(b"this", &bytes[..at]), None, "cut at {at}");
        }
    }

    #[test]
    fn a_seal_alone_opens_nothing() {
        for content in [&[0xff; 40][..], &[1, 0xff, 0xff, 0xff, 0x7f], &[0, 0xff, 0xff, 0xff, 0x7f, 1, 2]] {
            assert_eq!(decode(b"", &seal(MAGIC, b"", content)), None);
        }
    }
}
