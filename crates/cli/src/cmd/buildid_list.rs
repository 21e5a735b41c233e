//! `buildid-list`: the binaries of a recording with their identities.

use std::io::Write;
use std::ops::ControlFlow;

use clap::{ArgMatches, Command};
use oxperf_abi::BuildId;
use oxperf_data::Reader;
use oxperf_data::features::BuildIds;
use oxperf_machine::{DsoId, Machine};
use oxperf_present::buildid_list;
use oxperf_resolve::walk_chain;
use oxperf_session::{SampleEvent, Session, Sink};

use crate::failure::{Failure, code};
use crate::input::{self, Input};
use crate::output::Output;

/// The options.
pub(crate) fn command() -> Command {
    Command::new("buildid-list")
        .about("List the binaries of a recording with their build ids")
        .args(input::arguments())
}

/// Runs `buildid-list`.
pub(crate) fn run(matches: &ArgMatches, _program: &str) -> Result<i32, Failure> {
    let input = Input::from_matches(matches)?;
    let reader = input.reader()?;
    let table = reader.features().get::<BuildIds>().ok().flatten();
    let binaries = match table {
        Some(table) => table.0.into_iter().map(|entry| (Some(entry.build_id), entry.name)).collect(),
        None => hit_binaries(&input, &reader)?,
    };
    let binaries: Vec<(Option<BuildId>, &str)> =
        binaries.iter().map(|(id, name)| (*id, name.as_str())).collect();
    let mut text = String::new();
    buildid_list::write(&mut text, &binaries);
    let mut output = Output::stdout();
    output.write_all(text.as_bytes())?;
    output.finish()?;
    Ok(code::SUCCESS)
}

/// Without a table, the mappings tell the identities: of the binaries that samples hit.
fn hit_binaries(input: &Input, reader: &Reader<'_>) -> Result<Vec<(Option<BuildId>, String)>, Failure> {
    let mut hits = Hits::default();
    let finished = Session::new(reader).run(&mut hits).map_err(|error| input.refuse(&error))?;
    let dsos = finished.machine.dsos().iter().zip(hits.hit.iter().chain(std::iter::repeat(&false)));
    let known = dsos.filter(|(_, hit)| **hit).map(|(dso, _)| (dso.build_id, dso.name.clone()));
    Ok(known.collect())
}

/// Marks what samples and their callers lie in.
#[derive(Default)]
struct Hits {
    hit: Vec<bool>,
}

impl Hits {
    fn mark(&mut self, dso: DsoId) {
        let index = dso.0 as usize;
        if self.hit.len() <= index {
            self.hit.resize(index + 1, false);
        }
        self.hit[index] = true;
    }
}

impl Sink for Hits {
    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        let mode = event.misc.cpu_mode();
        if let Some(place) = event.sample.ip.and_then(|ip| machine.locate(event.thread, mode, ip)) {
            self.mark(place.dso);
        }
        if let Some(words) = event.sample.callchain {
            // A chain with an unknown marker has told what it could.
            let _ = walk_chain(words, |mode, ip| {
                if let Some(place) = machine.locate(event.thread, mode, ip) {
                    self.mark(place.dso);
                }
            });
        }
        ControlFlow::Continue(())
    }
}
