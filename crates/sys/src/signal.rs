//! Catching the signals that end or steer a recording, in a way that can be waited on.
//!
//! A handler may do almost nothing, so it sets a bit and adds to an `eventfd`; the recorder's loop polls the
//! descriptor and takes the bits. A signal handler has no argument but the number, so this is a place with
//! process-wide state (another is the guard of mapped files), and only one [`SignalWatch`] can exist at a time.
//!
//! The `eventfd` is made once and never closed: a handler that began before its watch ended may still write to it, and
//! would otherwise write to whatever was opened under that number since.

use crate::arrivals::{self, Shared};
use crate::errno::check;
use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

/// A signal that can be watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Signal {
    /// `SIGINT`: Ctrl-C.
    Interrupt,
    /// `SIGTERM`.
    Terminate,
    /// `SIGHUP`: the terminal is gone. Where it was ignored, as `nohup` has it, it stays ignored.
    Hangup,
    /// `SIGCHLD`: a child ended.
    Child,
    /// `SIGUSR1`.
    User1,
    /// `SIGUSR2`: snapshot or switch of output.
    User2,
    /// `SIGXFSZ`: a file reached the limit of file sizes. Caught, the write fails and nothing ends.
    FileSize,
}

impl Signal {
    const ALL: [Signal; 7] = [
        Signal::Interrupt,
        Signal::Terminate,
        Signal::Hangup,
        Signal::Child,
        Signal::User1,
        Signal::User2,
        Signal::FileSize,
    ];

