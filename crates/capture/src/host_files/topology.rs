//! CPUs, cores, dies, sockets and nodes.

use oxperf_data::FeatureSet;
use oxperf_data::features::{CpuTopology, CpuTopologyEntry, NrCpus, NumaNode, NumaTopology};

use super::tree::Tree;

pub(super) fn collect(tree: &Tree, features: &mut FeatureSet) {
    let Some(available) = available_cpus(tree) else {
        return;
    };
    let online = tree
        .cpus("sys/devices/system/cpu/online")
        .map_or(available, |cpus| cpus.len() as u32);
    features.insert(&NrCpus { available, online });
    let topology = cpu_topology(tree, available);
    if !topology.thread_siblings.is_empty() {
        features.insert(&topology);
    }
    if let Some(nodes) = numa_nodes(tree) {
        features.insert(&NumaTopology(nodes));
    }
}

/// One more than the highest CPU that is present.
pub(super) fn available_cpus(tree: &Tree) -> Option<u32> {
    tree.cpus("sys/devices/system/cpu/present")?
        .highest()
        .map(|highest| highest + 1)
}

fn cpu_topology(tree: &Tree, available: u32) -> CpuTopology {
    let mut topology = CpuTopology::default();
    let mut dies = Vec::new();
    for cpu in 0..available {
        let siblings =
            |names: [&str; 2]| tree.first_text(&names.map(|name| topology_file(cpu, name)));
        let add = |list: &mut Vec<String>, text: Option<String>| {
            list.extend(text.filter(|text| !list.contains(text)))
        };
        add(
            &mut topology.socket_siblings,
            siblings(["package_cpus_list", "core_siblings_list"]),
        );
        add(
            &mut topology.thread_siblings,
            siblings(["core_cpus_list", "thread_siblings_list"]),
        );
        add(&mut dies, tree.text(&topology_file(cpu, "die_cpus_list")));
        topology.cpus.push(cpu_place(tree, cpu));
    }
    topology.die_siblings = (!dies.is_empty()).then_some(dies);
    topology
}

fn cpu_place(tree: &Tree, cpu: u32) -> CpuTopologyEntry {
    let number = |name| tree.number(&topology_file(cpu, name));
    CpuTopologyEntry {
        core: number("core_id"),
        socket: number("physical_package_id"),
        die: number("die_id"),
    }
}

fn topology_file(cpu: u32, name: &str) -> String {
    format!("sys/devices/system/cpu/cpu{cpu}/topology/{name}")
}

fn numa_nodes(tree: &Tree) -> Option<Vec<NumaNode>> {
    let online = tree.cpus("sys/devices/system/node/online")?;
    Some(
        online
            .iter()
            .filter_map(|node| numa_node(tree, node))
            .collect(),
    )
}

fn numa_node(tree: &Tree, node: u32) -> Option<NumaNode> {
    let folder = format!("sys/devices/system/node/node{node}");
    let memory = tree.text(&format!("{folder}/meminfo"))?;
    Some(NumaNode {
        node,
        total_kilobytes: memory_field(&memory, "MemTotal:")?,
        free_kilobytes: memory_field(&memory, "MemFree:")?,
        cpus: tree.text(&format!("{folder}/cpulist")).unwrap_or_default(),
    })
}

/// The number after a name, in any line.
pub(super) fn memory_field(text: &str, name: &str) -> Option<u64> {
    let mut words = text.split_whitespace().skip_while(|word| *word != name);
    words.nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FakeHost, get};
    use super::*;

    fn place(core: u32, die: u32) -> CpuTopologyEntry {
        CpuTopologyEntry {
            core: Some(core),
            socket: Some(0),
            die: Some(die),
        }
    }

    #[test]
    fn two_dies_with_an_offline_cpu() {
        let cpu = "sys/devices/system/cpu";
        let mut files = vec![
            (format!("{cpu}/present"), "0-2\n"),
            (format!("{cpu}/online"), "0-1\n"),
        ];
        for (number, core, die) in [(0, "4\n", "0\n"), (1, "5\n", "1\n")] {
            let topology = format!("{cpu}/cpu{number}/topology");
            files.push((format!("{topology}/package_cpus_list"), "0-1\n"));
            files.push((
                format!("{topology}/core_cpus_list"),
                if number == 0 { "0\n" } else { "1\n" },
            ));
            files.push((
                format!("{topology}/die_cpus_list"),
                if number == 0 { "0\n" } else { "1\n" },
            ));
            files.push((format!("{topology}/core_id"), core));
            files.push((format!("{topology}/die_id"), die));
            files.push((format!("{topology}/physical_package_id"), "0\n"));
        }
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (path.as_str(), *text))
            .collect();
        let features = FakeHost::new(&files).collect(collect);
        assert_eq!(
            get(&features, 3),
            Some(NrCpus {
                available: 3,
                online: 2
            })
        );
        let topology: CpuTopology = get(&features, 3).unwrap();
        assert_eq!(topology.socket_siblings, ["0-1"]);
        assert_eq!(topology.thread_siblings, ["0", "1"]);
        assert_eq!(topology.die_siblings, Some(vec!["0".into(), "1".into()]));
        assert_eq!(
            topology.cpus,
            [place(4, 0), place(5, 1), CpuTopologyEntry::default()]
        );
    }

    #[test]
    fn nodes_with_their_memory() {
        let node = "sys/devices/system/node";
        let memory = "Node 1 MemTotal:       1000 kB\nNode 1 MemFree:         300 kB\n";
        let fake = FakeHost::new(&[
            ("sys/devices/system/cpu/present", "0\n"),
            (&format!("{node}/online"), "1\n"),
            (&format!("{node}/node1/meminfo"), memory),
            (&format!("{node}/node1/cpulist"), "0\n"),
        ]);
        let node = NumaNode {
            node: 1,
            total_kilobytes: 1000,
            free_kilobytes: 300,
            cpus: "0".into(),
        };
        assert_eq!(
            get(&fake.collect(collect), 1),
            Some(NumaTopology(vec![node]))
        );
    }
}
