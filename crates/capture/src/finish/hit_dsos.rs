//! The binaries that have samples: the mappings of every address space, and the addresses seen in them.
//!
//! Records are not in order of time yet, so an address is looked for in all mappings that its process, or one that
//! it was forked from, ever had. That can name a binary too many, never one too few.

use std::collections::HashMap;
use std::ops::Range;

use oxperf_abi::{BuildId, CpuMode, KERNEL_START, Pid};
use rustc_hash::FxHashMap;

/// A mapped binary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Dso {
    /// Path, or a name like `[vdso]`.
    pub(crate) name: Vec<u8>,
    /// Kernel or user.
    pub(crate) mode: CpuMode,
    /// Its identity when its mapping carried it.
    pub(crate) build_id: Option<BuildId>,
    /// `true` if an address of a sample lies in it.
    pub(crate) hit: bool,
}

/// The place of a binary in [`Mappings::dsos`].
type DsoIndex = usize;

#[derive(Clone, Copy, Debug)]
struct Mapping {
    start: u64,
    end: u64,
    /// The highest end of this and all mappings before it.
    reach: u64,
    dso: DsoIndex,
}

/// The mappings that one process made.
#[derive(Default, Debug)]
struct Space {
    mappings: Vec<Mapping>,
    parent: Option<Pid>,
}

/// All address spaces and binaries of a recording, while they are collected.
#[derive(Default, Debug)]
pub(crate) struct Mappings {
    dsos: Vec<Dso>,
    by_name: HashMap<(Vec<u8>, Option<BuildId>), DsoIndex>,
    spaces: FxHashMap<Pid, Space>,
    kernel: Space,
}

impl Mappings {
    /// A process mapped a binary.
    pub(crate) fn map(
        &mut self,
        pid: Pid,
        range: Range<u64>,
        name: &[u8],
        build_id: Option<BuildId>,
    ) {
        let kernel = range.start >= KERNEL_START && pid.0 == -1;
        let mode = if kernel {
            CpuMode::Kernel
        } else {
            CpuMode::User
        };
        let dso = self.dso(name, mode, build_id);
        let space = if kernel {
            &mut self.kernel
        } else {
            self.spaces.entry(pid).or_default()
        };
        space.mappings.push(Mapping {
            start: range.start,
            end: range.end,
            reach: 0,
            dso,
        });
    }

    /// A process was forked.
    pub(crate) fn fork(&mut self, child: Pid, parent: Pid) {
        if child != parent {
            self.spaces.entry(child).or_default().parent = Some(parent);
        }
    }

    /// Adds what was mapped and forked in other records.
    pub(crate) fn add(&mut self, other: Mappings) {
        let place_of = |dso: &Dso| self.dso(&dso.name, dso.mode, dso.build_id);
        let places: Vec<DsoIndex> = other.dsos.iter().map(place_of).collect();
        let moved = |space: Space| {
            let mappings = space.mappings.into_iter().filter_map(|mapping| {
                let dso = *places.get(mapping.dso)?;
                Some(Mapping { dso, ..mapping })
            });
            (mappings.collect::<Vec<_>>(), space.parent)
        };
        self.kernel.mappings.extend(moved(other.kernel).0);
        for (pid, space) in other.spaces {
            let (mappings, parent) = moved(space);
            let own = self.spaces.entry(pid).or_default();
            own.mappings.extend(mappings);
            own.parent = own.parent.or(parent);
        }
    }

    fn dso(&mut self, name: &[u8], mode: CpuMode, build_id: Option<BuildId>) -> DsoIndex {
        let key = (name.to_vec(), build_id);
        let (dsos, next) = (&mut self.dsos, self.by_name.len());
        *self.by_name.entry(key).or_insert_with(|| {
            dsos.push(Dso {
                name: name.to_vec(),
                mode,
                build_id,
                hit: false,
            });
            next
        })
    }
}

