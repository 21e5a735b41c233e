//! Lines about CPUs, nodes, kinds of cores and scheduling domains.

use oxperf_data::features::{CpuDomain, CpuDomainInfo, CpuTopology, HybridTopology, NumaTopology};

use super::{Lines, Page};
use crate::text::sanitize;

impl Page<'_> {
    pub(super) fn cpu_topology(&mut self) -> Lines {
        let topology: CpuTopology = self.get()?;
        let dies = topology.die_siblings.as_deref().unwrap_or_default();
        self.siblings("sibling sockets :", &topology.socket_siblings);
        self.siblings("sibling dies    :", dies);
        self.siblings("sibling threads :", &topology.thread_siblings);
        let with_dies = !dies.is_empty();
        for (cpu, place) in topology.cpus.iter().enumerate() {
            let (core, socket) = (number(place.core), number(place.socket));
            let die = if with_dies {
                format!(", Die ID {}", number(place.die))
            } else {
                String::new()
            };
            self.line(format_args!(
                "CPU {cpu}: Core ID {core}{die}, Socket ID {socket}"
            ));
        }
        if topology.cpus.is_empty() {
            let what = if with_dies {
                "Core ID, Die ID and Socket ID"
            } else {
                "Core ID and Socket ID"
            };
            self.line(format_args!("{what} information is not available"));
        }
        Ok(())
    }

    fn siblings(&mut self, title: &str, lists: &[String]) {
        for list in lists {
            self.line(format_args!("{title} {}", sanitize(list)));
        }
    }

    pub(super) fn numa_topology(&mut self) -> Lines {
        for node in self.get::<NumaTopology>()?.0 {
            let (number, total, free) = (node.node, node.total_kilobytes, node.free_kilobytes);
            self.line(format_args!(
                "node{number} meminfo  : total = {total} kB, free = {free} kB"
            ));
            self.line(format_args!(
                "node{number} cpu list : {}",
                sanitize(&node.cpus)
            ));
        }
        Ok(())
    }

    pub(super) fn hybrid_topology(&mut self) -> Lines {
        self.line("hybrid cpu system:");
        for kind in self.get::<HybridTopology>()?.0 {
            self.line(format_args!(
                "{} cpu list : {}",
                sanitize(&kind.pmu),
                sanitize(&kind.cpus)
            ));
        }
        Ok(())
    }

    pub(super) fn cpu_domains(&mut self) -> Lines {
        let info: CpuDomainInfo = self.get()?;
        self.line(format_args!(
            "schedstat version\t: {}",
            info.schedstat_version
        ));
        self.line(format_args!(
            "Maximum sched domains\t: {}",
            info.max_domains
        ));
        for cpu in &info.cpus {
            self.line(format_args!("cpu\t\t: {}", cpu.cpu));
            self.line(format_args!("nr_domains\t: {}", cpu.domains.len()));
            cpu.domains
                .iter()
                .for_each(|domain| self.cpu_domain(domain));
        }
        Ok(())
    }

    fn cpu_domain(&mut self, domain: &CpuDomain) {
        self.line(format_args!("Domain\t\t: {}", domain.domain));
        if let Some(name) = &domain.name {
            self.line(format_args!("Domain name      : {}", sanitize(name)));
        }
        self.line(format_args!(
            "Domain cpu map   : {}",
            sanitize(&domain.mask)
        ));
        self.line(format_args!(
            "Domain cpu list  : {}",
            sanitize(&domain.list)
        ));
    }
}

/// perf shows -1 for a number that is not known.
fn number(id: Option<u32>) -> i64 {
    id.map_or(-1, i64::from)
}
