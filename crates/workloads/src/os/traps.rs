//! Instructions that enter the kernel, and the counter of the processor.

use crate::WorkloadError;

/// Makes traps harmless: what comes behind the instruction goes on.
pub(crate) fn ignore_traps() -> Result<(), WorkloadError> {
    extern "C" fn go_on(_: libc::c_int) {}
    // SAFETY: the handler does nothing, which is allowed at any moment.
    let before = unsafe {
        libc::signal(
            libc::SIGTRAP,
            go_on as extern "C" fn(libc::c_int) as libc::sighandler_t,
        )
    };
    if before == libc::SIG_ERR {
        let error = std::io::Error::last_os_error();
        return Err(WorkloadError::system("catch SIGTRAP")(error));
    }
    Ok(())
}

/// Runs one instruction that traps.
#[inline(always)]
pub(crate) fn trap() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `int3` changes no register and no memory; `ignore_traps` has been called.
    unsafe {
        std::arch::asm!("int3");
    }
    #[cfg(target_arch = "aarch64")]
    {
        let features: u64;
        // SAFETY: reads a register of features, which the kernel does in the place of user code; changes nothing else.
        unsafe { std::arch::asm!("mrs {}, ID_AA64ISAR0_EL1", out(reg) features) };
        std::hint::black_box(features);
    }
}

/// The counter that the processor keeps time with; zero where there is none.
pub(crate) fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of the kind has the instruction, and it only reads.
    let now = unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(target_arch = "aarch64")]
    let now = {
        let now: u64;
        // SAFETY: user code may read the counter; nothing else changes.
        unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) now) };
        now
    };
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let now = 0;
    now
}
