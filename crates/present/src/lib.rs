//! Results to text, JSON and HTML. It computes nothing: a caller hands in what was counted, and bytes come out.
//!
//! For programs that have a [`Profile`](oxperf_profile::Profile), tables, a comparison, a recording's header or records, and
//! want to show them. Layouts are perf 7.2's to the byte wherever perf has one.
//!
//! - [`report`], [`annotate`], [`diff`], [`call_tree`] and [`top_table`]: tables of what was counted.
//! - [`html`] and [`export`]: the same as pages for a browser, and as files of other tools.
//! - [`recording`]: the facts of a recording itself. [`records`] and [`dump`]: its records, one by one.
//! - [`list`]: what can be counted.
//! - [`text`] and [`json`]: pieces that all of them share.
//!
//! What holds of each:
//!
//! - Bytes go to a writer or a buffer of the caller's; an error is the writer's own. Nothing is printed, opened or read from
//!   the environment.
//! - Names come from recordings and are not trusted: [`text::sanitize`] spells out what would steer a terminal, pages escape
//!   HTML, JSON cannot be ended by a name.
//! - One input has one output: neither threads nor maps without order show in it.
//!
//! ```
//! use oxperf_analysis::hist::{Field, HistOptions, Measure, SortKey, histograms};
//! use oxperf_present::report::{ReportText, table};
//! use oxperf_profile::{EventProfile, Profile};
//!
//! let event = EventProfile {
//!     name: "cycles".to_owned(),
//!     ..EventProfile::default()
//! };
//! let profile = Profile {
//!     events: vec![event],
//!     ..Profile::default()
//! };
//! let options = HistOptions {
//!     empty: true,
//!     ..HistOptions::default()
//! };
//! let text = ReportText {
//!     columns: vec![Field::Measure(Measure::Own), Field::Key(SortKey::Comm)],
//!     ..ReportText::default()
//! };
//! let mut out = Vec::new();
//! for rows in histograms(&profile, &options) {
//!     table(&mut out, &profile, &rows, &text)?;
//! }
//! let out = String::from_utf8_lossy(&out);
//! assert!(out.starts_with("# Samples: 0  of event 'cycles'\n"));
//! assert!(out.contains("# Overhead  Command\n"));
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod annotate;
pub mod call_tree;
pub mod counts;
pub mod ctf;
pub mod diff;
pub mod dump;
pub mod export;
pub mod html;
pub mod json;
pub mod json_export;
pub mod jsonl;
pub mod list;
pub mod recording;
pub mod records;
pub mod report;
pub mod script;
pub mod script_template;
pub mod text;
pub mod top_table;
