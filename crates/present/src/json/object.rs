//! Objects and arrays of JSON on one line.

use super::string;

/// An object that is being written.
pub struct Object<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
}

/// Appends an object that `fill` fills.
pub fn object(out: &mut Vec<u8>, fill: impl FnOnce(&mut Object<'_>)) {
    out.push(b'{');
    fill(&mut Object {
        out,
        is_empty: true,
    });
    out.push(b'}');
}

impl Object<'_> {
    /// Adds a key whose value `value` appends.
    pub fn key(&mut self, name: &str, value: impl FnOnce(&mut Vec<u8>)) {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.out.push(b',');
        }
        text(self.out, name);
        self.out.push(b':');
        value(self.out);
    }

    /// Adds a string.
    pub fn text(&mut self, name: &str, value: &str) {
        self.key(name, |out| text(out, value));
    }

    /// Adds a string, or `null`.
    pub fn optional(&mut self, name: &str, value: Option<&str>) {
        self.key(name, |out| match value {
            Some(value) => text(out, value),
            None => null(out),
        });
    }

    /// Adds a number, or `null`.
    pub fn count(&mut self, name: &str, value: Option<u64>) {
        self.key(name, |out| match value {
            Some(value) => number(out, value),
            None => null(out),
        });
    }

    /// Adds a number.
    pub fn number(&mut self, name: &str, value: impl ToString) {
        self.key(name, |out| number(out, value));
    }
}

/// Appends an array.
pub fn array<T>(out: &mut Vec<u8>, items: &[T], item: impl Fn(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (index, one) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        item(out, one);
    }
    out.push(b']');
}

/// Appends a string.
pub fn text(out: &mut Vec<u8>, text: &str) {
    string::write(text, out);
}

/// Appends a number.
pub fn number(out: &mut Vec<u8>, number: impl ToString) {
    out.extend_from_slice(number.to_string().as_bytes());
}

/// Appends `null`.
pub fn null(out: &mut Vec<u8>) {
    out.extend_from_slice(b"null");
}
