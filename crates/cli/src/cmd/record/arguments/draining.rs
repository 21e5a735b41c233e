//! The options that say who drains the rings.

use clap::{Arg, ArgMatches};
use oxperf_abi::Cpu;
use oxperf_capture::{
    Destination, DirectoryRecords, Draining, ReaderAffinity, ThreadLayout, ThreadMasks,
};
use oxperf_sys::cpus;

use super::text;
use crate::arguments::kinds::value;
use crate::cmd::record::ArgumentProblem;

/// The options.
pub(super) fn options() -> [Arg; 3] {
    [
        Arg::new("threads")
        .long("threads")
        .value_name("spec")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("cpu")
        .help("Record with several threads, each ring into a file of its own in a directory: a thread for each cpu, core, package or numa node; or threads as CPUS/AFFINITY[:...] states them, the CPUs that each drains and those that it runs on [default: cpu]"),
        value("affinity", "node|cpu").help("Have the recorder run on the node, or on the CPU, whose ring it drains [default: where the system puts it]"),
        Arg::new("aio")
            .long("aio")
            .value_name("n")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("1")
            .help("Accepted for perf's sake: what is written goes to memory here, and the kernel writes it to the disk meanwhile"),
    ]
}

/// Reads the options; a recording of several threads is a directory, which is the destination that is returned then.
pub(super) fn draining(
    matches: &ArgMatches,
    destination: Destination,
) -> Result<(Draining, Destination), ArgumentProblem> {
    let affinity = affinity(text(matches, "affinity"))?;
    let aio = text(matches, "aio").map(blocks).transpose()?;
    let Some(spec) = text(matches, "threads") else {
        return Ok((Draining::Alone(affinity), destination));
    };
    let refused = |message: &str| Err(ArgumentProblem::Contradiction(message.to_owned()));
    if affinity != ReaderAffinity::System {
        return refused("--affinity option is mutually exclusive to parallel streaming mode.");
    }
    if aio.is_some() {
        return refused(
            "Asynchronous streaming mode (--aio) is mutually exclusive to parallel streaming mode.",
        );
    }
    let layout = layout(spec)?;
    let directory = match destination {
        Destination::File(path) | Destination::Directory(path, _) => {
            Destination::Directory(path, DirectoryRecords::ByRing)
        }
        Destination::StandardOutput => {
            return Err(ArgumentProblem::Value(
                "Parallel trace streaming is not available in pipe mode.".to_owned(),
            ));
        }
    };
    Ok((Draining::Threads(layout), directory))
}

/// The CPUs of the recorder, from the text of `--affinity`.
fn affinity(text: Option<&str>) -> Result<ReaderAffinity, ArgumentProblem> {
    match text.map(str::to_ascii_lowercase).as_deref() {
        None | Some("sys") => Ok(ReaderAffinity::System),
        Some("node") => Ok(ReaderAffinity::Node),
        Some("cpu") => Ok(ReaderAffinity::Cpu),
        Some(other) => Err(ArgumentProblem::Value(format!(
            "--affinity takes node or cpu, not '{other}'"
        ))),
    }
}

/// The number of `--aio`, which says how many blocks perf writes at once.
fn blocks(text: &str) -> Result<u32, ArgumentProblem> {
    text.parse()
        .map_err(|_| ArgumentProblem::Value(format!("--aio takes a number, not '{text}'")))
}

/// The threads, from the text of `--threads`.
fn layout(spec: &str) -> Result<ThreadLayout, ArgumentProblem> {
    let names = [
        ("cpu", ThreadLayout::Cpu),
        ("core", ThreadLayout::Core),
        ("package", ThreadLayout::Package),
        ("numa", ThreadLayout::Node),
    ];
    let named = names
        .into_iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(spec));
    if let Some((_, layout)) = named {
        return Ok(layout);
    }
    if spec.is_empty() {
        return Ok(ThreadLayout::Cpu);
    }
    let threads = spec.split(':').filter(|one| !one.is_empty()).map(masks);
    let threads: Vec<ThreadMasks> = threads.collect::<Result<_, _>>()?;
    Ok(ThreadLayout::Stated(threads))
}

fn masks(text: &str) -> Result<ThreadMasks, ArgumentProblem> {
    let fault = |what: String| {
        ArgumentProblem::Contradiction(format!(
            "{what}\nFailed to initialize parallel data streaming masks"
        ))
    };
    let both = text.split_once('/');
    let both = both.filter(|(drains, runs_on)| !drains.is_empty() && !runs_on.is_empty());
    let Some((drains, runs_on)) = both else {
        return Err(fault(format!(
            "Invalid thread maps or affinity specs: '{text}' is not CPUS/AFFINITY, nor one of cpu, core, package, numa"
        )));
    };
    let list = |which: &str, text: &str| -> Result<Vec<Cpu>, ArgumentProblem> {
        let parsed = cpus::parse_list(text);
        parsed.map_err(|error| fault(format!("Failed to initialize {which} thread mask: {error}")))
    };
    Ok(ThreadMasks {
        drains: list("maps", drains)?,
        runs_on: list("affinity", runs_on)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(text: &str) -> Result<String, String> {
        match layout(text) {
            Ok(ThreadLayout::Stated(threads)) => {
                let threads = threads.iter().map(|one| {
                    let numbers = |cpus: &[Cpu]| cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>();
                    format!("{:?} on {:?}", numbers(&one.drains), numbers(&one.runs_on))
                });
                Ok(threads.collect::<Vec<_>>().join("; "))
            }
            Ok(layout) => Ok(format!("{layout:?}")),
            Err(ArgumentProblem::Contradiction(message)) => Err(message),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_recorder_moves_to_a_node_or_a_cpu() {
        assert_eq!(affinity(None), Ok(ReaderAffinity::System));
        assert_eq!(affinity(Some("NODE")), Ok(ReaderAffinity::Node));
        assert_eq!(affinity(Some("cpu")), Ok(ReaderAffinity::Cpu));
        assert!(affinity(Some("core")).is_err() && blocks("x").is_err());
        assert_eq!(blocks("9"), Ok(9));
    }

    #[test]
    fn threads_are_named_or_stated() {
        for (text, expected) in [
            ("", "Cpu"),
            ("CORE", "Core"),
            ("package", "Package"),
            ("numa", "Node"),
            ("0,2-3/2:1/0-1:", "[0, 2, 3] on [2]; [1] on [0, 1]"),
        ] {
            assert_eq!(stated(text), Ok(expected.to_owned()));
        }
        for (text, expected) in [
            ("cores", "Invalid thread maps or affinity specs: 'cores'"),
            ("0/", "Invalid thread maps or affinity specs: '0/'"),
            ("0/1:/2", "Invalid thread maps or affinity specs: '/2'"),
            ("x/1", "Failed to initialize maps thread mask: `x`"),
            (
                "0/3-1",
                "Failed to initialize affinity thread mask: the range",
            ),
        ] {
            assert!(stated(text).unwrap_err().starts_with(expected), "{text}");
        }
    }
}
