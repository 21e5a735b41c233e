//! Results to text and HTML; computes nothing.

pub mod annotate;
pub mod call_tree;
pub mod ctf;
pub mod diff;
pub mod dump;
pub mod event_lines;
pub mod event_program;
pub mod export;
pub mod html;
pub mod json;
pub mod json_export;
pub mod recording;
pub mod records;
pub mod report;
pub mod script;
pub mod text;
pub mod top_table;
