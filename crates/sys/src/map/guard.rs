//! Reading on where a mapped file was cut short.
//!
//! Touching a page behind the end of a mapped file raises `SIGBUS`. The handler here looks the address up among the
//! mappings that are registered; if it lies in one, zero pages take the place of what the file lost, the mapping is
//! marked, and the reader goes on and finds zeros. Any other `SIGBUS` does what it did before.
//!
//! A handler may run in any thread at any moment and must not lock: it reads slots that never move or vanish, and a
//! version of each shows whether what it read belongs together. Registering and removing take a lock; both happen as
//! often as files are mapped, and reading costs nothing.

use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::errno::check;

/// A file that somebody cut short while it was mapped.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TruncatedFile {
    /// Its name when it was mapped.
    pub path: PathBuf,
    /// `true` if whoever mapped it called it essential.
    pub essential: bool,
}

/// The files that were cut short while they were mapped, as far as somebody read what they lost; each once, by name.
pub fn truncated_files() -> Vec<TruncatedFile> {
    let registry = registry();
    let mapped = registry
        .mapped
        .values()
        .filter(|mapped| mapped.slot.is_truncated())
        .map(|mapped| &mapped.file);
    let mut files: Vec<TruncatedFile> = registry.truncated.iter().chain(mapped).cloned().collect();
    files.sort();
    files.dedup();
    files
}

/// A mapping that the handler knows.
#[derive(Debug)]
pub(super) struct Registered {
    slot: &'static Slot,
}

impl Registered {
    /// Lets the handler know a mapping of `length` bytes at `start`. It must stay mapped until this is dropped.
    ///
    /// # Errors
    /// The handler cannot be installed.
    pub(super) fn new(start: *const u8, length: usize, path: &Path) -> io::Result<Registered> {
        install()?;
        let mut registry = registry();
        let slot = registry.free_slot();
        slot.set(start.addr(), length);
        let file = TruncatedFile {
            path: path.to_path_buf(),
            essential: false,
        };
        registry.mapped.insert(slot.key(), Mapped { slot, file });
        Ok(Registered { slot })
    }

    /// Marks the file as one without which a result is wrong.
    pub(super) fn call_essential(&self) {
        let mut registry = registry();
        let mapped = registry.mapped.get_mut(&self.slot.key());
        mapped
            .into_iter()
            .for_each(|mapped| mapped.file.essential = true);
    }

    /// Returns whether somebody read what the file lost.
    pub(super) fn is_truncated(&self) -> bool {
        self.slot.is_truncated()
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut registry = registry();
        let truncated = self.slot.is_truncated();
        self.slot.set(0, 0);
        if let Some(Mapped { slot, file }) = registry.mapped.remove(&self.slot.key()) {
            registry.free.push(slot);
            if truncated && !registry.truncated.contains(&file) {
                registry.truncated.push(file);
            }
        }
    }
}

/// The mappings, for everybody but the handler.
struct Registry {
    /// By [`Slot::key`].
    mapped: BTreeMap<usize, Mapped>,
    free: Vec<&'static Slot>,
    /// Files that are not mapped any more.
    truncated: Vec<TruncatedFile>,
}

/// A slot that is in use.
struct Mapped {
    slot: &'static Slot,
    file: TruncatedFile,
}

impl Registry {
    /// A slot that nobody uses; a new block of them where there is none.
    fn free_slot(&mut self) -> &'static Slot {
        if let Some(slot) = self.free.pop() {
            return slot;
        }
        let block: &'static Block = Box::leak(Box::new(Block {
            slots: [const { Slot::new() }; IN_BLOCK],
            next: AtomicPtr::new(BLOCKS.load(Ordering::Relaxed)),
        }));
        self.free.extend(&block.slots[1..]);
        // The handler sees whole blocks.
        BLOCKS.store(std::ptr::from_ref(block).cast_mut(), Ordering::Release);
        &block.slots[0]
    }
}

fn registry() -> MutexGuard<'static, Registry> {
    static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
        mapped: BTreeMap::new(),
        free: Vec::new(),
        truncated: Vec::new(),
    });
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Slots in a block.
const IN_BLOCK: usize = 64;

/// Slots that live as long as the process.
struct Block {
    slots: [Slot; IN_BLOCK],
    next: AtomicPtr<Block>,
}

/// The newest block.
static BLOCKS: AtomicPtr<Block> = AtomicPtr::new(null_mut());

/// Place of one mapping; of none where the length is 0.
#[derive(Debug)]
struct Slot {
    /// Odd while start and length are changed.
    version: AtomicUsize,
    start: AtomicUsize,
    length: AtomicUsize,
    truncated: AtomicBool,
}

impl Slot {
    const fn new() -> Slot {
        Slot {
            version: AtomicUsize::new(0),
            start: AtomicUsize::new(0),
            length: AtomicUsize::new(0),
            truncated: AtomicBool::new(false),
        }
    }

