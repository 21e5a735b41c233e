//! The heap's dealings with the kernel.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's heap for a whole program, which says so and ends the process when there is no memory left, where the
/// standard library would abort it.
#[derive(Debug)]
pub struct Heap {
    exhausted: fn(usize) -> !,
}

impl Heap {
    /// A heap that calls `exhausted` with the number of bytes that cannot be had. It must not ask for memory.
    pub const fn new(exhausted: fn(usize) -> !) -> Heap {
        Heap { exhausted }
    }

    #[inline]
    fn checked(&self, memory: *mut u8, size: usize) -> *mut u8 {
        if memory.is_null() {
            (self.exhausted)(size)
        } else {
            memory
        }
    }
}

// SAFETY: every call is handed on to the system's heap as it is, and what that gives is given back as it is.
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the one that is asked for.
        self.checked(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        self.checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as in `alloc`.
        self.checked(unsafe { System.realloc(memory, layout, size) }, size)
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Lets all threads share one heap, where each would reserve a large piece of the address space for its own. For
/// processes whose address space is limited; others are faster without.
pub fn share_between_threads() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call takes two numbers and changes a setting of the heap under its own lock.
    let _ = unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
}

/// Lets the heap keep what is freed for what is asked for next, instead of giving it back to the kernel and taking it
/// again page by page. For programs that go from one large structure to the next and end soon.
///
/// A hint: heaps that cannot take it do as they did.
pub fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// Blocks above this size are better moved by the kernel when they grow than copied.
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
