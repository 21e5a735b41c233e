//! The records of what existed before a recording: which of them, and how they are read.

use std::time::Duration;

use super::GuestFiles;

/// Which records are written of tasks that exist already, and how these are read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SynthesisOptions {
    /// Names and families of tasks.
    pub tasks: bool,
    /// Mappings of processes; only where there are their tasks.
    pub mappings: bool,
    /// Control groups, where they are recorded.
    pub cgroups: bool,
    /// Threads that read tasks; `None` for one a core.
    pub threads: Option<usize>,
    /// The time after which the rest of a process's mappings is left out; `None` to read all of them.
    pub maps_time: Option<Duration>,
    /// The guests whose kernels are described.
    pub guests: GuestFiles,
}

impl Default for SynthesisOptions {
    fn default() -> SynthesisOptions {
        SynthesisOptions {
            tasks: true,
            mappings: true,
            cgroups: true,
            threads: None,
            maps_time: None,
            guests: GuestFiles::default(),
        }
    }
}

impl SynthesisOptions {
    /// The records that a text of `--synth` names: a list of `task`, `mmap` (which needs the tasks) and `cgroup`, or `all`, or
    /// `no`. `None` where it is no such list.
    #[must_use]
    pub fn only(&self, text: &str) -> Option<SynthesisOptions> {
        let choose = |tasks, mappings, cgroups| SynthesisOptions {
            tasks,
            mappings,
            cgroups,
            ..self.clone()
        };
        let mut chosen = choose(false, false, false);
        for word in text.split(',') {
            match word.to_ascii_lowercase().as_str() {
                "no" | "none" => return Some(choose(false, false, false)),
                "all" => return Some(choose(true, true, true)),
                "task" => chosen.tasks = true,
                "mmap" => (chosen.tasks, chosen.mappings) = (true, true),
                "cgroup" => chosen.cgroups = true,
                _ => return None,
            }
        }
        Some(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_choose_records() {
        let parts = |text: &str| {
            let chosen = SynthesisOptions::default().only(text)?;
            Some([chosen.tasks, chosen.mappings, chosen.cgroups])
        };
        assert_eq!(parts("task"), Some([true, false, false]));
        assert_eq!(parts("mmap"), Some([true, true, false]));
        assert_eq!(parts("Task,CGROUP"), Some([true, false, true]));
        assert_eq!(parts("task,no"), Some([false; 3]));
        assert_eq!(parts("all"), Some([true; 3]));
        assert_eq!((parts("some"), parts("")), (None, None));
    }
}
