//! The flame graph of time on and off the CPU, or of the first event that has samples.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use oxperf_analysis::flame::FlameTree;
use oxperf_present::html::flamegraph::FlamePage;
use oxperf_present::text::unit::WeightUnit;
use oxperf_profile::Profile;
use oxperf_sys::files::create_output;

use crate::failure::Failure;
use crate::output::print_error;
use crate::wall_time;

/// Writes the page; says so where there are no samples.
pub(super) fn write(
    profile: &Profile,
    title: &str,
    lost: &[String],
    path: &Path,
) -> Result<(), Failure> {
    // A page shows one event: time on and off the CPU, else the first that has samples.
    let wall_time = wall_time::of(profile);
    let sampled = profile.events.iter().find(|event| event.sample_count > 0);
    let Some(event) = wall_time.as_ref().or(sampled).or(profile.events.first()) else {
        return Ok(());
    };
    let mut tree = FlameTree::of_event(profile, event);
    tree.fold(FlamePage::MAX_NODES);
    let unit = WeightUnit::of_event(&event.name);
    let subtitle = format!("{}, {} samples", event.name, event.sample_count);
    let page = FlamePage {
        title,
        subtitle: &subtitle,
        unit,
        lost,
        tree: &tree,
    };
    let write_page = || -> io::Result<()> {
        let mut file = BufWriter::with_capacity(1 << 20, create_output(path)?);
        page.write(&mut file)?;
        file.flush()
    };
    write_page().map_err(|error| {
        Failure::new(format!(
            "cannot write the flame graph {}: {error}",
            path.display()
        ))
    })?;
    if event.sample_count == 0 {
        print_error("No samples: did the program run long enough? Try a higher rate (-F max).");
    }
    Ok(())
}
