//! How complete stacks are had of a program that nobody said anything about: by frame pointers where all its code keeps
//! them, else by copies of its stacks, as large and as often as a machine keeps up with.

use std::ffi::OsString;
use std::path::PathBuf;

use oxperf_capture::{CallGraph, Program, Rate, SamplingOptions, Target, TargetOptions};

use super::program::{self, Frames, Keeper, Runtime};

/// Bytes of stacks that are copied in a second, on all CPUs together.
const BUDGET: u64 = 128 << 20;
/// Bytes of a copy that most programs need less of.
const USUAL_COPY: u32 = 32 << 10;
/// Bytes of the smallest copy: perf's usual one.
const SMALLEST_COPY: u32 = CallGraph::STACK_SIZE;
/// Rates of copies, in Hz, the highest first; none is a divisor of a clock's.
const COPY_RATES: [u64; 4] = [999, 499, 199, 99];
/// The rate of copies of a recording whose user names events: that of recordings.
const NAMED_EVENTS: u64 = 4000;
/// Bytes of a ring that takes copies, where rings may be of any size.
const RING: usize = 4 << 20;
/// Virtual machines from this version on write a map of their code when they end, if they are told to.
const JAVA_WITH_MAPS: u32 = 17;

/// What the machine and the user's options leave to choose from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    /// CPUs that are online.
    pub(super) cpus: u64,
    /// Rings may be as large as they should.
    pub(super) large_rings: bool,
    /// The user names events, which may have rates of their own.
    pub(super) names_events: bool,
    /// Bytes of a page.
    pub(super) page: usize,
}

/// Chooses how stacks are taken; gives the line that tells the user.
pub(super) fn choose(
    target: &TargetOptions,
    sampling: &mut SamplingOptions,
    machine: Circumstances,
) -> String {
    match frames_of(target) {
        Frames::Kept(keeper) => {
            sampling.call_graph = CallGraph::FramePointers { max_stack: None };
            let who = match keeper {
                Keeper::Go => "Go code keeps them",
                Keeper::Tables => "the program and its shared objects keep them",
            };
            format!("Stacks: by frame pointers ({who}).")
        }
        Frames::NotKept(object) => {
            let size = copies(sampling, machine);
            let rate = match sampling.rate {
                Some(Rate::Frequency(hertz)) => format!(" at {hertz} Hz"),
                _ => String::new(),
            };
            let kib = size >> 10;
            format!("Stacks: copies of {kib} KiB{rate} ({object} keeps no frame pointers).")
        }
    }
}

/// Sets copies of stacks; gives their size.
fn copies(sampling: &mut SamplingOptions, machine: Circumstances) -> u32 {
    let bytes = BUDGET / machine.cpus.max(1);
    if sampling.rate.is_none() && !machine.names_events {
        let fits = |rate: &&u64| **rate * u64::from(USUAL_COPY) <= bytes;
        let rate = COPY_RATES.iter().find(fits).unwrap_or(&99);
        sampling.rate = Some(Rate::Frequency(*rate));
    }
    let rate = match sampling.rate {
        Some(Rate::Frequency(hertz)) => hertz.max(1),
        _ => NAMED_EVENTS,
    };
    let mut size = USUAL_COPY;
    while size > SMALLEST_COPY && rate.saturating_mul(u64::from(size)) > bytes {
        size /= 2;
    }
    sampling.call_graph = CallGraph::Dwarf { stack_size: size };
    if sampling.ring_pages.is_none() && machine.large_rings {
        sampling.ring_pages = Some((RING / machine.page).max(1).next_power_of_two());
    }
    size
}

/// How the code of the target keeps its callers. A machine runs all kinds of code.
fn frames_of(target: &TargetOptions) -> Frames {
    let unknown = || Frames::NotKept("some code".to_owned());
    match (&target.target, &target.workload) {
        (Target::Workload, Some(workload)) => {
            program::file_of(workload).map_or_else(unknown, |path| program::frames(&path))
        }
        (Target::Processes(pids), _) => of_all(
            pids.iter()
                .map(|pid| PathBuf::from(format!("/proc/{}/exe", pid.0))),
        ),
        (Target::Threads(tids), _) => of_all(
            tids.iter()
                .map(|tid| PathBuf::from(format!("/proc/{}/exe", tid.0))),
        ),
        _ => unknown(),
    }
}