/// The collected mappings, ready for addresses. What a process has from those that it was forked from stays with them:
/// memory grows with the mappings that were made, not with those that are inherited.
#[derive(Debug)]
pub(crate) struct Hits {
    dsos: Vec<Dso>,
    spaces: Vec<Unseen>,
    /// The place of each process in `spaces`, and its parent.
    families: FxHashMap<Pid, (u32, Option<Pid>)>,
    /// The spaces where addresses of a process are looked for, while there is anything to find.
    lines: FxHashMap<Pid, Vec<u32>>,
    kernel: Unseen,
}

/// Forks that are followed back; longer chains are damage.
const MOST_ANCESTORS: usize = 64;

impl Hits {
    /// Takes the mappings when all are known.
    pub(crate) fn new(mappings: Mappings) -> Hits {
        let Mappings {
            dsos,
            spaces,
            kernel,
            ..
        } = mappings;
        let (mut families, mut unseen) = (FxHashMap::default(), Vec::with_capacity(spaces.len()));
        for (pid, space) in spaces {
            families.insert(pid, (unseen.len() as u32, space.parent));
            unseen.push(Unseen::new(space.mappings));
        }
        let (spaces, kernel) = (unseen, Unseen::new(kernel.mappings));
        Hits {
            dsos,
            spaces,
            families,
            lines: FxHashMap::default(),
            kernel,
        }
    }

    /// Marks what lies at the addresses of a sample of `pid`.
    #[inline]
    pub(crate) fn mark(&mut self, pid: Pid, addresses: impl Iterator<Item = u64>) {
        let Hits {
            dsos,
            spaces,
            families,
            lines,
            kernel,
        } = self;
        let line = lines.entry(pid).or_insert_with(|| line_of(families, pid));
        let mut found = false;
        for address in addresses {
            if address >= KERNEL_START {
                kernel.mark(address, dsos);
                continue;
            }
            for &place in &*line {
                found |= spaces
                    .get_mut(place as usize)
                    .is_some_and(|space| space.mark(address, dsos));
            }
        }
        if found {
            line.retain(|&place| {
                spaces
                    .get(place as usize)
                    .is_some_and(|space| !space.0.is_empty())
            });
        }
    }

    /// The binaries.
    pub(crate) fn into_dsos(self) -> Vec<Dso> {
        self.dsos
    }
}

/// The spaces of a process and of those that it was forked from.
fn line_of(families: &FxHashMap<Pid, (u32, Option<Pid>)>, pid: Pid) -> Vec<u32> {
    let line = std::iter::successors(families.get(&pid), |(_, parent)| families.get(&(*parent)?));
    let mut sites: Vec<u32> = line
        .take(MOST_ANCESTORS + 1)
        .map(|&(site, _)| site)
        .collect();
    sites.sort_unstable();
    sites.dedup();
    sites
}

/// The mappings of a space whose binaries are not marked yet, by start. Few are left after a few samples.
#[derive(Debug)]
struct Unseen(Vec<Mapping>);

impl Unseen {
    fn new(mappings: Vec<Mapping>) -> Unseen {
        let mut unseen = Unseen(mappings);
        unseen.0.sort_unstable_by_key(|mapping| mapping.start);
        unseen.measure();
        unseen
    }

    /// Marks whatever was ever mapped at `address`; whether anything was.
    #[inline]
    fn mark(&mut self, address: u64, dsos: &mut [Dso]) -> bool {
        let after = self.0.partition_point(|mapping| mapping.start <= address);
        let before = self.0.get(..after).unwrap_or_default().iter().rev();
        let mut found = false;
        for mapping in before.take_while(|mapping| mapping.reach > address) {
            if let Some(dso) = dsos.get_mut(mapping.dso).filter(|_| mapping.end > address) {
                dso.hit = true;
                found = true;
            }
        }
        if found {
            self.forget_marked(dsos);
        }
        found
    }

    #[cold]
    fn forget_marked(&mut self, dsos: &[Dso]) {
        self.0
            .retain(|mapping| dsos.get(mapping.dso).is_some_and(|dso| !dso.hit));
        self.measure();
    }

