//! JSON files of tables: their values, and the places where they are none.
//!
//! A file is a list of objects, or an object with lists of objects in it. An object that cannot be read is a fault, and
//! the reading goes on with the next one.

use std::borrow::Cow;

/// Values in values are read to this depth.
const MAX_DEPTH: usize = 32;
/// So many faults of a file are kept.
const MAX_FAULTS: usize = 100;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    /// `null`, `true` or `false`.
    Word(&'a str),
    Number(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Value<'a>>),
    Object(Object<'a>),
}

/// An object, and where it begins.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Object<'a> {
    pub(crate) offset: usize,
    members: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl Object<'_> {
    /// A text, or the digits of a number.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match &self.members.iter().find(|(member, _)| member == name)?.1 {
            Value::Text(text) => Some(text),
            Value::Number(digits) => Some(digits),
            Value::Word(_) | Value::List(_) | Value::Object(_) => None,
        }
    }

    /// The members that are texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.members.iter().filter_map(|(name, value)| match value {
            Value::Text(text) => Some((&**name, &**text)),
            _ => None,
        })
    }
}

/// A file that was read.
#[derive(Debug, Default)]
pub(crate) struct Document<'a> {
    /// The members of the file's object that are no lists of objects.
    pub(crate) root: Object<'a>,
    /// Lists of objects by name; the list that is the whole file has none.
    pub(crate) lists: Vec<(Cow<'a, str>, Vec<Object<'a>>)>,
    pub(crate) faults: Vec<Fault>,
}

/// A place where something else was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) offset: usize,
    pub(crate) expected: Cow<'static, str>,
}

/// Reads a file.
pub(crate) fn read(text: &str) -> Document<'_> {
    let mut reader = Reader {
        text,
        at: 0,
        document: Document::default(),
    };
    if let Err(fault) = reader.file() {
        reader.keep(fault);
    }
    reader.document
}

/// The number of the line at an offset, from 1.
pub(crate) fn line_at(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

type Read<T> = Result<T, Fault>;

struct Reader<'a> {
    text: &'a str,
    at: usize,
    document: Document<'a>,
}

impl<'a> Reader<'a> {
    fn keep(&mut self, fault: Fault) {
        if self.document.faults.len() < MAX_FAULTS {
            self.document.faults.push(fault);
        }
    }

