//! `symbols`: where the names of each binary come from, as text and as JSON.

use std::fmt::Write;

use oxperf_abi::BuildId;

use crate::json::string;
use crate::text::sanitize;

/// The facts of a binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectState {
    /// Its recorded name; untrusted.
    pub name: String,
    /// The recorded identity.
    pub recorded: Option<BuildId>,
    /// The file's identity.
    pub found: Option<BuildId>,
    /// The file, and which place gave it.
    pub file: Option<(String, &'static str)>,
    /// Places that were tried in vain, with the reason.
    pub tried: Vec<String>,
    /// Entries of the full table, of the loader's, and whether there is a compressed one.
    pub symbols: (usize, usize, bool),
    /// The file with source lines.
    pub debug: Option<String>,
    /// The tables for unwinding stacks.
    pub unwinding: Vec<&'static str>,
    /// Advice to the user.
    pub advice: Option<String>,
}

/// A paragraph for each binary.
pub fn plain(states: &[ObjectState]) -> String {
    let mut out = String::new();
    for state in states {
        let id = |id: Option<BuildId>| id.map_or("none".to_owned(), |id| id.to_string());
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", sanitize(&state.name));
        let _ = match &state.file {
            Some((path, origin)) => writeln!(out, "  file:      {} ({origin})", sanitize(path)),
            None => writeln!(out, "  file:      not found"),
        };
        for tried in &state.tried {
            let _ = writeln!(out, "             {}", sanitize(tried));
        }
        let _ = match state.found {
            Some(found) if Some(found) != state.recorded => {
                writeln!(
                    out,
                    "  build id:  {} recorded, {found} in the file",
                    id(state.recorded)
                )
            }
            _ => writeln!(out, "  build id:  {}", id(state.recorded)),
        };
        let (full, loader, compressed) = state.symbols;
        if full + loader > 0 {
            let more = if compressed {
                ", and a compressed table"
            } else {
                ""
            };
            let _ = writeln!(
                out,
                "  symbols:   {full} in .symtab, {loader} in .dynsym{more}"
            );
            let debug = state.debug.as_deref().map_or("none".into(), sanitize);
            let _ = writeln!(out, "  DWARF:     {debug}");
            let unwinding = if state.unwinding.is_empty() {
                "none".to_owned()
            } else {
                state.unwinding.join(", ")
            };
            let _ = writeln!(out, "  unwinding: {unwinding}");
        }
        if let Some(advice) = &state.advice {
            let _ = writeln!(out, "  do:        {}", sanitize(advice));
        }
    }
    out
}

/// An array with an object for each binary.
pub fn json(states: &[ObjectState]) -> String {
    let rows: Vec<String> = states.iter().map(object).collect();
    format!("[\n{}\n]\n", rows.join(",\n"))
}

fn object(state: &ObjectState) -> String {
    let text = |value: &str| {
        let mut out = Vec::new();
        string::write(value, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    };
    let maybe = |value: Option<String>| value.map_or("null".to_owned(), |value| text(&value));
    let list = |values: &mut dyn Iterator<Item = String>| {
        format!(
            "[{}]",
            values
                .map(|value| text(&value))
                .collect::<Vec<_>>()
                .join(", ")
        )
    };
    let (full, loader, compressed) = state.symbols;
    format!(
        "  {{\"name\": {}, \"build_id\": {}, \"file_build_id\": {}, \"file\": {}, \"origin\": {}, \"tried\": {}, \
         \"symtab\": {full}, \"dynsym\": {loader}, \"minidebug\": {compressed}, \"dwarf\": {}, \"unwind\": {}, \
         \"advice\": {}}}",
        text(&state.name),
        maybe(state.recorded.map(|id| id.to_string())),
        maybe(state.found.map(|id| id.to_string())),
        maybe(state.file.as_ref().map(|(path, _)| path.clone())),
        maybe(state.file.as_ref().map(|(_, origin)| (*origin).to_owned())),
        list(&mut state.tried.iter().cloned()),
        maybe(state.debug.clone()),
        list(&mut state.unwinding.iter().map(|name| (*name).to_owned())),
        maybe(state.advice.clone()),
    )
}
