//! Names of the standard library that have a mangling of two letters.

/// One of them.
#[derive(Clone, Copy)]
pub(super) struct Abbreviation {
    /// The letter behind `S`.
    pub(super) letter: u8,
    /// As it is shown.
    pub(super) short: &'static str,
    /// As it is shown before its own constructor.
    pub(super) full: &'static str,
    /// The name of its constructors.
    pub(super) class: Option<&'static str>,
}

/// All of them.
pub(super) const ABBREVIATIONS: &[Abbreviation] = &[
    Abbreviation {
        letter: b't',
        short: "std",
        full: "std",
        class: None,
    },
    Abbreviation {
        letter: b'a',
        short: "std::allocator",
        full: "std::allocator",
        class: Some("allocator"),
    },
    Abbreviation {
        letter: b'b',
        short: "std::basic_string",
        full: "std::basic_string",
        class: Some("basic_string"),
    },
    Abbreviation {
        letter: b's',
        short: "std::string",
        full: "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
        class: Some("basic_string"),
    },
    Abbreviation {
        letter: b'i',
        short: "std::istream",
        full: "std::basic_istream<char, std::char_traits<char> >",
        class: Some("basic_istream"),
    },
    Abbreviation {
        letter: b'o',
        short: "std::ostream",
        full: "std::basic_ostream<char, std::char_traits<char> >",
        class: Some("basic_ostream"),
    },
    Abbreviation {
        letter: b'd',
        short: "std::iostream",
        full: "std::basic_iostream<char, std::char_traits<char> >",
        class: Some("basic_iostream"),
    },
];
