//! The flag word of an attribute.

use crate::bits::bit_word;

bit_word! {
    /// The bit fields of `perf_event_attr` at offset 40, in little-endian bit numbers.
    AttrFlags: u64 {
        /// Off until enabled.
        DISABLED = 0, "disabled";
        /// Children count too.
        INHERIT = 1, "inherit";
        /// Always on the PMU.
        PINNED = 2, "pinned";
        /// Only group on the PMU.
        EXCLUSIVE = 3, "exclusive";
        /// Not in user mode.
        EXCLUDE_USER = 4, "exclude_user";
        /// Not in kernel mode.
        EXCLUDE_KERNEL = 5, "exclude_kernel";
        /// Not in the hypervisor.
        EXCLUDE_HV = 6, "exclude_hv";
        /// Not when idle.
        EXCLUDE_IDLE = 7, "exclude_idle";
        /// Executable mappings are recorded.
        MMAP = 8, "mmap";
        /// Names are recorded.
        COMM = 9, "comm";
        /// Frequency, not period.
        FREQ = 10, "freq";
        /// Per-task counts.
        INHERIT_STAT = 11, "inherit_stat";
        /// Enabled at the next exec.
        ENABLE_ON_EXEC = 12, "enable_on_exec";
        /// Forks and exits are recorded.
        TASK = 13, "task";
        /// `wakeup_watermark` counts bytes.
        WATERMARK = 14, "watermark";
        /// Data mappings are recorded.
        MMAP_DATA = 17, "mmap_data";
        /// Every record carries the sample id trailer.
        SAMPLE_ID_ALL = 18, "sample_id_all";
        /// Not in the host.
        EXCLUDE_HOST = 19, "exclude_host";
        /// Not in guests.
        EXCLUDE_GUEST = 20, "exclude_guest";
        /// No kernel part in call chains.
        EXCLUDE_CALLCHAIN_KERNEL = 21, "exclude_callchain_kernel";
        /// No user part in call chains.
        EXCLUDE_CALLCHAIN_USER = 22, "exclude_callchain_user";
        /// Mappings with device and inode, or build id.
        MMAP2 = 23, "mmap2";
        /// Exec and renaming differ.
        COMM_EXEC = 24, "comm_exec";
        /// `clockid` holds.
        USE_CLOCKID = 25, "use_clockid";
        /// Context switches are recorded.
        CONTEXT_SWITCH = 26, "context_switch";
        /// The ring is written backward.
        WRITE_BACKWARD = 27, "write_backward";
        /// Namespaces are recorded.
        NAMESPACES = 28, "namespaces";
        /// Kernel symbols that come and go are recorded.
        KSYMBOL = 29, "ksymbol";
        /// BPF programs are recorded.
        BPF_EVENT = 30, "bpf_event";
        /// Output goes to the AUX area.
        AUX_OUTPUT = 31, "aux_output";
        /// Cgroups are recorded.
        CGROUP = 32, "cgroup";
        /// Changes of kernel text are recorded.
        TEXT_POKE = 33, "text_poke";
        /// MMAP2 carries build ids.
        BUILD_ID = 34, "build_id";
        /// Threads inherit, processes do not.
        INHERIT_THREAD = 35, "inherit_thread";
        /// Removed at exec.
        REMOVE_ON_EXEC = 36, "remove_on_exec";
        /// SIGTRAP at overflow.
        SIGTRAP = 37, "sigtrap";
        /// User call chains may come later.
        DEFER_CALLCHAIN = 38, "defer_callchain";
        /// This event takes the deferred chains.
        DEFER_OUTPUT = 39, "defer_output";
    }
}

impl AttrFlags {
    const PRECISE_SHIFT: u32 = 15;

    /// Skid allowed, 0 (any) to 3 (none).
    pub const fn precise_ip(self) -> u8 {
        (self.0 >> Self::PRECISE_SHIFT & 3) as u8
    }

    /// Sets the skid, 0 to 3.
    pub const fn set_precise_ip(&mut self, level: u8) {
        self.0 = self.0 & !(3 << Self::PRECISE_SHIFT) | ((level & 3) as u64) << Self::PRECISE_SHIFT;
    }
}