    /// The number of this mapping, which no other has.
    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Changes the place; whoever calls holds the registry's lock.
    fn set(&self, start: usize, length: usize) {
        let version = self.version.load(Ordering::Relaxed);
        self.version
            .store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        self.start.store(start, Ordering::Relaxed);
        self.length.store(length, Ordering::Relaxed);
        self.truncated.store(false, Ordering::Relaxed);
        self.version
            .store(version.wrapping_add(2), Ordering::Release);
    }

    /// One past the last byte, where the mapping holds `address`. A slot that is being changed holds nothing that
    /// somebody reads: what is read is registered before and removed after.
    fn end_around(&self, address: usize) -> Option<usize> {
        let version = self.version.load(Ordering::Acquire);
        let (start, length) = (
            self.start.load(Ordering::Relaxed),
            self.length.load(Ordering::Relaxed),
        );
        fence(Ordering::Acquire);
        let same = version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version;
        let inside = address
            .checked_sub(start)
            .is_some_and(|offset| offset < length);
        (same && inside).then(|| start + length)
    }

    fn is_truncated(&self) -> bool {
        self.truncated.load(Ordering::Acquire)
    }
}

/// The action of `SIGBUS` before.
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();
/// Bytes of a page.
static PAGE: AtomicUsize = AtomicUsize::new(4096);

/// Installs the handler, once.
fn install() -> io::Result<()> {
    static INSTALLING: Mutex<bool> = Mutex::new(false);
    let mut installed = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    if *installed {
        return Ok(());
    }
    // SAFETY: the call takes a number only.
    if let Ok(page) = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) {
        PAGE.store(page, Ordering::Relaxed);
    }
    let mut previous = blank_action();
    // SAFETY: the struct is live and of the kernel's layout; nothing is installed.
    check(unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut previous) })?;
    let _ = PREVIOUS.set(previous);
    let mut action = blank_action();
    action.sa_sigaction = on_bus_error
        as extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void)
        as libc::sighandler_t;
    // The standard library gives each thread a stack for handlers.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the struct is live; the handler is async-signal-safe, see there.
    check(unsafe { libc::sigaction(libc::SIGBUS, &action, null_mut()) })?;
    *installed = true;
    Ok(())
}

fn blank_action() -> libc::sigaction {
    // SAFETY: zero is a valid value of every field: default handler, no flags, empty mask.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// The address lies behind the end of what is mapped there.
const BUS_ADRERR: libc::c_int = 2;

/// Runs in signal context: only atomics, `mmap`, `sigaction` and `raise`.
extern "C" fn on_bus_error(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: errno is this thread's own and must look untouched to the interrupted code; the kernel hands a live
    // struct to handlers that ask for it, and one of this code has an address.
    let (errno, code, address) = unsafe {
        (
            *libc::__errno_location(),
            (*info).si_code,
            (*info).si_addr().addr(),
        )
    };
    if code != BUS_ADRERR || !mend(address) {
        decline(code);
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// Puts zero pages where a registered mapping lost its file, from the page of `address` to its end. `false` where no
/// mapping holds it, or the kernel refuses.
fn mend(address: usize) -> bool {
    let mut block = BLOCKS.load(Ordering::Acquire);
    // SAFETY: blocks are leaked whole before they are published, and never changed but through atomics.
    while let Some(found) = unsafe { block.as_ref() } {
        for slot in &found.slots {
            if let Some(end) = slot.end_around(address) {
                let mended = zero_pages(address & !(PAGE.load(Ordering::Relaxed) - 1), end);
                slot.truncated.fetch_or(mended, Ordering::AcqRel);
                return mended;
            }
        }
        block = found.next.load(Ordering::Relaxed);
    }
    false
}

fn zero_pages(from: usize, end: usize) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: the pages belong to a private read-only mapping that stays registered while it is read, as it is by the
    // interrupted code, so that nothing else of this process is replaced. Bytes of a mapped file can change at any
    // time anyway; every value is valid for them.
    let mapped = unsafe {
        let start = std::ptr::without_provenance_mut(from);
        libc::mmap(start, end - from, libc::PROT_READ, flags, -1, 0)
    };
    mapped != libc::MAP_FAILED
}

/// Gives the signal back to whoever had it: an error of the interrupted code comes again at once. A signal that somebody
/// sent does not, and has its default effect.
fn decline(code: libc::c_int) {
    let is_sent = code <= 0;
    let previous = PREVIOUS
        .get()
        .copied()
        .filter(|_| !is_sent)
        .unwrap_or_else(blank_action);
    // SAFETY: the action is one that the kernel gave for this signal, or the default; raising takes a number only.
    unsafe {
        libc::sigaction(libc::SIGBUS, &previous, null_mut());
        if is_sent {
            libc::raise(libc::SIGBUS);
        }
    }
}
