//! The CPUs to which a thread moves before it drains a ring: near to the memory of the ring, or to whoever wrote it.

use oxperf_abi::Cpu;
use oxperf_sys::cpus::{self, Affinity};

/// The CPUs of each ring, in the order of the rings; none of a ring for which nobody moves.
#[derive(Default)]
pub(super) struct Homes {
    cpus: Vec<Vec<Cpu>>,
    /// The ring for which the thread moved last.
    here: Option<usize>,
    /// Where the thread ran before.
    before: Option<Affinity>,
}

impl Homes {
    pub(super) fn new(cpus: Vec<Vec<Cpu>>) -> Homes {
        Homes {
            cpus,
            ..Homes::default()
        }
    }

    /// Moves to the CPUs of a ring, unless the thread is there. A CPU may be gone: the ring can be drained from anywhere.
    pub(super) fn move_to(&mut self, ring: usize) {
        let Some(cpus) = self.cpus.get(ring).filter(|cpus| !cpus.is_empty()) else {
            return;
        };
        if self.here.and_then(|here| self.cpus.get(here)) == Some(cpus) {
            return;
        }
        if self.before.is_none() {
            self.before = Affinity::current().ok();
        }
        if cpus::set_affinity(cpus).is_ok() {
            self.here = Some(ring);
        }
    }
}

impl Drop for Homes {
    /// What is done after the rings are drained is done on all CPUs.
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // They may be gone, too.
            let _ = before.restore();
        }
    }
}

impl std::fmt::Debug for Homes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Homes").field(&self.cpus).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a thread of its own, which alone moves.
    #[test]
    fn a_thread_moves_to_its_rings_and_back() {
        std::thread::spawn(|| {
            let all = cpus::affinity().unwrap();
            let (first, last) = (all[..1].to_vec(), all[all.len() - 1..].to_vec());
            let mut homes = Homes::new(vec![
                first.clone(),
                Vec::new(),
                last.clone(),
                vec![Cpu(5000)],
            ]);
            homes.move_to(0);
            assert_eq!(cpus::affinity().unwrap(), first);
            // For these rings nobody can move, or wants to.
            [1, 3, 9].into_iter().for_each(|ring| homes.move_to(ring));
            assert_eq!(cpus::affinity().unwrap(), first);
            homes.move_to(2);
            assert_eq!(cpus::affinity().unwrap(), last);
            drop(homes);
            assert_eq!(cpus::affinity().unwrap(), all);
        })
        .join()
        .unwrap();
    }
}
