//! `--iostat`: the traffic of PCI root ports, which the I/O units of Intel's server processors count.

use oxperf_analysis::counts::{CountGroup, CountGrouping, CountTable, CpuPlaces};
use oxperf_capture::EventRequest;
use oxperf_capture::host_files::{HostFiles, RootPort, RootPortProblem};
use oxperf_pmu::Catalogue;
use oxperf_present::counts::PortTraffic;
use oxperf_sys::Sysfs;

use super::problem::StatProblem;
use crate::cmd::record::events::look_up_in;
use crate::failure::Failure;

/// Which root ports are meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PortChoice {
    /// All.
    All,
    /// They are listed, and nothing is counted.
    List,
    /// Those of a list, by domain and bus.
    Named(String),
}

impl PortChoice {
    /// The choice that the option's value makes.
    pub(super) fn of_text(text: &str) -> PortChoice {
        match text {
            "default" => PortChoice::All,
            "list" => PortChoice::List,
            list => PortChoice::Named(list.to_owned()),
        }
    }
}

/// Bytes that one count stands for.
const COUNTED_BYTES: f64 = 4.0;
const MEGABYTE: f64 = (1u32 << 20) as f64;

/// The event terms of the directions, in the order in which they are shown: devices read and wrote memory, CPUs read and
/// wrote devices.
const DIRECTIONS: [&str; 4] = [
    "event=0x83,umask=0x04,ch_mask=0xF,fc_mask=0x07",
    "event=0x83,umask=0x01,ch_mask=0xF,fc_mask=0x07",
    "event=0xc0,umask=0x04,ch_mask=0xF,fc_mask=0x07",
    "event=0xc0,umask=0x01,ch_mask=0xF,fc_mask=0x07",
];

/// The root ports whose traffic is counted.
pub(super) struct CountedPorts {
    ports: Vec<RootPort>,
    /// The dies of the machine, by socket.
    dies: Vec<(Option<u32>, Option<u32>)>,
    /// What is said about names that no port has.
    pub(super) warnings: String,
}

impl CountedPorts {
    /// Finds the ports of the machine that are meant.
    ///
    /// # Errors
    /// The machine has none, or none of those.
    pub(super) fn find(choice: &PortChoice, sysfs: &Sysfs) -> Result<CountedPorts, StatProblem> {
        let host = HostFiles::this(sysfs);
        let all = host
            .root_ports()
            .map_err(|problem| StatProblem::root_ports(&words(problem)))?;
        let (ports, warnings) = match choice {
            PortChoice::All | PortChoice::List => (all, String::new()),
            PortChoice::Named(list) => named(list, &all),
        };
        if ports.is_empty() {
            let message = format!("{warnings}Requested root ports were not found");
            return Err(StatProblem::root_ports(&message));
        }
        Ok(CountedPorts {
            ports,
            dies: host.dies(),
            warnings,
        })
    }

    /// The ports with the units that count them, a line each.
    pub(super) fn list(&self) -> String {
        let line = |port: &RootPort| format!("S{}-uncore_iio_{}<{port}>\n", port.die, port.unit);
        self.ports.iter().map(line).collect()
    }

    /// The events of all ports, a group for each.
    ///
    /// # Errors
    /// The unit does not count them.
    pub(super) fn requests(&self, catalogue: &Catalogue<'_>) -> Result<Vec<EventRequest>, Failure> {
        let group = |port: &RootPort| {
            let event = |terms: &&str| format!("uncore_iio_{}/{terms}/", port.unit);
            let events: Vec<String> = DIRECTIONS.iter().map(event).collect();
            format!("{{{}}}", events.join(","))
        };
        let groups: Vec<String> = self.ports.iter().map(group).collect();
        let texts: Vec<&str> = groups.iter().map(String::as_str).collect();
        look_up_in(&texts, catalogue)
    }

