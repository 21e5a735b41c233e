//! The threads that drain, from what the user asks and what the machine has.

use oxperf_abi::Cpu;

use crate::host_files::HostCpu;
use crate::options::{ReaderAffinity, ThreadLayout, ThreadMasks};

/// A fault in the threads that the user states.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LayoutError {
    /// A thread is to drain a CPU that is not online.
    #[error("Failed to initialize maps thread mask: CPU {0} is not online")]
    NoSuchMap(Cpu),
    /// A thread is to run on a CPU that is not online.
    #[error("Failed to initialize affinity thread mask: CPU {0} is not online")]
    NoSuchAffinity(Cpu),
    /// Two threads are to drain one CPU.
    #[error("Intersecting maps mask: CPU {0} is drained by two threads")]
    SharedMap(Cpu),
    /// Two threads are to run on one CPU.
    #[error("Intersecting affinity mask: two threads run on CPU {0}")]
    SharedAffinity(Cpu),
}

/// The threads of a layout on a machine with these CPUs, which are in `places`. A CPU has no thread where the machine does
/// not say to which core, package or node it belongs.
///
/// # Errors
/// The user states what cannot be.
pub(crate) fn threads(
    layout: &ThreadLayout,
    online: &[Cpu],
    places: &[HostCpu],
) -> Result<Vec<ThreadMasks>, LayoutError> {
    let groups = |key: fn(&HostCpu) -> Option<GroupKey>| of_groups(&groups(places, key), online);
    Ok(match layout {
        ThreadLayout::Cpu => online.iter().map(|&cpu| on_its_own(vec![cpu])).collect(),
        ThreadLayout::Core => groups(|cpu| Some([cpu.socket, cpu.die, Some(cpu.core?)])),
        ThreadLayout::Package => groups(|cpu| Some([Some(cpu.socket?), None, None])),
        ThreadLayout::Node => groups(|cpu| Some([Some(cpu.node?), None, None])),
        ThreadLayout::Stated(stated) => {
            check(stated, online)?;
            stated.clone()
        }
    })
}

/// The CPUs to which a thread moves to drain the ring of a CPU; none where it stays.
pub(crate) fn home(affinity: ReaderAffinity, cpu: Cpu, places: &[HostCpu]) -> Vec<Cpu> {
    match affinity {
        ReaderAffinity::System => Vec::new(),
        ReaderAffinity::Cpu => vec![cpu],
        ReaderAffinity::Node => {
            let node = |cpu: Cpu| places.iter().find(|place| place.cpu == cpu)?.node;
            let Some(own) = node(cpu) else {
                return Vec::new();
            };
            let all = places.iter().map(|place| place.cpu);
            all.filter(|&other| node(other) == Some(own)).collect()
        }
    }
}

/// The number of a group of CPUs, and of those around it.
type GroupKey = [Option<u32>; 3];

/// The CPUs with the same key, in the order of their first ones.
fn groups(places: &[HostCpu], key: fn(&HostCpu) -> Option<GroupKey>) -> Vec<Vec<Cpu>> {
    let mut groups: Vec<(GroupKey, Vec<Cpu>)> = Vec::new();
    for place in places {
        let Some(key) = key(place) else {
            continue;
        };
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, cpus)) => cpus.push(place.cpu),
            None => groups.push((key, vec![place.cpu])),
        }
    }
    groups.into_iter().map(|(_, cpus)| cpus).collect()
}

/// A thread for each group that has a CPU which is online.
fn of_groups(groups: &[Vec<Cpu>], online: &[Cpu]) -> Vec<ThreadMasks> {
    let online_of = |group: &Vec<Cpu>| {
        let cpus = group.iter().copied();
        cpus.filter(|cpu| online.contains(cpu)).collect()
    };
    let threads = groups.iter().map(online_of).map(on_its_own);
    threads.filter(|thread| !thread.drains.is_empty()).collect()
}

/// A thread that runs where the rings are that it drains.
fn on_its_own(cpus: Vec<Cpu>) -> ThreadMasks {
    ThreadMasks {
        drains: cpus.clone(),
        runs_on: cpus,
    }
}

