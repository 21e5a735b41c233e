//! How large the mappings are that frames lie in.
//!
//! The recording tells where objects were mapped. That several mappings show the same place of one is rare, and they are of
//! one size then, but for those of files without their code: code counts first.

use oxperf_machine::{DsoId as MachineDso, Machine, Map};

use oxperf_profile::{DsoId, Frame, Profile};

/// The addresses of an object that a mapping shows, and whether as code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Stretch {
    first: u64,
    end: u64,
    is_code: bool,
}

/// All stretches of an object, by their first addresses.
#[derive(Default)]
struct Stretches {
    list: Vec<Stretch>,
    /// How far each and those before it reach at most.
    reach: Vec<u64>,
}

/// The size of the mapping around each frame, in bytes; `None` where nothing is mapped.
pub(super) fn of_frames(
    profile: &Profile,
    machine: &Machine,
    dso_of: impl Fn(MachineDso) -> Option<DsoId>,
) -> Vec<Option<u64>> {
    let mut of_dso: Vec<Stretches> = profile.dsos.iter().map(|_| Stretches::default()).collect();
    for map in machine.maps() {
        if let Some(known) = dso_of(map.dso).and_then(|dso| of_dso.get_mut(dso.index())) {
            known.list.push(stretch(map));
        }
    }
    of_dso.iter_mut().for_each(Stretches::settle);
    let size = |frame: &Frame| of_dso.get(frame.dso?.index())?.around(frame.dso_address);
    profile.frames.iter().map(size).collect()
}

fn stretch(map: &Map) -> Stretch {
    let first = map.start.wrapping_add(map.bias);
    let end = first.saturating_add(map.end.saturating_sub(map.start));
    Stretch {
        first,
        end,
        is_code: map.is_executable() == Some(true),
    }
}

impl Stretches {
    fn settle(&mut self) {
        self.list.sort_unstable();
        self.list.dedup();
        let reach = self.list.iter().scan(0, |reach, stretch| {
            *reach = stretch.end.max(*reach);
            Some(*reach)
        });
        self.reach = reach.collect();
    }

    /// The size of the stretch that holds an address.
    fn around(&self, address: u64) -> Option<u64> {
        let behind = self
            .list
            .partition_point(|stretch| stretch.first <= address);
        let before = self.list[..behind].iter().zip(&self.reach).rev();
        let mut around = before
            .take_while(|(_, reach)| **reach > address)
            .map(|(stretch, _)| stretch)
            .filter(|stretch| stretch.end > address)
            .peekable();
        let nearest = around.peek().copied()?;
        let shown = around.find(|stretch| stretch.is_code).unwrap_or(nearest);
        Some(shown.end - shown.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_counts_first() {
        let list = [(0, 90, false), (10, 20, true), (30, 40, false)];
        let list = list
            .map(|(first, end, is_code)| Stretch {
                first,
                end,
                is_code,
            })
            .into();
        let mut known = Stretches {
            list,
            ..Stretches::default()
        };
        known.settle();
        let sizes = [0, 10, 19, 20, 35, 89, 90].map(|address| known.around(address));
        assert_eq!(
            sizes,
            [
                Some(90),
                Some(10),
                Some(10),
                Some(90),
                Some(10),
                Some(90),
                None
            ]
        );
    }
}
