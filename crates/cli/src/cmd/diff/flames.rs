//! `diff --flamegraph`: the call trees of two recordings as one page.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use oxperf_analysis::flame::{ChangedTree, FlameTree};
use oxperf_present::html::diff_page::DiffPage;
use oxperf_present::html::flamegraph::FlamePage;
use oxperf_present::text::unit::WeightUnit;
use oxperf_sys::files::create_output;

use super::Event;
use super::recording::Recording;
use crate::failure::Failure;

/// Writes the page of the first event that both recordings have samples of.
pub(super) fn write(
    recordings: &[Recording],
    events: &[Event<'_>],
    path: &Path,
) -> Result<(), Failure> {
    let [old, new, ..] = recordings else {
        return Err(Failure::new(
            "a flame graph of changes needs two recordings",
        ));
    };
    let sampled = |event: &&Event<'_>| event.sides.iter().take(2).all(|side| side.table.is_some());
    let Some(event) = events.iter().find(sampled) else {
        return Err(Failure::new(
            "the recordings have no event in common that both have samples of",
        ));
    };
    let trees = event.sides.iter().take(2).filter_map(|side| {
        let counted = side.profile.events.get(side.event?)?;
        let mut tree = FlameTree::of_event(side.profile, counted);
        tree.fold(FlamePage::MAX_NODES / 2);
        Some((tree, counted.sample_count))
    });
    let trees: Vec<(FlameTree, u64)> = trees.collect();
    let [(old_tree, old_samples), (new_tree, new_samples)] = trees.as_slice() else {
        return Err(Failure::new("the recordings have no event in common"));
    };
    let changed = ChangedTree::new(old_tree, new_tree);
    let lost = |recording: &Recording, which: &str| -> Vec<String> {
        recording
            .losses()
            .into_iter()
            .map(|loss| format!("{which}: {loss}"))
            .collect()
    };
    let lost = [lost(old, "old"), lost(new, "new")].concat();
    let title = format!("{} → {}", old.file, new.file);
    let subtitle = format!(
        "{}, {old_samples} and {new_samples} samples, both as 100%",
        event.name
    );
    let page = DiffPage {
        title: &title,
        subtitle: &subtitle,
        unit: WeightUnit::of_event(event.name),
        lost: &lost,
        changed: &changed,
    };
    let write = || -> io::Result<()> {
        let mut file = BufWriter::with_capacity(1 << 20, create_output(path)?);
        page.write(&mut file)?;
        file.flush()
    };
    write().map_err(|error| {
        Failure::new(format!(
            "cannot write the flame graph {}: {error}",
            path.display()
        ))
    })
}