fn check(stated: &[ThreadMasks], online: &[Cpu]) -> Result<(), LayoutError> {
    let offline = |cpus: &[Cpu]| cpus.iter().copied().find(|cpu| !online.contains(cpu));
    for (place, thread) in stated.iter().enumerate() {
        if let Some(cpu) = offline(&thread.drains) {
            return Err(LayoutError::NoSuchMap(cpu));
        }
        if let Some(cpu) = offline(&thread.runs_on) {
            return Err(LayoutError::NoSuchAffinity(cpu));
        }
        for before in stated.iter().take(place) {
            if let Some(cpu) = shared(&before.drains, &thread.drains) {
                return Err(LayoutError::SharedMap(cpu));
            }
            if let Some(cpu) = shared(&before.runs_on, &thread.runs_on) {
                return Err(LayoutError::SharedAffinity(cpu));
            }
        }
    }
    Ok(())
}

fn shared(one: &[Cpu], other: &[Cpu]) -> Option<Cpu> {
    other.iter().copied().find(|cpu| one.contains(cpu))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(numbers: &[u32]) -> Vec<Cpu> {
        numbers.iter().copied().map(Cpu).collect()
    }

    fn masks(drains: &[u32], runs_on: &[u32]) -> ThreadMasks {
        ThreadMasks {
            drains: cpus(drains),
            runs_on: cpus(runs_on),
        }
    }

    #[test]
    fn groups_have_a_thread_each_for_their_cpus_that_are_online() {
        let place = |cpu, socket, core| HostCpu {
            cpu: Cpu(cpu),
            socket: Some(socket),
            die: None,
            cluster: None,
            core,
            node: (cpu != 5).then_some(0),
            caches: Vec::new(),
        };
        let places = [
            place(0, 0, Some(0)),
            place(1, 1, Some(0)),
            place(2, 1, Some(3)),
            place(4, 0, Some(0)),
            place(5, 1, None),
        ];
        let of = |layout| threads(&layout, &cpus(&[0, 1, 4, 5]), &places).unwrap();
        let alike =
            |groups: &[&[u32]]| groups.iter().map(|one| masks(one, one)).collect::<Vec<_>>();
        assert_eq!(of(ThreadLayout::Cpu), alike(&[&[0], &[1], &[4], &[5]]));
        assert_eq!(of(ThreadLayout::Core), alike(&[&[0, 4], &[1]]));
        assert_eq!(of(ThreadLayout::Package), alike(&[&[0, 4], &[1, 5]]));
        assert_eq!(of(ThreadLayout::Node), alike(&[&[0, 1, 4]]));
        let at = |affinity, cpu| home(affinity, Cpu(cpu), &places);
        assert_eq!(at(ReaderAffinity::System, 1), []);
        assert_eq!(at(ReaderAffinity::Cpu, 1), cpus(&[1]));
        assert_eq!(at(ReaderAffinity::Node, 1), cpus(&[0, 1, 2, 4]));
        assert_eq!(at(ReaderAffinity::Node, 5), []);
    }

    #[test]
    fn each_cpu_is_drained_by_one_thread() {
        let online = cpus(&[0, 1, 2]);
        let stated = |list: &[ThreadMasks]| {
            let layout = ThreadLayout::Stated(list.to_vec());
            threads(&layout, &online, &[])
        };
        let both = [masks(&[0], &[0, 1]), masks(&[1, 2], &[2])];
        assert_eq!(stated(&both), Ok(both.to_vec()));
        let cases = [
            (
                [masks(&[0], &[0]), masks(&[7], &[1])],
                LayoutError::NoSuchMap(Cpu(7)),
            ),
            (
                [masks(&[0], &[9]), masks(&[1], &[1])],
                LayoutError::NoSuchAffinity(Cpu(9)),
            ),
            (
                [masks(&[0, 1], &[0]), masks(&[1], &[1])],
                LayoutError::SharedMap(Cpu(1)),
            ),
            (
                [masks(&[0], &[0, 2]), masks(&[1], &[2])],
                LayoutError::SharedAffinity(Cpu(2)),
            ),
        ];
        for (list, error) in cases {
            assert_eq!(stated(&list), Err(error));
        }
    }
}
