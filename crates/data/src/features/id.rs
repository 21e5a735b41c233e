//! The numbers of the features, and the set of them in the file header.

use std::fmt;

/// A feature's bit in the file header.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeatureId(pub u8);

macro_rules! feature_ids {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        impl FeatureId {
            $($(#[$doc])* pub const $name: FeatureId = FeatureId($value);)*

            /// Every feature known here, in order.
            pub const ALL: &'static [FeatureId] = &[$(FeatureId::$name,)*];

            /// perf's name for it; `None` when unknown here.
            pub fn name(self) -> Option<&'static str> {
                match self { $(FeatureId::$name => Some(stringify!($name)),)* _ => None }
            }
        }
    };
}

feature_ids! {
    /// Formats of the tracepoints.
    TRACING_DATA = 1;
    /// Build ids of the binaries.
    BUILD_ID = 2;
    /// Name of the host.
    HOSTNAME = 3;
    /// Release of its kernel.
    OSRELEASE = 4;
    /// Version of the recorder.
    VERSION = 5;
    /// Machine type.
    ARCH = 6;
    /// Number of CPUs.
    NRCPUS = 7;
    /// Name of the CPU.
    CPUDESC = 8;
    /// Maker, family, model and stepping of the CPU.
    CPUID = 9;
    /// Size of the memory.
    TOTAL_MEM = 10;
    /// The recorder's command line.
    CMDLINE = 11;
    /// Attributes, names and ids of the events.
    EVENT_DESC = 12;
    /// Cores, dies and sockets.
    CPU_TOPOLOGY = 13;
    /// Memory nodes with their CPUs.
    NUMA_TOPOLOGY = 14;
    /// Samples hold branch stacks.
    BRANCH_STACK = 15;
    /// Numbers and names of the PMUs.
    PMU_MAPPINGS = 16;
    /// Groups of events.
    GROUP_DESC = 17;
    /// Places of the AUX data.
    AUXTRACE = 18;
    /// Made by `perf stat record`.
    STAT = 19;
    /// CPU caches.
    CACHE = 20;
    /// Time of the first and the last sample.
    SAMPLE_TIME = 21;
    /// Memory blocks of each node.
    MEM_TOPOLOGY = 22;
    /// Resolution of the clock.
    CLOCKID = 23;
    /// Records are in further files.
    DIR_FORMAT = 24;
    /// BPF programs.
    BPF_PROG_INFO = 25;
    /// BPF type information.
    BPF_BTF = 26;
    /// Records are compressed.
    COMPRESSED = 27;
    /// Capabilities of the CPU's PMU.
    CPU_PMU_CAPS = 28;
    /// One moment by two clocks.
    CLOCK_DATA = 29;
    /// PMUs of the kinds of cores.
    HYBRID_TOPOLOGY = 30;
    /// Capabilities of the PMUs.
    PMU_CAPS = 31;
    /// Scheduling domains.
    CPU_DOMAIN_INFO = 32;
    /// ELF machine of the recorded programs.
    E_MACHINE = 33;
    /// Size of a cache line.
    CLN_SIZE = 34;
}

/// The features that simpleperf adds.
impl FeatureId {
    /// Binaries with symbols.
    pub const SIMPLEPERF_FILE: FeatureId = FeatureId(128);
    /// Keys with values.
    pub const SIMPLEPERF_META_INFO: FeatureId = FeatureId(129);
    /// Files kept to find out why stacks could not be unwound.
    pub const SIMPLEPERF_DEBUG_UNWIND: FeatureId = FeatureId(130);
    /// The bytes of these files.
    pub const SIMPLEPERF_DEBUG_UNWIND_FILE: FeatureId = FeatureId(131);
    /// Binaries with symbols, in the newer coding.
    pub const SIMPLEPERF_FILE2: FeatureId = FeatureId(132);
    /// Branches decoded from the traces of Arm CPUs.
    pub const SIMPLEPERF_ETM_BRANCH_LIST: FeatureId = FeatureId(133);
    /// Mappings at the beginning.
    pub const SIMPLEPERF_INIT_MAP: FeatureId = FeatureId(134);

    /// simpleperf's name for one of its features.
    pub fn simpleperf_name(self) -> Option<&'static str> {
        const NAMES: [&str; 7] = [
            "FILE",
            "META_INFO",
            "DEBUG_UNWIND",
            "DEBUG_UNWIND_FILE",
            "FILE2",
            "ETM_BRANCH_LIST",
            "INIT_MAP",
        ];
        NAMES
            .get(usize::from(self.0.checked_sub(Self::SIMPLEPERF_FILE.0)?))
            .copied()
    }
}

impl fmt::Display for FeatureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name().or_else(|| self.simpleperf_name()) {
            Some(name) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

impl fmt::Debug for FeatureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FeatureId({self})")
    }
}

/// A set of features: the 256 bits of the file header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FeatureBits([u64; 4]);

impl FeatureBits {
    /// From the header's words, lowest bits first.
    pub const fn from_words(words: [u64; 4]) -> FeatureBits {
        FeatureBits(words)
    }

    /// The header's words, lowest bits first.
    pub const fn words(self) -> [u64; 4] {
        self.0
    }

    /// Whether no bit is set.
    pub const fn is_empty(self) -> bool {
        matches!(self.words(), [0, 0, 0, 0])
    }

    /// Whether `id` is in the set.
    pub const fn contains(self, id: FeatureId) -> bool {
        self.0[id.0 as usize / 64] >> (id.0 % 64) & 1 == 1
    }

    /// Adds `id`.
    pub const fn insert(&mut self, id: FeatureId) {
        self.0[id.0 as usize / 64] |= 1 << (id.0 % 64);
    }

    /// The features of the set, lowest first.
    pub fn iter(self) -> impl Iterator<Item = FeatureId> {
        (0..=u8::MAX)
            .map(FeatureId)
            .filter(move |id| self.contains(*id))
    }
}

impl FromIterator<FeatureId> for FeatureBits {
    fn from_iter<I: IntoIterator<Item = FeatureId>>(ids: I) -> FeatureBits {
        let mut bits = FeatureBits::default();
        ids.into_iter().for_each(|id| bits.insert(id));
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_numbers() {
        assert_eq!(FeatureId(13).to_string(), "CPU_TOPOLOGY");
        assert_eq!(FeatureId(200).to_string(), "200");
        assert_eq!(
            FeatureId::ALL.iter().map(|id| id.0).collect::<Vec<_>>(),
            (1..=34).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_set_keeps_every_bit() {
        let ids = [
            FeatureId(0),
            FeatureId::HOSTNAME,
            FeatureId(64),
            FeatureId(255),
        ];
        let bits: FeatureBits = ids.into_iter().collect();
        assert_eq!(bits.iter().collect::<Vec<_>>(), ids);
        assert_eq!(bits.words(), [1 | 1 << 3, 1, 0, 1 << 63]);
    }
}