    /// The kernel's number.
    pub fn number(self) -> i32 {
        match self {
            Signal::Interrupt => libc::SIGINT,
            Signal::Terminate => libc::SIGTERM,
            Signal::Hangup => libc::SIGHUP,
            Signal::Child => libc::SIGCHLD,
            Signal::User1 => libc::SIGUSR1,
            Signal::User2 => libc::SIGUSR2,
            Signal::FileSize => libc::SIGXFSZ,
        }
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// Signals that arrived; how often is not known.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SignalSet(u32);

impl SignalSet {
    /// Returns whether `signal` arrived.
    pub fn contains(self, signal: Signal) -> bool {
        self.0 & signal.bit() != 0
    }

    /// Returns whether none arrived.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The signals that arrived.
    pub fn iter(self) -> impl Iterator<Item = Signal> {
        Signal::ALL
            .into_iter()
            .filter(move |signal| self.contains(*signal))
    }
}

impl std::fmt::Debug for SignalSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// The reason why signals cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum SignalError {
    /// Another [`SignalWatch`] exists.
    #[error("signals are being watched already")]
    Busy,
    /// The kernel's answer.
    #[error("cannot catch signals: {0}")]
    Io(#[from] io::Error),
}

static WATCHING: AtomicBool = AtomicBool::new(false);
static ARRIVED: AtomicU32 = AtomicU32::new(0);
/// The descriptor that the handler writes to, for as long as the process lives.
static WAKE: OnceLock<OwnedFd> = OnceLock::new();
/// Its number, for the handler.
static WAKE_NUMBER: AtomicI32 = AtomicI32::new(-1);

/// Catches signals until it is dropped; then what they did before holds again.
///
/// Poll it through [`AsFd`] and call [`SignalWatch::take`] when it is readable. Start a [`crate::Workload`] first:
/// then it begins with the dispositions from before.
#[derive(Debug)]
pub struct SignalWatch {
    wake: &'static OwnedFd,
    previous: Vec<Disposition>,
}

impl SignalWatch {
    /// Catches `signals` from now on.
    ///
    /// # Errors
    /// [`SignalError::Busy`] while another watch exists; otherwise the kernel's answer.
    pub fn install(signals: &[Signal]) -> Result<SignalWatch, SignalError> {
        if WATCHING.swap(true, Ordering::AcqRel) {
            return Err(SignalError::Busy);
        }
        let wake = wake().inspect_err(|_| WATCHING.store(false, Ordering::Release))?;
        // From here on dropping the watch undoes what was done.
        let mut watch = SignalWatch {
            wake,
            previous: Vec::with_capacity(signals.len()),
        };
        // What a watch before this one left untaken.
        watch.take();
        for signal in signals {
            watch.previous.extend(Disposition::catch(*signal)?);
        }
        Ok(watch)
    }

    /// The signals that arrived since the last call. The descriptor is quiet afterwards.
    pub fn take(&self) -> SignalSet {
        SignalSet(arrivals::take(&Process))
    }
}

/// Wakes whoever polls a [`SignalWatch`], from any thread, as a signal does: for news that it finds elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waker(());

impl Waker {
    /// Makes the descriptor of the watch readable; none arrives.
    pub fn wake(self) {
        arrivals::leave(&Process, 0);
    }
}

impl AsFd for SignalWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

impl Drop for SignalWatch {
    fn drop(&mut self) {
        self.previous.iter().rev().for_each(Disposition::restore);
        WATCHING.store(false, Ordering::Release);
    }
}

/// Runs in signal context: only atomics and `write`.
extern "C" fn remember(number: libc::c_int) {
    let signal = Signal::ALL
        .into_iter()
        .find(|signal| signal.number() == number);
    // SAFETY: the place is this thread's own and always there.
    let (errno, interrupted) = unsafe { (libc::__errno_location(), *libc::__errno_location()) };
    arrivals::leave(&Process, signal.map_or(0, Signal::bit));
    // SAFETY: as above; it must look untouched to the interrupted code.
    unsafe { *errno = interrupted };
}

/// The state of this process that handlers reach.
struct Process;

impl Shared for Process {
    fn add(&self, bits: u32) {
        ARRIVED.fetch_or(bits, Ordering::AcqRel);
    }

    fn wake(&self) {
        let one = 1u64;
        // SAFETY: writing 8 live bytes to a descriptor is allowed in a handler, and this one is never closed.
        unsafe {
            libc::write(
                WAKE_NUMBER.load(Ordering::Acquire),
                (&raw const one).cast(),
                size_of::<u64>(),
            )
        };
    }

    fn quiet(&self) {
        let mut count = 0u64;
        // SAFETY: an eventfd yields 8 bytes, for which `count` has space. Without news the call fails with EAGAIN and the
        // bits say so.
        unsafe {
            libc::read(
                WAKE_NUMBER.load(Ordering::Acquire),
                (&raw mut count).cast(),
                size_of::<u64>(),
            )
        };
    }

    fn take_bits(&self) -> u32 {
        ARRIVED.swap(0, Ordering::AcqRel)
    }
}

/// The action of a signal before it was caught.
struct Disposition {
    signal: Signal,
    action: libc::sigaction,
}

impl Disposition {
    /// Catches a signal; `None` for a hangup that is ignored.
    fn catch(signal: Signal) -> io::Result<Option<Disposition>> {
        let mut action = blank_action();
        action.sa_sigaction = remember as extern "C" fn(libc::c_int) as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        let mut previous = blank_action();
        // SAFETY: both structs are live; the handler is async-signal-safe, see there.
        check(unsafe { libc::sigaction(signal.number(), &action, &mut previous) })?;
        let caught = Disposition {
            signal,
            action: previous,
        };
        if signal == Signal::Hangup && previous.sa_sigaction == libc::SIG_IGN {
            caught.restore();
            return Ok(None);
        }
        Ok(Some(caught))
    }

    fn restore(&self) {
        // SAFETY: the action is one that the kernel gave for this signal. It cannot fail for a valid signal.
        unsafe { libc::sigaction(self.signal.number(), &self.action, std::ptr::null_mut()) };
    }
}

impl std::fmt::Debug for Disposition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.signal)
    }
}

