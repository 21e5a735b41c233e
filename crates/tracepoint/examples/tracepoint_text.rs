//! Prints `EVENT: TEXT` for each tracepoint sample of a recording, to be held against `perf script -F event,trace`.
//!
//! `cargo run -p oxperf-tracepoint --example tracepoint_text -- perf.data [kallsyms]`

#![allow(clippy::print_stderr, clippy::print_stdout)]

#[path = "../tests/it/recording.rs"]
#[allow(dead_code)]
mod recording;

use std::io::Write;

use oxperf_tracepoint::{Formatters, KernelFunction, KernelSymbols};

/// Symbols of a kallsyms file.
#[derive(Default)]
struct Kallsyms(Vec<(u64, String)>);

impl Kallsyms {
    fn read(path: &str) -> std::io::Result<Kallsyms> {
        let text = std::fs::read_to_string(path)?;
        let line = |line: &str| {
            let mut words = line.split_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok()?;
            let text = matches!(words.next()?, "t" | "T" | "w" | "W");
            text.then(|| Some((address, words.next()?.to_owned())))?
        };
        let mut symbols: Vec<_> = text.lines().filter_map(line).collect();
        symbols.sort();
        Ok(Kallsyms(symbols))
    }
}

impl KernelSymbols for Kallsyms {
    fn symbol(&self, address: u64) -> Option<KernelFunction<'_>> {
        let after = self.0.partition_point(|(start, _)| *start <= address);
        let (start, name) = self.0.get(after.checked_sub(1)?)?;
        Some(KernelFunction {
            name,
            module: None,
            offset: address - start,
        })
    }
}

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("usage: tracepoint_text perf.data [kallsyms]");
        std::process::exit(2);
    };
    let symbols = arguments
        .next()
        .map_or(Ok(Kallsyms::default()), |path| Kallsyms::read(&path))?;
    let recording = recording::read(&std::fs::read(path)?);
    let formatters = Formatters::new(&recording.tracing);
    let mut out = Vec::new();
    for sample in &recording.samples {
        let name = formatters.name(sample.config).unwrap_or_default();
        out.extend_from_slice(format!("{name}: ").as_bytes());
        formatters.format(&sample.raw, &symbols, &mut out);
        out.push(b'\n');
    }
    std::io::stdout().write_all(&out)
}
