//! Workloads: small programs with known functions, threads and data, to try a recording with.
//!
//! For the command `test`, and for scripts that record something whose result is known beforehand. Names, arguments and
//! defaults are those of perf's workloads. A function that scripts look for stands in the binary under its plain name,
//! is never inlined, and spends the time itself rather than in what it calls.
//!
//! ```
//! let workload = oxperf_workloads::find("brstack").unwrap();
//! workload.run(&["10".to_owned()]).unwrap();
//! assert!(oxperf_workloads::find("no such workload").is_none());
//! ```

mod brstack;
mod context_switch_loop;
mod datasym;
mod deterministic;
mod error;
#[path = "inlineloop.c"]
mod inlineloop;
mod jitdump;
mod landlock;
mod leafloop;
mod named_threads;
mod noploop;
mod os;
mod spin;
mod sqrtloop;
mod thloop;
mod traploop;

pub use error::WorkloadError;

/// A small program.
#[derive(Debug)]
pub struct TestWorkload {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its arguments, as a usage line has them; all may be left out.
    pub arguments: &'static str,
    /// Functions and data that stand in the binary under these names.
    pub symbols: &'static [&'static str],
    run: fn(&[String]) -> Result<(), WorkloadError>,
}

impl TestWorkload {
    /// Runs it in this process, with the words of a command line as arguments. It may fork, start threads, change the
    /// name of the calling thread and write files into the working directory.
    ///
    /// # Errors
    /// An argument is refused, or the system refuses what the workload needs.
    pub fn run(&self, arguments: &[String]) -> Result<(), WorkloadError> {
        (self.run)(arguments)
    }
}

/// All workloads, in the order in which perf lists them.
pub static ALL: &[TestWorkload] = &[
    noploop::WORKLOAD,
    thloop::WORKLOAD,
    named_threads::WORKLOAD,
    leafloop::WORKLOAD,
    sqrtloop::WORKLOAD,
    brstack::WORKLOAD,
    datasym::WORKLOAD,
    landlock::WORKLOAD,
    traploop::WORKLOAD,
    inlineloop::WORKLOAD,
    jitdump::WORKLOAD,
    context_switch_loop::WORKLOAD,
    deterministic::WORKLOAD,
];

/// The workload of a name.
pub fn find(name: &str) -> Option<&'static TestWorkload> {
    ALL.iter().find(|workload| workload.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_refused_where_they_make_no_sense() {
        let refused = [
            ("thloop", "0", "seconds (0) must be >= 1"),
            ("noploop", "soon", "seconds (soon): a number is expected"),
            ("named_threads", "26", "num threads must be 1 - 25"),
            ("named_threads", "x", "num threads must be 1 - 25"),
            ("brstack", "-1", "loops (-1): a whole number is expected"),
        ];
        for (name, argument, message) in refused {
            let error = find(name).unwrap().run(&[argument.to_owned()]).unwrap_err();
            assert_eq!(error.to_string(), message, "{name} {argument}");
        }
    }

    #[test]
    fn short_runs_end_well() {
        for (name, arguments) in [
            ("noploop", &["0.01"][..]),
            ("thloop", &["0.01", "3"]),
            ("named_threads", &["25", "2"]),
            ("leafloop", &["0.01"]),
            ("brstack", &["10"]),
            ("datasym", &["0.01"]),
            ("landlock", &[]),
            ("inlineloop", &["0.01"]),
            ("deterministic", &[]),
        ] {
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            assert_eq!(find(name).unwrap().run(&arguments), Ok(()), "{name}");
        }
    }
}
