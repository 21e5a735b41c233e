//! Browsers driven by keys and drawn on a made-up screen.

mod filters;
mod requests;
mod rows;
mod screens;
mod support;
