//! The running host's description of itself, as features of a recording and as constants of metrics.
//!
//! Everything comes from files below a root, so a test or a container's view can be read as well as this machine.
//! Facts that the kernel does not give are left out. The features that belong to a recording and not to its host (command
//! line, version, build ids, sample times, groups, clock) are for the caller to add.

mod cache;
mod cpu_set;
mod identity;
mod memory;
mod metric_constants;
mod places;
mod pmus;
mod root_ports;
mod sched_domains;
mod topology;
mod tree;

use std::path::PathBuf;

use oxperf_data::FeatureSet;
use oxperf_metric::MachineConstants;
use oxperf_sys::Sysfs;

pub use identity::HostIdentity;
pub use metric_constants::MetricScope;
pub use places::HostCpu;
pub use root_ports::{RootPort, RootPortProblem};
use tree::Tree;

/// A host whose `/proc` and `/sys` can be read.
#[derive(Clone, Debug)]
pub struct HostFiles {
    tree: Tree,
}

impl HostFiles {
    /// This machine, with its hardware as `sysfs` describes it.
    pub fn this(sysfs: &Sysfs) -> HostFiles {
        HostFiles {
            tree: Tree::new(PathBuf::from("/"), sysfs.clone()),
        }
    }

    /// The host whose `proc` and `sys` lie below `root`.
    pub fn at(root: impl Into<PathBuf>) -> HostFiles {
        let root = root.into();
        let sysfs = Sysfs::at(root.join("sys"));
        HostFiles {
            tree: Tree::new(root, sysfs),
        }
    }

    /// The constants of metric expressions on this host, for what is counted.
    pub fn metric_constants(&self, scope: &MetricScope) -> MachineConstants {
        metric_constants::collect(&self.tree, scope)
    }

    /// Returns whether the host has several kinds of cores, with a PMU each.
    pub(crate) fn is_hybrid(&self) -> bool {
        pmus::is_hybrid(&self.tree)
    }

    /// Every feature that the host's files give.
    pub fn features(&self) -> FeatureSet {
        let mut features = FeatureSet::new();
        identity::collect(&self.tree, &mut features);
        topology::collect(&self.tree, &mut features);
        memory::collect(&self.tree, &mut features);
        cache::collect(&self.tree, &mut features);
        pmus::collect(&self.tree, &mut features);
        sched_domains::collect(&self.tree, &mut features);
        features
    }
}

#[cfg(test)]
mod testing {
    //! A made-up host for the tests of every file here.

    use std::fs;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU32, Ordering};

    use oxperf_data::{Feature, FeatureSet, features::FeatureContext};
    use oxperf_sys::Sysfs;
    use oxperf_wire::{Cursor, Endian};

    use super::Tree;

    /// Files in a folder that goes away with it.
    pub(super) struct FakeHost {
        root: PathBuf,
    }

    impl FakeHost {
        /// Writes each `(path, content)`; a path that ends in a slash makes a folder.
        pub(super) fn new(files: &[(&str, &str)]) -> FakeHost {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let name = format!(
                "oxperf-host-{}-{}",
                std::process::id(),
                NEXT.fetch_add(1, Ordering::Relaxed)
            );
            let root = std::env::temp_dir().join(name);
            fs::create_dir_all(&root).unwrap();
            for (path, content) in files {
                let path = root.join(path);
                fs::create_dir_all(if content.is_empty() {
                    &path
                } else {
                    path.parent().unwrap()
                })
                .unwrap();
                if !content.is_empty() {
                    fs::write(path, content).unwrap();
                }
            }
            FakeHost { root }
        }

        pub(super) fn tree(&self) -> Tree {
            Tree::new(self.root.clone(), Sysfs::at(self.root.join("sys")))
        }

        pub(super) fn root(&self) -> PathBuf {
            self.root.clone()
        }

        /// The features that `collect` finds here.
        pub(super) fn collect(&self, collect: fn(&Tree, &mut FeatureSet)) -> FeatureSet {
            let mut features = FeatureSet::new();
            collect(&self.tree(), &mut features);
            features
        }
    }

    impl Drop for FakeHost {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.root);
        }
    }

    /// A feature of the set, decoded for a machine of `cpus` CPUs.
    pub(super) fn get<F: Feature>(features: &FeatureSet, cpus: u32) -> Option<F> {
        let (_, bytes) = features.iter().find(|(id, _)| *id == F::ID)?;
        let context = FeatureContext {
            cpus_available: Some(cpus),
        };
        F::decode(&mut Cursor::new(bytes, Endian::NATIVE), &context).ok()
    }
}

#[cfg(test)]
mod tests {
    use oxperf_data::FeatureId;

    use super::testing::FakeHost;
    use super::*;

    #[test]
    fn an_empty_host_has_no_features() {
        let fake = FakeHost::new(&[]);
        assert_eq!(HostFiles::at(fake.root()).features(), FeatureSet::new());
    }

    #[test]
    fn this_host_tells_what_every_linux_tells() {
        let bits = HostFiles::this(&Sysfs::default()).features().bits();
        for id in [
            FeatureId::HOSTNAME,
            FeatureId::OSRELEASE,
            FeatureId::TOTAL_MEM,
            FeatureId::NRCPUS,
        ] {
            assert!(bits.contains(id), "{id}");
        }
    }
}
