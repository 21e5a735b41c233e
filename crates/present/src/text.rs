//! Pieces of text that several outputs share: safe names, padded columns, numbers, dates, and the words for flags.

pub mod attr_text;
pub mod branch_text;
pub mod calendar;
pub mod mem_text;
pub mod number;
pub mod padding;
mod sanitize;
pub mod source_line;
pub mod unit;

pub use sanitize::sanitize;
