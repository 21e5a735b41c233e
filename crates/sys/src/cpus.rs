//! CPU lists, the CPUs of the system, and those that this thread may run on.

use crate::Sysfs;
use crate::errno::check;
use oxperf_abi::Cpu;
use std::mem::MaybeUninit;
use std::ops::RangeInclusive;
use std::path::Path;
use std::{fs, io};

/// A text that is no list of CPUs.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CpuListError {
    /// A part is neither a number nor a range.
    #[error("`{part}` is no CPU number or range")]
    Malformed {
        /// The part.
        part: String,
    },
    /// A range runs backwards.
    #[error("the range {first}-{last} runs backwards")]
    Backwards {
        /// Its first number.
        first: u32,
        /// Its last number.
        last: u32,
    },
    /// A number that no kernel has.
    #[error("CPU {0} is out of range")]
    OutOfRange(u32),
}

/// No kernel is built for more CPUs; bounds the memory that a hostile list can ask for.
const MAX_CPUS: u32 = 1 << 16;

/// A set of CPUs as a user or the kernel writes it: `0-1,4`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CpuRanges(Vec<RangeInclusive<u32>>);

impl CpuRanges {
    /// Reads the kernel's and perf's list notation; blank text is an empty set.
    ///
    /// # Errors
    /// The part that is wrong.
    pub fn parse(text: &str) -> Result<CpuRanges, CpuListError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(CpuRanges::default());
        }
        let ranges = text.split(',').map(str::trim).map(parse_range);
        ranges.collect::<Result<_, _>>().map(CpuRanges)
    }

    /// Returns whether no CPU is in the set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether `cpu` is in the set.
    pub fn contains(&self, cpu: Cpu) -> bool {
        self.0.iter().any(|range| range.contains(&cpu.0))
    }

    /// The CPUs, in order and without repetition.
    ///
    /// # Errors
    /// One of them is beyond what any kernel has.
    pub fn to_cpus(&self) -> Result<Vec<Cpu>, CpuListError> {
        let mut cpus = Vec::new();
        for range in &self.0 {
            let out_of_range = [*range.start(), *range.end()]
                .into_iter()
                .find(|number| *number >= MAX_CPUS);
            if let Some(number) = out_of_range {
                return Err(CpuListError::OutOfRange(number));
            }
            cpus.extend(range.clone().map(Cpu));
        }
        cpus.sort_unstable();
        cpus.dedup();
        Ok(cpus)
    }
}

/// Reads the kernel's and perf's list notation as a list of CPUs, in order and without repetition.
///
/// # Errors
/// The part that is wrong, or a CPU beyond what any kernel has.
pub fn parse_list(text: &str) -> Result<Vec<Cpu>, CpuListError> {
    CpuRanges::parse(text)?.to_cpus()
}

fn parse_range(part: &str) -> Result<RangeInclusive<u32>, CpuListError> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let (first, last) = (parse_number(first, part)?, parse_number(last, part)?);
    if first > last {
        Err(CpuListError::Backwards { first, last })
    } else {
        Ok(first..=last)
    }
}

fn parse_number(digits: &str, part: &str) -> Result<u32, CpuListError> {
    let malformed = || CpuListError::Malformed {
        part: part.to_owned(),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(malformed());
    }
    digits.parse().map_err(|_| malformed())
}

/// The CPUs that are online.
///
/// # Errors
/// The error of reading sysfs; `InvalidData` for a list that makes no sense.
pub fn online() -> io::Result<Vec<Cpu>> {
    online_in(&Sysfs::default())
}

/// The CPUs that are online on the machine that `sysfs` describes.
///
/// # Errors
/// As [`online`].
pub fn online_in(sysfs: &Sysfs) -> io::Result<Vec<Cpu>> {
    read_list(sysfs.path("devices/system/cpu/online"))
}

/// The CPUs that could ever come online.
///
/// # Errors
/// As [`online`].
pub fn possible() -> io::Result<Vec<Cpu>> {
    read_list(Sysfs::default().path("devices/system/cpu/possible"))
}

/// The CPUs that are there, online or not.
///
/// # Errors
/// As [`online`].
pub fn present() -> io::Result<Vec<Cpu>> {
    present_in(&Sysfs::default())
}

/// The CPUs that are there on the machine that `sysfs` describes.
///
/// # Errors
/// As [`online`].
pub fn present_in(sysfs: &Sysfs) -> io::Result<Vec<Cpu>> {
    read_list(sysfs.path("devices/system/cpu/present"))
}

