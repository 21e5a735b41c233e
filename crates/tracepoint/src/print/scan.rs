//! A printf format's text, taken apart into literals and directives.

use super::directive::{Conversion, Directive, Flags, Length, Pointer, WIDEST, Width};
use crate::harmless;

/// A stretch of a printf format.
#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    Literal(Vec<u8>),
    Directive(Directive),
}

/// Splits a printf format. What is no directive stays as literal text.
pub(super) fn split(format: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut literal = Vec::new();
    let mut scan = Scan { rest: format };
    while let Some(byte) = scan.next() {
        match byte {
            b'%' if scan.take(b'%') => literal.push(b'%'),
            b'%' => match scan.directive() {
                Some(directive) => {
                    flush(&mut literal, &mut pieces);
                    pieces.push(Piece::Directive(directive));
                }
                None => literal.push(b'%'),
            },
            _ => literal.push(byte),
        }
    }
    flush(&mut literal, &mut pieces);
    pieces
}

/// Moves the literal to the pieces. The format's own line ends stay; its other control characters do not.
fn flush(literal: &mut Vec<u8>, pieces: &mut Vec<Piece>) {
    if literal.is_empty() {
        return;
    }
    let mut text = Vec::with_capacity(literal.len());
    for (number, line) in literal.split(|&byte| byte == b'\n').enumerate() {
        if number > 0 {
            text.push(b'\n');
        }
        harmless::append(&mut text, line);
    }
    pieces.push(Piece::Literal(text));
    literal.clear();
}

struct Scan<'a> {
    rest: &'a [u8],
}

