//! The report on a terminal: rows and call chains that open.
//!
//! For a program that has a [`Profile`] and a person at a terminal. [`Browser`] is what is seen and what keys do to it: it
//! knows nothing of terminals, so it is tested without one. [`run`] shows a browser on a terminal and passes the keys
//! on. What needs more than the profile (a function's code, the recording's header, a file to write) a [`BrowserHost`] does.
//! Only what fits the screen is ever made into text, so tables of a million rows move as fast as small ones.
//!
//! ```
//! use oxperf_analysis::hist::HistOptions;
//! use oxperf_profile::Profile;
//! use oxperf_present::report::ReportText;
//! use oxperf_tui::{Browser, Key, Request};
//! let profile = Profile::default();
//! let mut browser = Browser::new(&profile, HistOptions::default(), ReportText::default());
//! assert_eq!(browser.press(Key::Char('q')), Some(Request::Quit));
//! ```
//!
//! [`Profile`]: oxperf_profile::Profile

mod browser;
mod calls;
mod dialog;
mod draw;
mod filter;
mod key;
mod lines;
mod menu;
mod pager;
mod palette;
mod terminal;
#[cfg(test)]
mod tests;
mod texts;
mod view;

pub use browser::{Browser, Request};
pub use draw::Look;
pub use key::Key;
pub use palette::{Colours, Hue, Palette};
pub use terminal::{BrowserHost, ExitReason, run};
