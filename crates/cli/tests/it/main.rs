//! The program run as a user runs it, by topic: a file below `it/` each. One binary, so that it is linked once.
#![allow(clippy::print_stderr, reason = "what was skipped is for people")]

mod annotate;
mod buildid_cache;
mod bundle;
mod commands_page;
mod completions;
mod config;
mod convert;
mod ctf;
mod cut_recordings;
mod damaged;
mod data_types;
mod dlfilter;
mod exports;
mod feed;
mod hostile_names;
mod manual;
mod modules;
mod pager;
mod perf_opens;
mod profile;
mod record;
mod recorder;
mod recorder_ends;
mod recorder_privileges;
mod recorder_shortages;
mod refused_options;
mod report_html;
mod report_order;
mod report_screen;
mod resource_limits;
mod selftest;
mod streams;
mod support;
mod surroundings;
mod trust;
