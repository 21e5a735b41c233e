//! Reports: the made-up trees with their samples spread over time, threads and CPUs.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use oxperf_abi::{Pid, Tid};
use oxperf_analysis::flame::{FlameTree, FlameWeight};
use oxperf_analysis::timeline::{Timeline, TimelineCell, TimelineLane, TimelineThread};
use oxperf_present::html::report_page::{ReportEvent, ReportPage};
use oxperf_present::text::unit::WeightUnit;

use super::{Dice, HOSTILE};

const THREADS: u32 = 300;
const CPUS: u32 = 8;
const STRETCHES: u32 = 2048;

/// Writes a report with an event for each tree.
pub(super) fn write(directory: &Path, name: &str, trees: &[FlameTree]) -> io::Result<()> {
    let hostile = name.ends_with("hostile");
    let title = if hostile {
        HOSTILE[0]
    } else {
        "cargo build --release --workspace"
    };
    let events: Vec<ReportEvent<'_>> = trees
        .iter()
        .zip(["cycles", "cpu-clock", "page-faults"])
        .map(|(tree, event)| ReportEvent {
            name: if hostile { HOSTILE[1] } else { event },
            unit: WeightUnit::of_event(event),
            samples: tree.total().samples,
            tree: tree.clone(),
            timeline: spread(tree, hostile),
        })
        .collect();
    let page = ReportPage {
        title,
        subtitle: "build-7, Linux 7.2.13, x86_64",
        lost: &[],
        events: &events,
    };
    let mut out = BufWriter::new(File::create(directory.join(format!("{name}.html")))?);
    page.write(&mut out)?;
    out.flush()
}

/// Gives every sample of a tree a time, a thread and a CPU. Thread 0 runs all the time, the others for a while each.
fn spread(tree: &FlameTree, hostile: bool) -> Timeline {
    let mut dice = Dice(11);
    let name = |thread: u32| match hostile {
        true => HOSTILE[thread as usize % HOSTILE.len()].to_owned(),
        false => format!("worker-{}", thread % 7),
    };
    let thread = |id| TimelineThread {
        pid: Pid(1000),
        tid: Tid(1000 + id as i32),
        name: name(id),
    };
    let lane = |lane| TimelineLane {
        thread: lane / CPUS,
        cpu: Some(lane % CPUS),
    };
    let mut cells = Vec::new();
    for (node, place) in (0..).zip(&tree.nodes) {
        for nth in 0..place.own.samples {
            let (stretch, thread) = moment(&mut dice);
            let rest = place.own.value % place.own.samples;
            let value = place.own.value / place.own.samples + if nth == 0 { rest } else { 0 };
            let lane = thread * CPUS + dice.below(u64::from(CPUS)) as u32;
            cells.push(TimelineCell {
                stretch,
                lane,
                node,
                weight: FlameWeight { value, samples: 1 },
            });
        }
    }
    Timeline {
        start: Some(1_700_000_000_123_456_789),
        stretch: 6_000_000,
        stretches: STRETCHES,
        threads: (0..THREADS).map(thread).collect(),
        lanes: (0..THREADS * CPUS).map(lane).collect(),
        cells,
    }
}

/// A stretch, and a thread that runs in it.
fn moment(dice: &mut Dice) -> (u32, u32) {
    let stretch = dice.below(u64::from(STRETCHES)) as u32;
    let running = 1 + stretch * (THREADS - 1) / STRETCHES;
    (stretch, if dice.below(3) == 0 { 0 } else { running })
}
