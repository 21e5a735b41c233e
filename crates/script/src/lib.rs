//! Samples in the form of text, JSON lines, CSV, perf's JSON or a trace.
//!
//! A [`sink`] judges the samples of a session and gives each its [view](view::SampleView), which goes through wrappers
//! to a [format](format::SampleFormat).

#![allow(missing_docs, unreachable_pub)]

mod by_dso_address;
pub mod clock;
pub mod code_reader;
pub mod deferred_symbols;
pub mod error;
pub mod event_style;
pub mod fields;
pub mod format;
pub mod functions;
pub mod location_text;
pub mod name_lookup;
pub mod output;
pub mod record_text;
pub mod requirements;
mod sample_head;
pub mod selection;
pub mod sink;
pub mod source_texts;
pub mod srcline_text;
mod symbolizer_pool;
mod text_arena;
mod text_writer;
pub mod time_of_day;
pub mod view;
pub mod wrap;