impl Scan<'_> {
    fn next(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        if found {
            self.next();
        }
        found
    }

    /// The directive after a `%`; `None`, with nothing consumed, when there is none.
    fn directive(&mut self) -> Option<Directive> {
        let before = self.rest;
        let found = self.parse();
        if found.is_none() {
            self.rest = before;
        }
        found
    }

    fn parse(&mut self) -> Option<Directive> {
        let flags = self.flags();
        let width = self.width();
        let precision = if self.take(b'.') {
            Some(self.width().unwrap_or(Width::Fixed(0)))
        } else {
            None
        };
        let length = self.length();
        let conversion = match self.next()? {
            b'd' | b'i' => Conversion::Signed,
            b'u' => Conversion::Unsigned,
            b'o' => Conversion::Octal,
            b'x' => Conversion::Hex { upper: false },
            b'X' => Conversion::Hex { upper: true },
            b'c' => Conversion::Char,
            b's' => Conversion::Text,
            b'p' => Conversion::Pointer(self.pointer()),
            _ => return None,
        };
        Some(Directive {
            flags,
            width,
            precision,
            length,
            conversion,
        })
    }

    fn flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        loop {
            match self.rest.first() {
                Some(b'-') => flags.left = true,
                Some(b'0') => flags.zeros = true,
                Some(b'#') => flags.alternate = true,
                Some(b'+') => flags.plus = true,
                Some(b' ') => flags.space = true,
                _ => return flags,
            }
            self.next();
        }
    }

    fn width(&mut self) -> Option<Width> {
        if self.take(b'*') {
            return Some(Width::Argument);
        }
        let mut width = None;
        while let Some(digit) = self.rest.first().filter(|byte| byte.is_ascii_digit()) {
            let next = width
                .unwrap_or(0usize)
                .saturating_mul(10)
                .saturating_add(usize::from(digit - b'0'));
            width = Some(next);
            self.next();
        }
        width.map(|width| Width::Fixed(width.min(WIDEST)))
    }

    fn length(&mut self) -> Length {
        match self.rest {
            [b'h', b'h', ..] => self.skip(2, Length::Char),
            [b'h', ..] => self.skip(1, Length::Short),
            [b'l', b'l', ..] => self.skip(2, Length::LongLong),
            [b'l' | b'z' | b't', ..] => self.skip(1, Length::Long),
            [b'L' | b'j' | b'q', ..] => self.skip(1, Length::LongLong),
            _ => Length::Int,
        }
    }

    fn skip(&mut self, count: usize, length: Length) -> Length {
        self.rest = self.rest.get(count..).unwrap_or_default();
        length
    }

    fn pointer(&mut self) -> Pointer {
        let Some(&kind) = self.rest.first() else {
            return Pointer::Address;
        };
        if !b"SsFfBMmIiUbhxK".contains(&kind) {
            return Pointer::Address;
        }
        self.next();
        match kind {
            b'S' | b'F' | b'B' => self.symbol(true),
            b's' | b'f' => self.symbol(false),
            b'M' => self.mac(Some(b':')),
            b'm' => self.mac(None),
            b'I' | b'i' => self.address(kind == b'I'),
            b'U' => self.uuid(),
            b'b' => Pointer::Bits {
                ranges: self.take(b'l'),
            },
            b'h' => Pointer::Bytes {
                separator: self.bytes_separator(),
            },
            _ => Pointer::Address,
        }
    }

    fn symbol(&mut self, offset: bool) -> Pointer {
        self.take(b'R');
        Pointer::Symbol { offset }
    }

    fn mac(&mut self, separator: Option<u8>) -> Pointer {
        let separator = if separator.is_some() && self.take(b'F') {
            Some(b'-')
        } else {
            separator
        };
        Pointer::Mac {
            separator,
            reversed: self.take(b'R'),
        }
    }

    /// `%pI4`, `%pI6c`, `%pISpc` and the like; `punctuated` when the letter was a capital one.
    fn address(&mut self, punctuated: bool) -> Pointer {
        if self.take(b'4') {
            self.options();
            return Pointer::Ipv4 {
                padded: !punctuated,
            };
        }
        let socket = !self.take(b'6') && self.take(b'S');
        let options = self.options();
        let (short, port) = (options.contains(&b'c'), options.contains(&b'p'));
        if socket {
            Pointer::Socket { short, port }
        } else {
            Pointer::Ipv6 {
                short,
                colons: punctuated,
            }
        }
    }

    fn options(&mut self) -> &[u8] {
        let end = self
            .rest
            .iter()
            .position(|byte| !b"hnblcpfs".contains(byte))
            .unwrap_or(self.rest.len());
        let (options, rest) = self.rest.split_at(end);
        self.rest = rest;
        options
    }

    fn uuid(&mut self) -> Pointer {
        let form = self
            .rest
            .first()
            .copied()
            .filter(|form| b"bBlL".contains(form));
        if form.is_some() {
            self.next();
        }
        Pointer::Uuid {
            upper: matches!(form, Some(b'B' | b'L')),
            little: matches!(form, Some(b'l' | b'L')),
        }
    }

    fn bytes_separator(&mut self) -> Option<u8> {
        let separator = match self.rest.first() {
            Some(b'C') => Some(b':'),
            Some(b'D') => Some(b'-'),
            Some(b'N') => None,
            _ => return Some(b' '),
        };
        self.next();
        separator
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversions(format: &str) -> Vec<Conversion> {
        let conversion = |piece: Piece| match piece {
            Piece::Directive(directive) => Some(directive.conversion),
            Piece::Literal(_) => None,
        };
        split(format.as_bytes())
            .into_iter()
            .filter_map(conversion)
            .collect()
    }

    #[test]
    fn a_format_comes_apart() {
        let pieces = split(b"a%%b %-08.3llx\n%*pbl");
        assert_eq!(pieces[0], Piece::Literal(b"a%b ".to_vec()));
        assert_eq!(pieces[2], Piece::Literal(b"\n".to_vec()));
        let Piece::Directive(hex) = &pieces[1] else {
            panic!("no directive")
        };
        assert!(hex.flags.left && hex.flags.zeros && hex.length == Length::LongLong);
        assert_eq!(
            (hex.width, hex.precision),
            (Some(Width::Fixed(8)), Some(Width::Fixed(3)))
        );
        let Piece::Directive(bits) = &pieces[3] else {
            panic!("no directive")
        };
        assert_eq!(
            bits.conversion,
            Conversion::Pointer(Pointer::Bits { ranges: true })
        );
    }

    #[test]
    fn letters_behind_p_say_what_it_shows() {
        let pointer = |format: &str| match conversions(format)[..] {
            [Conversion::Pointer(pointer)] => pointer,
            _ => panic!("{format} is not one pointer"),
        };
        assert_eq!(
            pointer("%pISpc"),
            Pointer::Socket {
                short: true,
                port: true
            }
        );
        assert_eq!(
            pointer("%pI6c"),
            Pointer::Ipv6 {
                short: true,
                colons: true
            }
        );
        assert_eq!(
            pointer("%pMF"),
            Pointer::Mac {
                separator: Some(b'-'),
                reversed: false
            }
        );
        assert_eq!(pointer("%p:"), Pointer::Address);
    }

    #[test]
    fn what_is_no_directive_stays_text() {
        assert_eq!(split(b"50% %"), [Piece::Literal(b"50% %".to_vec())]);
        assert_eq!(split(b"\x1b[0m"), [Piece::Literal(b"\\x1b[0m".to_vec())]);
    }
}