    fn file(&mut self) -> Read<()> {
        self.at = if self.text.starts_with('\u{feff}') {
            3
        } else {
            0
        };
        match self.peek() {
            Some(b'[') => {
                let objects = self.objects()?;
                self.document.lists.push((Cow::Borrowed(""), objects));
            }
            Some(b'{') => self.root()?,
            _ => return Err(self.expected("a list or an object")),
        }
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.expected("the end of the file")),
        }
    }

    /// The object that is the whole file.
    fn root(&mut self) -> Read<()> {
        self.at += 1;
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let name = self.name()?;
            if self.peek() == Some(b'[') {
                let objects = self.objects()?;
                self.document.lists.push((name, objects));
            } else {
                let value = self.value(1)?;
                self.document.root.members.push((name, value));
            }
            if !self.goes_on(b'}')? {
                return Ok(());
            }
        }
    }

    /// The objects of a list. Other values in it are passed over.
    fn objects(&mut self) -> Read<Vec<Object<'a>>> {
        let mut objects = Vec::new();
        self.at += 1;
        if self.take(b']') {
            return Ok(objects);
        }
        loop {
            match self.element(&mut objects) {
                Ok(true) => {}
                Ok(false) => return Ok(objects),
                Err(fault) => {
                    let from = fault.offset.max(self.at);
                    self.keep(fault);
                    match self.next_object(from) {
                        Some(at) => self.at = at,
                        None => {
                            self.at = self.text.len();
                            return Ok(objects);
                        }
                    }
                }
            }
        }
    }

    /// One value of a list; returns whether another one follows.
    fn element(&mut self, objects: &mut Vec<Object<'a>>) -> Read<bool> {
        if let Value::Object(object) = self.value(1)? {
            objects.push(object);
        }
        self.goes_on(b']')
    }

    /// The next place behind a fault where an object begins after the end of another.
    fn next_object(&self, from: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let is_space = |byte: &u8| byte.is_ascii_whitespace();
        let skip = |at: usize| at + bytes[at..].iter().take_while(|b| is_space(b)).count();
        let mut at = from.min(bytes.len());
        loop {
            at += bytes[at..].iter().position(|byte| *byte == b'}')? + 1;
            let comma = skip(at);
            if bytes.get(comma) == Some(&b',') {
                let begin = skip(comma + 1);
                if bytes.get(begin) == Some(&b'{') {
                    return Some(begin);
                }
            }
        }
    }

    fn value(&mut self, depth: usize) -> Read<Value<'a>> {
        if depth > MAX_DEPTH {
            return Err(self.expected("fewer values in values"));
        }
        match self.peek() {
            Some(b'"') => Ok(Value::Text(self.string()?)),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'-' | b'0'..=b'9') => {
                Ok(Value::Number(self.run(|byte| {
                    byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)
                })))
            }
            Some(b'a'..=b'z') => self.word(),
            _ => Err(self.expected("a value")),
        }
    }

    fn word(&mut self) -> Read<Value<'a>> {
        let start = self.at;
        let word = self.run(|byte| byte.is_ascii_lowercase());
        if ["null", "true", "false"].contains(&word) {
            return Ok(Value::Word(word));
        }
        self.at = start;
        Err(self.expected("a value"))
    }

    fn object(&mut self, depth: usize) -> Read<Value<'a>> {
        let mut object = Object {
            offset: self.at,
            members: Vec::new(),
        };
        self.at += 1;
        if self.take(b'}') {
            return Ok(Value::Object(object));
        }
        loop {
            let name = self.name()?;
            let value = self.value(depth + 1)?;
            object.members.push((name, value));
            if !self.goes_on(b'}')? {
                return Ok(Value::Object(object));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Read<Value<'a>> {
        let mut list = Vec::new();
        self.at += 1;
        if self.take(b']') {
            return Ok(Value::List(list));
        }
        loop {
            list.push(self.value(depth + 1)?);
            if !self.goes_on(b']')? {
                return Ok(Value::List(list));
            }
        }
    }

    /// A member's name and the colon behind it.
    fn name(&mut self) -> Read<Cow<'a, str>> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a name in quotes"));
        }
        let name = self.string()?;
        if !self.take(b':') {
            return Err(self.expected("':'"));
        }
        Ok(name)
    }

    /// Takes a comma, or the end of what it stands in; returns whether more follows.
    fn goes_on(&mut self, end: u8) -> Read<bool> {
        if self.take(b',') {
            return Ok(true);
        }
        if self.take(end) {
            return Ok(false);
        }
        Err(self.expected(if end == b'}' {
            "',' or '}'"
        } else {
            "',' or ']'"
        }))
    }

    fn string(&mut self) -> Read<Cow<'a, str>> {
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            let plain = self.run(|byte| byte != b'"' && byte != b'\\' && byte != b'\n');
            text += plain;
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    self.at += 1;
                    text.to_mut().push(self.escaped()?);
                }
                _ => return Err(self.expected("'\"'")),
            }
        }
    }

    /// The character behind a backslash.
    fn escaped(&mut self) -> Read<char> {
        let byte = self.byte();
        self.at += usize::from(byte.is_some());
        Ok(match byte {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'u') => self.unicode(),
            _ => {
                self.at -= usize::from(byte.is_some());
                return Err(self.expected("an escape"));
            }
        })
    }

    /// Four hexadecimal digits; what is no character by itself is replaced.
    fn unicode(&mut self) -> char {
        let digits = self.text.get(self.at..self.at + 4);
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += if code.is_some() { 4 } else { 0 };
        code.and_then(char::from_u32)
            .unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// Takes the bytes for which the question is answered with yes: whole characters, as the question is about ASCII.
    fn run(&mut self, belongs: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().take_while(|byte| belongs(**byte)).count();
        let start = self.at;
        self.at += length;
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// The next byte that is no space.
    fn peek(&mut self) -> Option<u8> {
        self.run(|byte| byte.is_ascii_whitespace());
        self.byte()
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, wanted: u8) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }

    fn expected(&self, what: &'static str) -> Fault {
        Fault {
            offset: self.at,
            expected: Cow::Borrowed(what),
        }
    }
}

#[cfg(test)]
mod tests;