/// How the code of several programs does: the first that keeps none decides.
fn of_all(programs: impl Iterator<Item = PathBuf>) -> Frames {
    let mut all = None;
    for path in programs {
        let path = std::fs::read_link(&path).unwrap_or(path);
        match program::frames(&path) {
            Frames::Kept(keeper) => all = Some(Frames::Kept(keeper)),
            lost => return lost,
        }
    }
    all.unwrap_or_else(|| Frames::NotKept("some code".to_owned()))
}

/// Starts a virtual machine with the options that make its stacks complete and name its functions; gives the line that
/// tells the user.
pub(super) fn prepare_runtime(workload: &mut Program) -> Option<String> {
    let runtime = program::runtime(&program::file_of(workload)?)?;
    let (name, options) = options_of(&runtime);
    // A script's line names its interpreter: there is no place for an option.
    let first = PathBuf::from(workload.arguments.first()?);
    let is_started = first.file_name().is_some_and(|first| first == name);
    let added = options.iter().map(OsString::from);
    is_started.then(|| {
        workload.arguments.splice(1..1, added);
        let options = options.join(" ");
        format!("Stacks: {name} is started with {options} (--no-runtime-options leaves that out).")
    })
}

fn options_of(runtime: &Runtime) -> (&'static str, &'static [&'static str]) {
    match runtime {
        Runtime::Java(Some(version)) if *version >= JAVA_WITH_MAPS => (
            "java",
            &[
                "-XX:+PreserveFramePointer",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:+DumpPerfMapAtExit",
            ],
        ),
        Runtime::Java(_) => ("java", &["-XX:+PreserveFramePointer"]),
        Runtime::Node => ("node", &["--perf-basic-prof"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Circumstances = Circumstances {
        cpus: 2,
        large_rings: true,
        names_events: false,
        page: 4096,
    };

    fn chosen(rate: Option<Rate>, machine: Circumstances) -> (SamplingOptions, u32) {
        let mut sampling = SamplingOptions {
            rate,
            ..SamplingOptions::default()
        };
        let size = copies(&mut sampling, machine);
        assert_eq!(sampling.call_graph, CallGraph::Dwarf { stack_size: size });
        (sampling, size)
    }

    #[test]
    fn more_cpus_copy_less_often() {
        let rate_of = |cpus| chosen(None, Circumstances { cpus, ..MACHINE }).0.rate;
        let rates = [1, 2, 4, 8, 16, 32, 1000].map(rate_of);
        let expected = [999, 999, 999, 499, 199, 99, 99];
        assert_eq!(rates, expected.map(|rate| Some(Rate::Frequency(rate))));
    }

    #[test]
    fn a_rate_that_the_user_names_stays_and_copies_are_smaller() {
        for (hertz, expected) in [(99, 32), (999, 32), (4000, 16), (20_000, 8)] {
            let rate = Some(Rate::Frequency(hertz));
            let (sampling, size) = chosen(rate, MACHINE);
            assert_eq!((sampling.rate, size >> 10), (rate, expected));
        }
        let rate = Some(Rate::Period(1));
        assert_eq!(chosen(rate, MACHINE).0.rate, rate);
    }

    /// Events such as page faults have a rate of their own.
    #[test]
    fn events_that_the_user_names_keep_their_rate() {
        let machine = Circumstances {
            names_events: true,
            ..MACHINE
        };
        assert_eq!(chosen(None, machine).0.rate, None);
    }

    #[test]
    fn rings_are_large_where_they_may_be() {
        let pages = |large_rings| {
            let machine = Circumstances {
                large_rings,
                ..MACHINE
            };
            chosen(None, machine).0.ring_pages
        };
        assert_eq!([true, false].map(pages), [Some(1024), None]);
    }

    #[test]
    fn java_of_any_version_keeps_frame_pointers() {
        let options =
            [None, Some(11), Some(17)].map(|version| options_of(&Runtime::Java(version)).1);
        assert!(
            options
                .iter()
                .all(|all| all[0] == "-XX:+PreserveFramePointer")
        );
        assert_eq!(options.map(<[_]>::len), [1, 1, 3]);
    }
}
