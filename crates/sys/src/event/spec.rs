//! The description of an event that is to be opened.

use super::Counter;
use crate::{EventFd, EventTask, Kernel, OpenError, OpenFlags, OpenRequest, Sysfs};
use oxperf_abi::{
    AttrFlags, CacheId, CacheOp, CacheResult, Cpu, EventAttr, EventType, HardwareId, ReadFormat,
    SampleType, SoftwareId,
};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::{fs, io};

/// An event: what it counts, when, and what is recorded of it. Reads give the times, so that counts can be scaled, and the
/// event's id.
///
/// ```
/// use oxperf_abi::{AttrFlags, EventType, ReadFormat};
/// use oxperf_sys::CounterSpec;
///
/// let attr = CounterSpec::task_clock().disabled().user_only().attr();
/// assert_eq!(attr.kind, EventType::SOFTWARE);
/// assert!(attr.flags.contains(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL));
/// assert!(attr.read_format.contains(ReadFormat::TOTAL_TIME_RUNNING));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CounterSpec {
    attr: EventAttr,
    cpu: Option<Cpu>,
    /// The text that the attribute points to.
    path: Option<CString>,
}

/// The access that a breakpoint waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WatchedAccess {
    /// Reads; x86 has no breakpoint for reads alone.
    Read,
    /// Writes.
    Write,
    /// Both.
    ReadWrite,
    /// Execution.
    Execute,
}

/// A place in a file of code that the kernel stops at, in every process that maps it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Uprobe {
    /// The file.
    pub path: PathBuf,
    /// Offset of the instruction in the file.
    pub offset: u64,
    /// Counts returns of the function that begins there, in place of its entries.
    pub on_return: bool,
}

/// The reason why a probe cannot be described.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The kernel does not say what its PMU for probes is.
    #[error("this kernel has no PMU '{pmu}': {source}")]
    NoPmu {
        /// The PMU.
        pmu: &'static str,
        /// The answer to reading its type.
        source: io::Error,
    },
    /// The type is no number.
    #[error("the type of the PMU '{pmu}' is no number: {text}")]
    Type {
        /// The PMU.
        pmu: &'static str,
        /// The text.
        text: String,
    },
    /// A NUL in the path.
    #[error("a path with a NUL names no file")]
    Path,
}

impl CounterSpec {
    /// An event of a PMU by its number in `/sys/bus/event_source/devices/PMU/type`.
    pub fn pmu(kind: EventType, config: u64) -> CounterSpec {
        let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
        CounterSpec::from_attr(EventAttr {
            kind,
            config,
            read_format: times | ReadFormat::ID,
            ..EventAttr::default()
        })
    }

    /// An event with this attribute, as it stands.
    pub fn from_attr(attr: EventAttr) -> CounterSpec {
        CounterSpec {
            attr,
            cpu: None,
            path: None,
        }
    }

    /// A generic event of hardware.
    pub fn hardware(id: HardwareId) -> CounterSpec {
        CounterSpec::pmu(EventType::HARDWARE, id as u64)
    }

    /// An event that the kernel counts itself.
    pub fn software(id: SoftwareId) -> CounterSpec {
        CounterSpec::pmu(EventType::SOFTWARE, id as u64)
    }

    /// The time that the task runs, ns.
    pub fn task_clock() -> CounterSpec {
        CounterSpec::software(SoftwareId::TaskClock)
    }

    /// A generic event of a cache.
    pub fn cache(cache: CacheId, access: CacheOp, result: CacheResult) -> CounterSpec {
        let config = cache as u64 | (access as u64) << 8 | (result as u64) << 16;
        CounterSpec::pmu(EventType::HW_CACHE, config)
    }

    /// An event by the code that the CPU's manual gives it.
    pub fn raw(config: u64) -> CounterSpec {
        CounterSpec::pmu(EventType::RAW, config)
    }

    /// A tracepoint, by its number in `/sys/kernel/tracing/events/SYSTEM/EVENT/id`.
    pub fn tracepoint(id: u64) -> CounterSpec {
        CounterSpec::pmu(EventType::TRACEPOINT, id)
    }

