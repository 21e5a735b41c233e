//! Results to text and HTML; computes nothing.

pub mod annotate;
pub mod attr_text;
pub mod buildid_list;
pub mod call_tree;
pub mod civil;
pub mod ctf;
pub mod data_check;
pub mod dump;
pub mod event_names;
pub mod evlist;
pub mod export;
pub mod flamegraph;
pub mod header;
pub mod hot;
mod html;
pub mod json_export;
mod pieces;
pub mod records;
pub mod report;
pub mod report_page;
pub mod script;
pub mod source;
pub mod stats;
pub mod symbols;
pub mod tasks;
pub mod visible;
