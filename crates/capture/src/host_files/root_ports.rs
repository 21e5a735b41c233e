//! The PCI root ports whose traffic a machine's I/O units count: the PMUs `uncore_iio_N` of Intel's server processors, which
//! say for each die what hangs on it.

use std::fmt;

use super::HostFiles;

/// A PCI root port, shown as `DOMAIN:BUS`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RootPort {
    /// The number of the PMU `uncore_iio_N` that counts its traffic.
    pub unit: u32,
    /// The number of the die among all of the machine.
    pub die: u32,
    /// The PCI domain.
    pub domain: u16,
    /// The PCI bus.
    pub bus: u8,
}

impl fmt::Display for RootPort {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:04x}:{:02x}", self.domain, self.bus)
    }
}

/// A machine whose root ports cannot be told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RootPortProblem {
    /// No PMU counts I/O.
    NoUnits,
    /// The PMUs do not say which root ports they count.
    NotMapped,
    /// What a PMU says of a die is no root port.
    NoPort {
        /// The PMU.
        unit: u32,
        /// The die.
        die: u32,
    },
}

impl HostFiles {
    /// The root ports, PMU by PMU and die by die.
    ///
    /// # Errors
    /// There are none, or the machine does not tell them.
    pub fn root_ports(&self) -> Result<Vec<RootPort>, RootPortProblem> {
        let devices = self.tree.names("sys/bus/event_source/devices");
        let units = devices.iter().flatten();
        let units = units.filter(|name| name.starts_with("uncore_iio_")).count();
        if units == 0 {
            return Err(RootPortProblem::NoUnits);
        }
        let dies = self.dies().len();
        let mut ports = Vec::new();
        for unit in (0..).take(units) {
            for die in (0..).take(dies) {
                let path = format!("sys/bus/event_source/devices/uncore_iio_{unit}/die{die}");
                match self.tree.text(&path) {
                    Some(text) => ports.push(port(&text, unit, die)?),
                    None if unit == 0 => return Err(RootPortProblem::NotMapped),
                    // Some units have fewer ports.
                    None => break,
                }
            }
        }
        Ok(ports)
    }

    /// The dies of the machine by their sockets, in order: a die's site is its number among all.
    pub fn dies(&self) -> Vec<(Option<u32>, Option<u32>)> {
        let cpus = self.cpus();
        let mut dies: Vec<_> = cpus.iter().map(|cpu| (cpu.socket, cpu.die)).collect();
        dies.sort_unstable();
        dies.dedup();
        dies
    }
}

fn port(text: &str, unit: u32, die: u32) -> Result<RootPort, RootPortProblem> {
    let numbers = text.split_once(':').and_then(|(domain, bus)| {
        let domain = u16::from_str_radix(domain, 16).ok()?;
        Some((domain, u8::from_str_radix(bus, 16).ok()?))
    });
    let (domain, bus) = numbers.ok_or(RootPortProblem::NoPort { unit, die })?;
    Ok(RootPort {
        unit,
        die,
        domain,
        bus,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::FakeHost;
    use super::*;

    const DEVICES: &str = "sys/bus/event_source/devices";

    /// Two sockets of a die each, with these files below the devices.
    fn ports(files: &[(&str, &str)]) -> Result<Vec<RootPort>, RootPortProblem> {
        let cpu = "sys/devices/system/cpu";
        let mut all = vec![(format!("{cpu}/present"), "0-1".to_owned())];
        for cpu_number in ["0", "1"] {
            let path = format!("{cpu}/cpu{cpu_number}/topology/physical_package_id");
            all.push((path, cpu_number.to_owned()));
        }
        let below = |(path, text): &(&str, &str)| (format!("{DEVICES}/{path}"), (*text).to_owned());
        all.extend(files.iter().map(below));
        let all: Vec<(&str, &str)> = all.iter().map(|(path, text)| (&**path, &**text)).collect();
        HostFiles::at(FakeHost::new(&all).root()).root_ports()
    }

    #[test]
    fn ports_are_read_unit_by_unit() {
        let found = ports(&[
            ("uncore_iio_0/die0", "0000:00"),
            ("uncore_iio_0/die1", "0001:ab"),
            ("uncore_iio_1/die0", "0000:16"),
        ]);
        let found = found.unwrap();
        let shown: Vec<String> = found
            .iter()
            .map(|port| format!("{} {} {port}", port.unit, port.die))
            .collect();
        assert_eq!(shown, ["0 0 0000:00", "0 1 0001:ab", "1 0 0000:16"]);
    }

    #[test]
    fn machines_without_ports_say_what_is_missing() {
        assert_eq!(ports(&[("cpu/type", "4")]), Err(RootPortProblem::NoUnits));
        let unmapped = ports(&[("uncore_iio_0/type", "28")]);
        assert_eq!(unmapped, Err(RootPortProblem::NotMapped));
        for text in ["zzz", "0000", "10000:00", "0:100"] {
            let read = ports(&[("uncore_iio_0/die0", text)]);
            let problem = RootPortProblem::NoPort { unit: 0, die: 0 };
            assert_eq!(read, Err(problem), "{text}");
        }
    }
}