    /// A hardware breakpoint at `length` bytes, 1, 2, 4 or 8, from an address on. Execution is watched at one address; its
    /// length is that of a word.
    pub fn breakpoint(access: WatchedAccess, address: u64, length: u64) -> CounterSpec {
        let mut spec = CounterSpec::pmu(EventType::BREAKPOINT, 0);
        spec.attr.bp_type = access.bits();
        spec.attr.config1 = address;
        spec.attr.config2 = match access {
            WatchedAccess::Execute => size_of::<libc::c_long>() as u64,
            _ => length,
        };
        spec
    }

    /// A probe in user code.
    ///
    /// # Errors
    /// The kernel has no such probes, or the path cannot be one.
    pub fn uprobe(probe: &Uprobe) -> Result<CounterSpec, ProbeError> {
        let kind = pmu_number("uprobe")?;
        let path = CString::new(probe.path.as_os_str().as_bytes());
        Ok(CounterSpec {
            path: Some(path.map_err(|_| ProbeError::Path)?),
            ..CounterSpec::pmu(kind, probe.on_return.into())
        }
        .with(|attr| attr.config2 = probe.offset))
    }

    /// The event does not count until it is enabled.
    #[must_use]
    pub fn disabled(self) -> CounterSpec {
        self.flagged(AttrFlags::DISABLED)
    }

    /// The event begins to count when its task executes a program.
    #[must_use]
    pub fn enabled_on_exec(self) -> CounterSpec {
        self.flagged(AttrFlags::DISABLED | AttrFlags::ENABLE_ON_EXEC)
    }

    /// Threads and processes that the task starts from now on count, too.
    #[must_use]
    pub fn inherited(self) -> CounterSpec {
        self.flagged(AttrFlags::INHERIT)
    }

    /// User mode alone, which needs no rights at the usual `perf_event_paranoid`.
    #[must_use]
    pub fn user_only(self) -> CounterSpec {
        self.flagged(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV)
    }

    /// Kernel mode alone.
    #[must_use]
    pub fn kernel_only(self) -> CounterSpec {
        self.flagged(AttrFlags::EXCLUDE_USER | AttrFlags::EXCLUDE_HV)
    }

    /// The event always has its counter, or fails ([`ReadError::NotCounting`](crate::ReadError::NotCounting)).
    #[must_use]
    pub fn pinned(self) -> CounterSpec {
        self.flagged(AttrFlags::PINNED)
    }

    /// No other group counts while this one does.
    #[must_use]
    pub fn exclusive(self) -> CounterSpec {
        self.flagged(AttrFlags::EXCLUSIVE)
    }

    /// The ring keeps the newest records, for [`Counter::map_backward_ring`].
    #[must_use]
    pub fn overwriting(self) -> CounterSpec {
        self.flagged(AttrFlags::WRITE_BACKWARD)
    }

    /// Sets flags of the attribute that have no method of their own.
    #[must_use]
    pub fn flagged(self, flags: AttrFlags) -> CounterSpec {
        self.with(|attr| attr.flags |= flags)
    }

    /// An overflow, and a sample, each `period` events.
    #[must_use]
    pub fn every(self, period: u64) -> CounterSpec {
        self.with(|attr| attr.sample_period = period)
    }

    /// So many samples a second; the kernel adapts the period.
    #[must_use]
    pub fn at_frequency(self, hertz: u64) -> CounterSpec {
        self.with(|attr| {
            attr.sample_period = hertz;
            attr.flags |= AttrFlags::FREQ;
        })
    }

    /// The fields of a sample.
    #[must_use]
    pub fn sampling(self, fields: SampleType) -> CounterSpec {
        self.with(|attr| attr.sample_type |= fields)
    }

    /// Wakes who polls the event after so many samples.
    #[must_use]
    pub fn wake_each(self, samples: u32) -> CounterSpec {
        self.with(|attr| {
            attr.wakeup_events = samples;
            attr.flags.set(AttrFlags::WATERMARK, false);
        })
    }

    /// Wakes who polls the event after so many bytes of records.
    #[must_use]
    pub fn wake_each_bytes(self, bytes: u32) -> CounterSpec {
        self.with(|attr| {
            attr.wakeup_events = bytes;
            attr.flags |= AttrFlags::WATERMARK;
        })
    }

