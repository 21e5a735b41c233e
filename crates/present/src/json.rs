//! JSON on one line: strings that no text can end, objects and arrays.

pub mod object;
pub mod string;