fn blank_action() -> libc::sigaction {
    // SAFETY: zero is a valid value of every field: default handler, no flags, empty mask.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// The one descriptor, made at the first call. Only the holder of [`WATCHING`] calls.
fn wake() -> io::Result<&'static OwnedFd> {
    if let Some(wake) = WAKE.get() {
        return Ok(wake);
    }
    let made = new_eventfd()?;
    let wake = WAKE.get_or_init(|| made);
    WAKE_NUMBER.store(wake.as_raw_fd(), Ordering::Release);
    Ok(wake)
}

fn new_eventfd() -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers only.
    let fd = check(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
    // SAFETY: the kernel just returned this descriptor, so nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Gives a signal its default effect and sends it to this process, so that whoever waits for us sees that we ended
/// by it. Returns when the signal's default is not to end a process.
///
/// # Errors
/// `EINVAL` when there is no such signal, or one that cannot be reset.
pub fn kill_self(number: i32) -> io::Result<()> {
    // SAFETY: resetting to the default action installs no code; raising takes a number only.
    unsafe {
        if libc::signal(number, libc::SIG_DFL) == libc::SIG_ERR && number != libc::SIGKILL {
            return Err(io::Error::last_os_error());
        }
        check(libc::raise(number)).map(drop)
    }
}

/// The words of the C library for a signal: `Killed`, `Segmentation fault`.
pub fn signal_name(number: i32) -> String {
    // SAFETY: the call takes a number; the text that it returns is static, or a buffer of this thread that stays until its
    // next call.
    let text = unsafe { libc::strsignal(number) };
    if text.is_null() {
        return format!("signal {number}");
    }
    // SAFETY: not null, and ended by a NUL byte.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PollSet;
    use std::time::Duration;

    #[test]
    fn a_caught_signal_wakes_and_is_taken_once() {
        let watch = SignalWatch::install(&[Signal::User1, Signal::User2]).unwrap();
        assert!(matches!(SignalWatch::install(&[]), Err(SignalError::Busy)));
        let mut set = PollSet::new();
        let slot = set.add(&watch);
        assert_eq!(set.wait(Some(Duration::ZERO)).unwrap(), 0);
        // SAFETY: raising takes a number only, and the signal is caught.
        unsafe { libc::raise(libc::SIGUSR2) };
        set.wait(Some(Duration::from_secs(5))).unwrap();
        assert!(set.readiness(slot).readable);
        assert_eq!(watch.take().iter().collect::<Vec<_>>(), [Signal::User2]);
        assert!(watch.take().is_empty());
        let number = watch.as_fd().as_raw_fd();
        std::thread::spawn(|| Waker::default().wake());
        set.wait(Some(Duration::from_secs(5))).unwrap();
        assert!(set.readiness(slot).readable && watch.take().is_empty());
        drop(watch);
        late_signals_go_nowhere_else(number);
        ignored_hangups_stay_ignored();
    }

    /// A handler that runs on when its watch has ended writes to the same descriptor, which nothing else ever has.
    fn late_signals_go_nowhere_else(number: i32) {
        let others = [new_eventfd().unwrap(), new_eventfd().unwrap()];
        assert!(others.iter().all(|other| other.as_raw_fd() != number));
        remember(libc::SIGUSR1);
        let mut set = PollSet::new();
        let slots = others.each_ref().map(|other| set.add(other));
        set.wait(Some(Duration::ZERO)).unwrap();
        assert!(slots.iter().all(|slot| !set.readiness(*slot).readable));
        let next = SignalWatch::install(&[Signal::User1]).unwrap();
        assert_eq!(next.as_fd().as_raw_fd(), number);
        assert!(next.take().is_empty());
    }

    fn ignored_hangups_stay_ignored() {
        // SAFETY: ignoring installs no code; raising takes a number only.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
        let watch = SignalWatch::install(&[Signal::Hangup]).unwrap();
        // SAFETY: as above.
        unsafe { libc::raise(libc::SIGHUP) };
        assert!(watch.take().is_empty());
        drop(watch);
        // SAFETY: as above.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_DFL) };
    }

    #[test]
    fn no_such_signal() {
        assert_eq!(
            kill_self(4000).unwrap_err().raw_os_error(),
            Some(libc::EINVAL)
        );
    }
}
