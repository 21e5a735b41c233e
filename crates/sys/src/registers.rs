//! The registers of this CPU that user mode may read: the counters of events, and the cycle counter.

use crate::CounterRegisters;

/// The registers of the CPU that runs this thread.
#[derive(Clone, Copy, Debug)]
pub struct CpuRegisters(());

impl CpuRegisters {
    /// The registers, where this crate can read them: on x86-64. Elsewhere counters are read through the kernel.
    pub fn new() -> Option<CpuRegisters> {
        cfg!(target_arch = "x86_64").then_some(CpuRegisters(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl CounterRegisters for CpuRegisters {
    fn counter(&self, number: u32) -> u64 {
        let (low, high): (u32, u32);
        // SAFETY: the instruction reads a register and writes two; it touches no memory. Where it is not allowed the CPU
        // traps and the kernel ends the process with a signal, which breaks nothing; `CounterPage::read` asks only for
        // counters that the kernel's page says may be read. It is not marked `nomem`, so that it stays between the reads
        // of the page's lock.
        unsafe {
            std::arch::asm!("rdpmc", in("ecx") number, out("eax") low, out("edx") high,
                options(nostack, preserves_flags));
        }
        u64::from(high) << 32 | u64::from(low)
    }

    fn cycles(&self) -> u64 {
        // SAFETY: the instruction reads a register, which Linux never forbids unless a process asks for that.
        unsafe { std::arch::x86_64::_rdtsc() }
    }
}

/// Nothing makes such a value here ([`CpuRegisters::new`]).
#[cfg(not(target_arch = "x86_64"))]
impl CounterRegisters for CpuRegisters {
    fn counter(&self, _number: u32) -> u64 {
        0
    }

    fn cycles(&self) -> u64 {
        0
    }
}
