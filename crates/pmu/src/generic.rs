//! The kernel's generic events by perf's names: hardware, cache, software. Case does not matter.

use oxperf_abi::{CacheId, CacheOp, CacheResult, EventType, HardwareId, SoftwareId};

/// The kinds of generic events that have one name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GenericEvents {
    /// One of the CPU's cores has it.
    pub(crate) is_hardware_or_cache: bool,
    /// One of the software PMU has it.
    pub(crate) is_software: bool,
}

impl GenericEvents {
    /// Those of a name.
    pub(crate) fn named(name: &str) -> GenericEvents {
        GenericEvents {
            is_hardware_or_cache: hardware_or_cache(name).is_some(),
            is_software: software(name).is_some(),
        }
    }
}

/// Type and config of a generic event of the CPU.
pub fn hardware_or_cache(name: &str) -> Option<(EventType, u64)> {
    let hardware =
        find(HardwareId::ALL, HardwareId::names, name).map(|id| (EventType::HARDWARE, id as u64));
    hardware.or_else(|| cache(name).map(|config| (EventType::HW_CACHE, config)))
}

/// The names of generic events: of hardware, of software, and of caches as they are usually written.
pub(crate) fn usual_names() -> impl Iterator<Item = String> {
    let hardware = HardwareId::ALL.iter().flat_map(|id| id.names());
    let software = SoftwareId::ALL.iter().flat_map(|id| id.names());
    let plain = hardware.chain(software).map(|name| (*name).to_owned());
    plain.chain(CacheId::ALL.iter().flat_map(|id| usual_cache_names(*id)))
}

fn usual_cache_names(id: CacheId) -> impl Iterator<Item = String> {
    let name = id.names()[0];
    let operations = [
        (CacheOp::Read, "loads", "load"),
        (CacheOp::Write, "stores", "store"),
        (CacheOp::Prefetch, "prefetches", "prefetch"),
    ];
    let counted = operations
        .into_iter()
        .filter(move |(op, ..)| is_counted(id, *op));
    counted.flat_map(move |(_, all, one)| [format!("{name}-{all}"), format!("{name}-{one}-misses")])
}

/// Config of a software event.
pub(crate) fn software(name: &str) -> Option<u64> {
    find(SoftwareId::ALL, SoftwareId::names, name).map(|id| id as u64)
}

fn find<T: Copy>(all: &[T], names: fn(T) -> &'static [&'static str], name: &str) -> Option<T> {
    all.iter().copied().find(|id| {
        names(*id)
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    })
}

/// `CACHE[-OPERATION][-RESULT]`; reads and accesses are meant when nothing is said.
fn cache(name: &str) -> Option<u64> {
    starts_with(CacheId::ALL, CacheId::names, name).find_map(|(id, rest)| {
        let (op, result) = operation_and_result(rest)?;
        is_counted(id, op).then_some(id as u64 | (op as u64) << 8 | (result as u64) << 16)
    })
}

fn operation_and_result(text: &str) -> Option<(CacheOp, CacheResult)> {
    if text.is_empty() {
        return Some((CacheOp::Read, CacheResult::Access));
    }
    let text = text.strip_prefix('-')?;
    let with_operation =
        starts_with(CacheOp::ALL, CacheOp::names, text).find_map(|(op, rest)| match rest {
            "" => Some((op, CacheResult::Access)),
            rest => Some((
                op,
                find(
                    CacheResult::ALL,
                    CacheResult::names,
                    rest.strip_prefix('-')?,
                )?,
            )),
        });
    with_operation.or_else(|| {
        Some((
            CacheOp::Read,
            find(CacheResult::ALL, CacheResult::names, text)?,
        ))
    })
}

/// The values of which a name begins the text, with what follows it.
fn starts_with<'a, T: Copy + 'static>(
    all: &'static [T],
    names: fn(T) -> &'static [&'static str],
    text: &'a str,
) -> impl Iterator<Item = (T, &'a str)> {
    let spelled = all
        .iter()
        .flat_map(move |value| names(*value).iter().map(move |name| (*value, *name)));
    spelled.filter_map(move |(value, name)| {
        let (head, rest) = text.split_at_checked(name.len())?;
        head.eq_ignore_ascii_case(name).then_some((value, rest))
    })
}

/// Returns whether a config is that of a generic cache event.
pub(crate) fn is_cache_config(config: u64) -> bool {
    let byte = |shift: u32| (config >> shift) & 0xff;
    let cache = CacheId::ALL.iter().find(|id| **id as u64 == byte(0));
    let op = CacheOp::ALL.iter().find(|op| **op as u64 == byte(8));
    let result = CacheResult::ALL
        .iter()
        .any(|result| *result as u64 == byte(16));
    let is_known = cache.zip(op).is_some_and(|(id, op)| is_counted(*id, *op));
    is_known && result && config >> 24 == 0
}

/// Returns whether a cache has events of an operation; some make no sense.
pub fn is_counted(cache: CacheId, op: CacheOp) -> bool {
    match cache {
        CacheId::L1i => op != CacheOp::Write,
        CacheId::Itlb | CacheId::Bpu => op == CacheOp::Read,
        CacheId::L1d | CacheId::Ll | CacheId::Dtlb | CacheId::Node => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, kind, config) in [
            ("cycles", EventType::HARDWARE, 0),
            ("CPU-Cycles", EventType::HARDWARE, 0),
            ("branches", EventType::HARDWARE, 4),
            ("idle-cycles-frontend", EventType::HARDWARE, 7),
            ("branch", EventType::HW_CACHE, 5),
            ("branch-loads", EventType::HW_CACHE, 5),
            ("L1-dcache", EventType::HW_CACHE, 0),
            ("l1d-load-miss", EventType::HW_CACHE, 0x10000),
            ("L1-dcache-misses", EventType::HW_CACHE, 0x10000),
            ("LLC-prefetch-misses", EventType::HW_CACHE, 0x10202),
            ("L2-loads", EventType::HW_CACHE, 2),
            ("d-tlb-stores", EventType::HW_CACHE, 0x103),
            ("l1d-speculative-read-refs", EventType::HW_CACHE, 0x200),
            ("node-loads", EventType::HW_CACHE, 6),
        ] {
            assert_eq!(hardware_or_cache(name), Some((kind, config)), "{name}");
        }
        assert_eq!(software("FAULTS"), Some(2));
        assert_eq!(software("cs"), Some(3));
    }

    #[test]
    fn no_names() {
        for name in [
            "",
            "iTLB-stores",
            "branch-stores",
            "l1d-op",
            "L1-dcache-misses-load",
            "speculative",
            "L1-dcacheé",
        ] {
            assert_eq!(hardware_or_cache(name), None, "{name}");
        }
        assert_eq!(software("cycles"), None);
    }
}
