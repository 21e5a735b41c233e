//! Samples, one by one, as text, JSON lines, CSV, perf's JSON or a trace.
//!
//! A [`ScriptSink`](sink::ScriptSink) judges the samples of a session and gives each its borrowed
//! [view](view::SampleView), which goes through wrappers to a [format](format::SampleFormat). Text is written with gaps
//! where symbols belong; a pool of threads fills these while the recording is read on. Nothing here opens files, prints
//! or knows options of a command line.
//!
//! ```
//! use oxperf_script::functions::{FunctionChoice, FunctionNames};
//!
//! let choice = FunctionChoice::new(FunctionNames {
//!     shown: vec!["main".into()],
//!     ..FunctionNames::default()
//! });
//! assert!(choice.takes("main") && !choice.takes("exit"));
//! ```

mod address_cells;
mod address_json;
mod by_dso_address;
mod cgroup_paths;
pub mod chain_use;
pub mod clock;
pub mod code_reader;
pub mod deferred_symbols;
mod dso_offset;
pub mod error;
pub mod event_style;
mod fields;
pub mod format;
pub mod functions;
mod location_text;
mod name_lookup;
pub mod output;
pub mod record_text;
pub mod requirements;
mod sample_head;
pub mod selection;
pub mod sink;
mod source_texts;
pub mod srcline_text;
mod symbolizer_pool;
mod text_arena;
mod text_context;
pub mod time_of_day;
pub mod view;
pub mod wrap;