    /// Adds fields to a read, such as [`ReadFormat::LOST`].
    #[must_use]
    pub fn reading(self, fields: ReadFormat) -> CounterSpec {
        self.with(|attr| attr.read_format |= fields)
    }

    /// On this CPU alone. What counts everybody or a cgroup has to say which CPU it does so on.
    #[must_use]
    pub fn on_cpu(mut self, cpu: Cpu) -> CounterSpec {
        self.cpu = Some(cpu);
        self
    }

    /// Changes the attribute in any way.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut EventAttr)) -> CounterSpec {
        change(&mut self.attr);
        self
    }

    /// The attribute. That of a probe holds the address of a text in this value: it is good as long as the value lives.
    pub fn attr(&self) -> EventAttr {
        let mut attr = self.attr;
        if let Some(path) = &self.path {
            attr.config1 = path.as_ptr().addr() as u64;
        }
        attr
    }

    /// Opens the event for `task`.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn open<'k>(
        &self,
        kernel: &'k dyn Kernel,
        task: EventTask<'_>,
    ) -> Result<Counter<'k>, OpenError> {
        let event = self.open_in(kernel, task, self.cpu, None)?;
        Ok(Counter::new(kernel, event))
    }

    /// The CPU that the event is kept to.
    pub(super) fn cpu(&self) -> Option<Cpu> {
        self.cpu
    }

    /// Opens the event on a CPU as a member of a group, or as a leader.
    pub(super) fn open_in(
        &self,
        kernel: &dyn Kernel,
        task: EventTask<'_>,
        cpu: Option<Cpu>,
        group: Option<&EventFd>,
    ) -> Result<EventFd, OpenError> {
        kernel.open(&OpenRequest {
            attr: &self.attr(),
            task,
            cpu,
            group,
            flags: OpenFlags::default(),
        })
    }
}

impl WatchedAccess {
    /// `perf_event_attr.bp_type`.
    fn bits(self) -> u32 {
        match self {
            WatchedAccess::Read => 1,
            WatchedAccess::Write => 2,
            WatchedAccess::ReadWrite => 3,
            WatchedAccess::Execute => 4,
        }
    }
}

fn pmu_number(pmu: &'static str) -> Result<EventType, ProbeError> {
    let path = Sysfs::default().path(format!("bus/event_source/devices/{pmu}/type"));
    let text = fs::read_to_string(path).map_err(|source| ProbeError::NoPmu { pmu, source })?;
    let number = text.trim().parse();
    number.map(EventType).map_err(|_| ProbeError::Type {
        pmu,
        text: text.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_events() {
        let cache = CounterSpec::cache(CacheId::Dtlb, CacheOp::Write, CacheResult::Miss).attr();
        assert_eq!((cache.kind, cache.config), (EventType::HW_CACHE, 0x1_0103));
        let written = CounterSpec::breakpoint(WatchedAccess::Write, 0x1000, 4).attr();
        assert_eq!(
            (written.bp_type, written.config1, written.config2),
            (2, 0x1000, 4)
        );
        let run = CounterSpec::breakpoint(WatchedAccess::Execute, 0x1000, 1).attr();
        assert_eq!(run.config2, size_of::<usize>() as u64);
    }

    #[test]
    fn wake_ups_count_samples_or_bytes() {
        let bytes = CounterSpec::task_clock().wake_each_bytes(4096);
        assert!(bytes.attr().flags.contains(AttrFlags::WATERMARK));
        let samples = bytes.wake_each(2).attr();
        assert_eq!(samples.wakeup_events, 2);
        assert!(!samples.flags.contains(AttrFlags::WATERMARK));
    }

    #[test]
    fn a_probe_points_at_its_path_as_long_as_it_lives() {
        let probe = Uprobe {
            path: "/bin/true".into(),
            offset: 64,
            on_return: true,
        };
        match CounterSpec::uprobe(&probe) {
            Ok(spec) => {
                let attr = spec.attr();
                assert_eq!((attr.config, attr.config2), (1, 64));
                assert_eq!(attr.config1, spec.attr().config1);
            }
            Err(error) => assert!(matches!(error, ProbeError::NoPmu { .. }), "{error}"),
        }
        let broken = Uprobe {
            path: "a\0b".into(),
            ..probe
        };
        assert!(CounterSpec::uprobe(&broken).is_err());
    }
}