    /// What went through each port.
    pub(super) fn traffic(&self, table: &CountTable, places: &CpuPlaces) -> Vec<PortTraffic> {
        let rows = table.rows(CountGrouping::Die, places, false);
        let count = |event: usize, die: u32| {
            let own = self.dies.get(die as usize);
            let group = own.map(|&(socket, die)| CountGroup::Die { socket, die });
            let mut own = rows
                .iter()
                .filter(|row| row.event == event && Some(row.group) == group);
            own.next().map_or(0.0, |row| row.total.value)
        };
        let traffic = |(index, port): (usize, &RootPort)| PortTraffic {
            port: port.to_string(),
            megabytes: std::array::from_fn(|direction| {
                let event = index * DIRECTIONS.len() + direction;
                count(event, port.die) * COUNTED_BYTES / MEGABYTE
            }),
        };
        self.ports.iter().enumerate().map(traffic).collect()
    }
}

fn words(problem: RootPortProblem) -> String {
    match problem {
        RootPortProblem::NoUnits => "Unsupported uncore pmu configuration".to_owned(),
        RootPortProblem::NotMapped => "Mode iostat is not supported".to_owned(),
        RootPortProblem::NoPort { unit, die } => {
            format!("Invalid mapping data: iio_{unit}; die{die}")
        }
    }
}

/// The ports of a list, each once, and what is said about names that no port has.
fn named(list: &str, all: &[RootPort]) -> (Vec<RootPort>, String) {
    let (mut ports, mut warnings) = (Vec::new(), String::new());
    for text in list.split(',').filter(|text| !text.is_empty()) {
        let name = oxperf_present::text::sanitize(text);
        let Some((domain, bus)) = numbers(text) else {
            warnings += &format!(
                "Unrecognized root port format: {name}\nPlease use the following format:\n\t [domain]:[bus]\n\t for example: 0000:3d\n"
            );
            continue;
        };
        let is_meant = |port: &&RootPort| (port.domain, port.bus) == (domain, bus);
        match all.iter().find(is_meant) {
            Some(port) if ports.contains(port) => {}
            Some(port) => ports.push(*port),
            None => warnings += &format!("Root port {name} were not found\n"),
        }
    }
    (ports, warnings)
}

/// Domain and bus, in hexadecimal digits.
fn numbers(text: &str) -> Option<(u16, u8)> {
    let (domain, bus) = text.split_once(':')?;
    let domain = u16::from_str_radix(domain, 16).ok()?;
    Some((domain, u8::from_str_radix(bus, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(unit: u32, die: u32, bus: u8) -> RootPort {
        RootPort {
            unit,
            die,
            domain: 0,
            bus,
        }
    }

    #[test]
    fn ports_are_found_by_domain_and_bus() {
        let all = [port(0, 0, 0), port(0, 1, 0x3d), port(1, 0, 0x3d)];
        let (ports, warnings) = named("0000:3d,0:00,0:3D,,1:3d,x", &all);
        assert_eq!(ports, [all[1], all[0]]);
        assert!(warnings.starts_with("Root port 1:3d were not found\nUnrecognized root port"));
    }

    #[test]
    fn a_port_has_the_counts_of_its_die() {
        use oxperf_abi::{CountReading, Cpu};
        use oxperf_analysis::counts::{CountEvent, CountSite, CpuPlace};
        let place = |socket: u32| CpuPlace {
            socket: Some(socket),
            die: Some(0),
            ..CpuPlace::default()
        };
        let places = CpuPlaces::new(vec![(Cpu(0), place(0)), (Cpu(7), place(1))]);
        let site = |cpu: u32| CountSite {
            cpu: Some(Cpu(cpu)),
            thread: 0,
        };
        let event = CountEvent {
            sites: vec![site(0), site(7)],
            ..CountEvent::default()
        };
        let mut table = CountTable::new(vec![event; 8]);
        let reading = |megabytes: u64| {
            Some(CountReading {
                value: megabytes << 18,
                enabled: 2,
                running: 1,
            })
        };
        table.set(&vec![vec![reading(3), reading(5)]; 8], true);
        let ports = CountedPorts {
            ports: vec![port(0, 1, 0), port(1, 0, 1)],
            dies: vec![(Some(0), Some(0)), (Some(1), Some(0))],
            warnings: String::new(),
        };
        let traffic = ports.traffic(&table, &places);
        assert_eq!(traffic[0].megabytes, [10.0; 4]);
        assert_eq!(traffic[1].megabytes, [6.0; 4]);
    }
}
