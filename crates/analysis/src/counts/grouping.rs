//! What counts are added up by: parts of the machine, or threads.

use oxperf_abi::Cpu;

/// What the counts of a row have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CountGrouping {
    /// Nothing: one row an event.
    #[default]
    All,
    /// The socket.
    Socket,
    /// The die.
    Die,
    /// The cluster of cores.
    Cluster,
    /// The instance of a cache of this level; of the last level when none is given.
    Cache(Option<u32>),
    /// The core.
    Core,
    /// The NUMA node.
    Node,
    /// The CPU: rows are not added up.
    Cpu,
    /// The thread.
    Thread,
}

impl CountGrouping {
    /// Returns whether rows of all events stand together for each group, in place of rows of all groups for each event.
    pub fn is_by_place(self) -> bool {
        !matches!(
            self,
            CountGrouping::All | CountGrouping::Cpu | CountGrouping::Thread
        )
    }
}

/// A cache, by its level and the first of the CPUs that share it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct CacheInstance {
    /// The level, 1 next to the core.
    pub level: u32,
    /// The first of its CPUs.
    pub id: u32,
}

/// The cluster of a CPU. CPUs of no cluster stand behind those of one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub enum ClusterNumber {
    /// The kernel's number.
    Known(u32),
    /// The kernel names none.
    #[default]
    Unknown,
}

/// Where a CPU is in the machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CpuPlace {
    /// The socket; unknown on some machines.
    pub socket: Option<u32>,
    /// The die in the socket.
    pub die: Option<u32>,
    /// The cluster in the die.
    pub cluster: ClusterNumber,
    /// The core in the die.
    pub core: Option<u32>,
    /// The NUMA node.
    pub node: Option<u32>,
    /// Its data or unified caches, by rising level.
    pub caches: Vec<CacheInstance>,
}

/// The places of all CPUs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CpuPlaces(Vec<(Cpu, CpuPlace)>);

impl CpuPlaces {
    /// Takes the places of CPUs.
    pub fn new(mut places: Vec<(Cpu, CpuPlace)>) -> CpuPlaces {
        places.sort_by_key(|(cpu, _)| *cpu);
        CpuPlaces(places)
    }

    /// The place of a CPU, where it is known.
    pub fn of(&self, cpu: Cpu) -> Option<&CpuPlace> {
        let index = self.0.binary_search_by_key(&cpu, |(cpu, _)| *cpu).ok()?;
        self.0.get(index).map(|(_, place)| place)
    }
}

/// One group of counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum CountGroup {
    /// Everything.
    All,
    /// A socket.
    Socket(Option<u32>),
    /// A die of a socket.
    Die {
        /// Socket.
        socket: Option<u32>,
        /// Die.
        die: Option<u32>,
    },
    /// A cluster of a die.
    Cluster {
        /// Socket.
        socket: Option<u32>,
        /// Die.
        die: Option<u32>,
        /// Cluster.
        cluster: ClusterNumber,
    },
    /// A cache of a die.
    Cache {
        /// Socket.
        socket: Option<u32>,
        /// Die.
        die: Option<u32>,
        /// Cache.
        cache: Option<CacheInstance>,
    },
    /// A core of a die.
    Core {
        /// Socket.
        socket: Option<u32>,
        /// Die.
        die: Option<u32>,
        /// Cluster, by which cores stand in order.
        cluster: ClusterNumber,
        /// Core.
        core: Option<u32>,
    },
    /// A NUMA node.
    Node(Option<u32>),
    /// A CPU; none for events that follow tasks.
    Cpu(Option<Cpu>),
    /// The place of a thread in the list of the target's threads.
    Thread(usize),
}

impl CountGroup {
    /// The group of what was counted on `cpu` and in the thread at index `thread`.
    pub(super) fn of(
        grouping: CountGrouping,
        cpu: Option<Cpu>,
        thread: usize,
        places: &CpuPlaces,
    ) -> CountGroup {
        let unknown = CpuPlace::default();
        let place = cpu.and_then(|cpu| places.of(cpu)).unwrap_or(&unknown);
        let (socket, die) = (place.socket, place.die);
        match grouping {
            CountGrouping::All => CountGroup::All,
            CountGrouping::Socket => CountGroup::Socket(socket),
            CountGrouping::Die => CountGroup::Die { socket, die },
            CountGrouping::Cluster => CountGroup::Cluster {
                socket,
                die,
                cluster: place.cluster,
            },
            CountGrouping::Cache(level) => CountGroup::Cache {
                socket,
                die,
                cache: cache_of(place, level),
            },
            CountGrouping::Core => CountGroup::Core {
                socket,
                die,
                cluster: place.cluster,
                core: place.core,
            },
            CountGrouping::Node => CountGroup::Node(place.node),
            CountGrouping::Cpu => CountGroup::Cpu(cpu),
            CountGrouping::Thread => CountGroup::Thread(thread),
        }
    }
}

fn cache_of(place: &CpuPlace, level: Option<u32>) -> Option<CacheInstance> {
    let mut caches = place.caches.iter().copied();
    match level {
        Some(level) => caches.find(|cache| cache.level == level),
        None => caches.max_by_key(|cache| cache.level),
    }
}