fn read_list(path: impl AsRef<Path>) -> io::Result<Vec<Cpu>> {
    parse_list(&fs::read_to_string(path)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The CPUs that the calling thread may run on.
///
/// # Errors
/// The kernel's answer.
pub fn affinity() -> io::Result<Vec<Cpu>> {
    let Affinity(set) = Affinity::current()?;
    // SAFETY: reads a bit of a live set; the numbers are below its size.
    let allowed = |cpu: &usize| unsafe { libc::CPU_ISSET(*cpu, &set) };
    Ok((0..SET_BITS)
        .filter(allowed)
        .map(|cpu| Cpu(cpu as u32))
        .collect())
}

/// The CPU on which the calling thread runs now; `None` where the kernel does not tell.
pub fn current() -> Option<Cpu> {
    // SAFETY: the call takes nothing and touches no memory.
    let cpu = unsafe { libc::sched_getcpu() };
    u32::try_from(cpu).ok().map(Cpu)
}

/// The CPUs on which a thread may run, as the kernel keeps them: to be given back as they were.
#[derive(Clone, Copy)]
pub struct Affinity(libc::cpu_set_t);

impl Affinity {
    /// That of the calling thread.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn current() -> io::Result<Affinity> {
        let mut set = empty_set();
        // SAFETY: the set is live and as large as stated; 0 means the calling thread.
        check(unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) })?;
        Ok(Affinity(set))
    }

    /// Gives it to the calling thread.
    ///
    /// # Errors
    /// `EINVAL` when none of its CPUs is online any more.
    pub fn restore(&self) -> io::Result<()> {
        // SAFETY: the set is live and as large as stated; 0 means the calling thread.
        check(unsafe { libc::sched_setaffinity(0, size_of_val(&self.0), &self.0) }).map(drop)
    }
}

/// Restricts the calling thread to `cpus`.
///
/// # Errors
/// `EINVAL` when none of them is online or one is beyond 1023.
pub fn set_affinity(cpus: &[Cpu]) -> io::Result<()> {
    let mut set = empty_set();
    for cpu in cpus {
        let number = cpu.0 as usize;
        if number >= SET_BITS {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        // SAFETY: sets a bit of a live set; the number is below its size.
        unsafe { libc::CPU_SET(number, &mut set) };
    }
    // SAFETY: the set is live and as large as stated; 0 means the calling thread.
    check(unsafe { libc::sched_setaffinity(0, size_of_val(&set), &set) }).map(drop)
}

const SET_BITS: usize = libc::CPU_SETSIZE as usize;

fn empty_set() -> libc::cpu_set_t {
    // SAFETY: a CPU set is an array of integers; zero is the empty set.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<u32> {
        parse_list(text).unwrap().iter().map(|cpu| cpu.0).collect()
    }

    #[test]
    fn lists() {
        assert_eq!(numbers("0-1,4\n"), [0, 1, 4]);
        assert_eq!(numbers("4, 0-2,1"), [0, 1, 2, 4]);
        assert_eq!(numbers("\n"), [0; 0]);
    }

    #[test]
    fn hostile_lists() {
        let error = |text: &str| parse_list(text).unwrap_err().to_string();
        assert_eq!(error("1,,2"), "`` is no CPU number or range");
        assert_eq!(error("0-"), "`0-` is no CPU number or range");
        assert_eq!(error("+1"), "`+1` is no CPU number or range");
        assert_eq!(error("3-1"), "the range 3-1 runs backwards");
        assert_eq!(error("0-4000000000"), "CPU 4000000000 is out of range");
    }

    #[test]
    fn ranges_hold_what_they_name() {
        let ranges = CpuRanges::parse("0-1,4").unwrap();
        let held = (0..6).filter(|cpu| ranges.contains(Cpu(*cpu)));
        assert!(held.eq([0, 1, 4]));
        // A filter may name CPUs that no kernel has.
        let many = CpuRanges::parse("5,7-4000000000").unwrap();
        assert!(many.contains(Cpu(3_999_999_999)) && !many.contains(Cpu(6)));
        assert!(CpuRanges::parse(" ").unwrap().is_empty());
    }

    #[test]
    fn this_thread_runs_on_cpus_that_are_online() {
        let online = online().unwrap();
        let before = affinity().unwrap();
        assert!(!before.is_empty() && before.iter().all(|cpu| online.contains(cpu)));
        set_affinity(&before[..1]).unwrap();
        assert_eq!(affinity().unwrap(), before[..1]);
        let one = Affinity::current().unwrap();
        set_affinity(&before).unwrap();
        one.restore().unwrap();
        assert_eq!(affinity().unwrap(), before[..1]);
        set_affinity(&before).unwrap();
        assert!(set_affinity(&[Cpu(5000)]).is_err());
    }
}
