//! The heap's dealings with the kernel.

/// Lets the heap keep what is freed for what is asked for next, instead of giving it back to the kernel and taking it
/// again page by page. For programs that go from one large structure to the next and end soon.
///
/// A hint: heaps that cannot be told do as they did.
pub fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// What is larger is better moved by the kernel when it grows than copied.
        const MAPPED_ALONE: i32 = 8 << 20;
        /// Threads have heaps of their own, which would grow page by page; memory that nobody touches costs nothing.
        const AT_ONCE: i32 = 1 << 20;
        let settings = [
            (libc::M_MMAP_THRESHOLD, MAPPED_ALONE),
            (libc::M_TRIM_THRESHOLD, i32::MAX),
            (libc::M_TOP_PAD, AT_ONCE),
        ];
        for (setting, value) in settings {
            // SAFETY: the call takes two numbers and changes settings of the heap under its own lock.
            let _ = unsafe { libc::mallopt(setting, value) };
        }
    }
}
