//! Where each CPU is in the machine.

use oxperf_abi::Cpu;

use super::HostFiles;
use super::tree::Tree;

/// A CPU's place: what it shares with others. A part that the kernel does not tell is `None`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostCpu {
    /// The CPU.
    pub cpu: Cpu,
    /// Socket.
    pub socket: Option<u32>,
    /// Die; kernels that know no dies have one a socket.
    pub die: Option<u32>,
    /// Cluster.
    pub cluster: Option<u32>,
    /// Core.
    pub core: Option<u32>,
    /// NUMA node.
    pub node: Option<u32>,
    /// Its caches but those for code alone: the level, and the first CPU that shares it.
    pub caches: Vec<(u32, u32)>,
}

impl HostFiles {
    /// The places of all CPUs that are present.
    pub fn cpus(&self) -> Vec<HostCpu> {
        let present = self.tree.cpus("sys/devices/system/cpu/present");
        let nodes = nodes(&self.tree);
        let present = present.unwrap_or_default();
        present
            .iter()
            .map(|cpu| host_cpu(&self.tree, cpu, &nodes))
            .collect()
    }
}

/// The CPUs of each node.
fn nodes(tree: &Tree) -> Vec<(u32, super::cpu_set::CpuSet)> {
    let online = tree
        .cpus("sys/devices/system/node/online")
        .unwrap_or_default();
    let cpus = |node: u32| {
        let cpus = tree.cpus(&format!("sys/devices/system/node/node{node}/cpulist"))?;
        Some((node, cpus))
    };
    online.iter().filter_map(cpus).collect()
}

fn host_cpu(tree: &Tree, cpu: u32, nodes: &[(u32, super::cpu_set::CpuSet)]) -> HostCpu {
    let folder = format!("sys/devices/system/cpu/cpu{cpu}");
    let number = |name: &str| tree.number(&format!("{folder}/topology/{name}"));
    let node = nodes
        .iter()
        .find(|(_, cpus)| cpus.iter().any(|own| own == cpu));
    HostCpu {
        cpu: Cpu(cpu),
        socket: number("physical_package_id"),
        die: number("die_id").or(Some(0)),
        cluster: number("cluster_id"),
        core: number("core_id"),
        node: node.map(|(node, _)| *node),
        caches: caches(tree, &folder),
    }
}

fn caches(tree: &Tree, folder: &str) -> Vec<(u32, u32)> {
    let names = tree.names(&format!("{folder}/cache")).unwrap_or_default();
    let cache = |name: &String| {
        let file = |file: &str| format!("{folder}/cache/{name}/{file}");
        let holds_data = tree.text(&file("type"))? != "Instruction";
        let first = tree.cpus(&file("shared_cpu_list"))?.iter().next()?;
        holds_data.then_some((tree.number(&file("level"))?, first))
    };
    let indices = names.iter().filter(|name| name.starts_with("index"));
    let mut caches: Vec<(u32, u32)> = indices.filter_map(cache).collect();
    caches.sort_unstable();
    caches
}

#[cfg(test)]
mod tests {
    use super::super::testing::FakeHost;
    use super::*;

    #[test]
    fn a_cpu_with_its_node_and_caches() {
        let cpu = "sys/devices/system/cpu/cpu1";
        let host = FakeHost::new(&[
            ("sys/devices/system/cpu/present", "1\n"),
            (&format!("{cpu}/topology/physical_package_id"), "0\n"),
            (&format!("{cpu}/topology/core_id"), "5\n"),
            (&format!("{cpu}/cache/index0/type"), "Data\n"),
            (&format!("{cpu}/cache/index0/level"), "1\n"),
            (&format!("{cpu}/cache/index0/shared_cpu_list"), "1\n"),
            (&format!("{cpu}/cache/index1/type"), "Instruction\n"),
            (&format!("{cpu}/cache/index1/level"), "1\n"),
            (&format!("{cpu}/cache/index1/shared_cpu_list"), "1\n"),
            (&format!("{cpu}/cache/index3/type"), "Unified\n"),
            (&format!("{cpu}/cache/index3/level"), "3\n"),
            (&format!("{cpu}/cache/index3/shared_cpu_list"), "0-1\n"),
            ("sys/devices/system/node/online", "0-1\n"),
            ("sys/devices/system/node/node0/cpulist", "0\n"),
            ("sys/devices/system/node/node1/cpulist", "1\n"),
        ]);
        let expected = HostCpu {
            cpu: Cpu(1),
            socket: Some(0),
            die: Some(0),
            cluster: None,
            core: Some(5),
            node: Some(1),
            caches: vec![(1, 1), (3, 0)],
        };
        assert_eq!(HostFiles::at(host.root()).cpus(), [expected]);
    }
}
