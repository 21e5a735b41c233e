//! `report --html`: the report as one file for a browser.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Arg, value_parser};
use oxperf_analysis::flame::FlameTree;
use oxperf_analysis::timeline::Timeline;
use oxperf_data::Reader;
use oxperf_present::html::flamegraph::FlamePage;
use oxperf_present::html::report_page::{ReportEvent, ReportPage};
use oxperf_present::text::unit::WeightUnit;
use oxperf_profile::{EventProfile, Profile};
use oxperf_sys::files::create_output;

use crate::failure::Failure;
use crate::header;
use crate::output::print_line;
use crate::wall_time;

/// The option's name.
pub(super) const NAME: &str = "html";

/// The option.
pub(super) fn argument() -> Arg {
    Arg::new(NAME)
        .long(NAME)
        .value_name("file")
        .value_parser(value_parser!(PathBuf))
        .help("Write a page for the browser: time line, flame graph, call tree and functions in one file")
}

/// Writes the page and says so.
pub(super) fn write(
    path: &Path,
    profile: &Profile,
    lost: &[String],
    reader: &Reader<'_>,
    input: &Path,
) -> Result<(), Failure> {
    let wall_time = wall_time::of(profile);
    let recorded = profile.events.iter().filter(|event| !event.is_empty());
    let shown = wall_time.iter().chain(recorded);
    let events: Vec<ReportEvent<'_>> = shown.map(|event| event_of(profile, event)).collect();
    let (title, host) = (header::command_or_file(reader, input), header::host(reader));
    let page = ReportPage {
        title: &title,
        subtitle: &host,
        lost,
        events: &events,
    };
    let written = || -> io::Result<()> {
        let mut file = BufWriter::with_capacity(1 << 20, create_output(path)?);
        page.write(&mut file)?;
        file.flush()
    };
    written().map_err(|error| {
        Failure::new(format!("cannot write the page {}: {error}", path.display()))
    })?;
    Ok(print_line(&format!(
        "{}: open it in a browser",
        path.display()
    ))?)
}

fn event_of<'p>(profile: &'p Profile, event: &'p EventProfile) -> ReportEvent<'p> {
    let (mut tree, mut places) = FlameTree::with_places(profile, event);
    if let Some(moved) = tree.fold(FlamePage::MAX_NODES) {
        for place in &mut places {
            *place = place.and_then(|node| moved.get(node as usize).copied());
        }
    }
    let timeline = Timeline::of_event(profile, event, &places, ReportPage::MAX_CELLS);
    ReportEvent {
        name: &event.name,
        unit: WeightUnit::of_event(&event.name),
        samples: event.sample_count,
        tree,
        timeline,
    }
}