    fn measure(&mut self) {
        let mut reach = 0;
        for mapping in &mut self.0 {
            reach = mapping.end.max(reach);
            mapping.reach = reach;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit_names(mappings: Mappings, addresses: &[(i32, u64)]) -> String {
        let mut hits = Hits::new(mappings);
        addresses
            .iter()
            .for_each(|&(pid, address)| hits.mark(Pid(pid), [address].into_iter()));
        let names = hits.into_dsos().into_iter().filter(|dso| dso.hit);
        names
            .map(|dso| String::from_utf8(dso.name).unwrap())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn addresses_mark_what_is_mapped_there() {
        let mut maps = Mappings::default();
        maps.map(Pid(1), 0x3000..0x4000, b"/b", None);
        maps.map(Pid(1), 0x1000..0x2000, b"/a", None);
        maps.map(Pid(2), 0x1000..0x2000, b"/c", None);
        maps.map(
            Pid(-1),
            0xffff_ffff_8100_0000..0xffff_ffff_8100_1000,
            b"[kernel.kallsyms]_text",
            None,
        );
        let addresses = [
            (1, 0x1fff),
            (1, 0x2000),
            (1, 0xfff),
            (9, 0xffff_ffff_8100_0010),
            (9, 0x1000),
        ];
        assert_eq!(hit_names(maps, &addresses), "/a [kernel.kallsyms]_text");
    }

    #[test]
    fn what_was_mapped_one_after_the_other_is_all_marked() {
        let mut maps = Mappings::default();
        maps.map(Pid(1), 0x1000..0xa000, b"/large", None);
        maps.map(Pid(1), 0x2000..0x3000, b"/small", None);
        maps.map(Pid(1), 0x4000..0x5000, b"/other", None);
        assert_eq!(hit_names(maps, &[(1, 0x2800)]), "/large /small");
    }

    #[test]
    fn children_see_what_their_parents_had() {
        let mut maps = Mappings::default();
        maps.map(Pid(1), 0x1000..0x2000, b"/a", None);
        maps.fork(Pid(2), Pid(1));
        maps.fork(Pid(3), Pid(2));
        assert_eq!(hit_names(maps, &[(3, 0x1000)]), "/a");
    }

    /// Bytes of what is kept of mappings and processes would be 3,000 times 2,000 otherwise.
    #[test]
    fn forks_share_what_they_inherit() {
        let mut maps = Mappings::default();
        for page in 0..3000 {
            let name = format!("/{page}");
            maps.map(Pid(1), page << 12..(page + 1) << 12, name.as_bytes(), None);
        }
        (2..2002).for_each(|pid| maps.fork(Pid(pid), Pid(1)));
        let mut hits = Hits::new(maps);
        (2..2002).for_each(|pid| hits.mark(Pid(pid), [(pid as u64) << 12].into_iter()));
        assert!(hits.spaces.iter().map(|space| space.0.len()).sum::<usize>() <= 3000);
        assert!(hits.lines.values().map(Vec::len).sum::<usize>() <= 2 * 2000);
        assert_eq!(hits.into_dsos().iter().filter(|dso| dso.hit).count(), 2000);
    }

    #[test]
    fn what_several_saw_is_one() {
        let (mut one, mut other) = (Mappings::default(), Mappings::default());
        one.map(Pid(1), 0x1000..0x2000, b"/a", None);
        other.map(Pid(1), 0x3000..0x4000, b"/b", None);
        other.map(Pid(3), 0x1000..0x2000, b"/a", None);
        other.fork(Pid(2), Pid(1));
        one.add(other);
        assert_eq!(one.dsos.len(), 2);
        assert_eq!(hit_names(one, &[(2, 0x1000), (2, 0x3000)]), "/a /b");
    }

    #[test]
    fn a_circle_of_forks_ends() {
        let mut maps = Mappings::default();
        maps.fork(Pid(1), Pid(2));
        maps.fork(Pid(2), Pid(1));
        assert_eq!(hit_names(maps, &[(1, 0x1000)]), "");
    }
}
