//! BPF programs at events of the running kernel. Here, because loading a program takes `unsafe`.

// A test that cannot run says so.
#![allow(clippy::print_stderr)]

use crate::errno::check;
use crate::{BpfProgramId, Control, Counter, CounterSpec, EventTask, RealKernel};
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};

/// Loads a program for tracepoints that returns 0.
fn program() -> io::Result<OwnedFd> {
    const PROG_LOAD: libc::c_int = 5;
    const OF_TRACEPOINTS: u64 = 5;
    // mov r0, 0; exit
    let code: [u64; 2] = [0xb7, 0x95];
    let license = c"MIT";
    let mut attr = [0u64; 16];
    attr[0] = OF_TRACEPOINTS | (code.len() as u64) << 32;
    attr[1] = code.as_ptr().addr() as u64;
    attr[2] = license.as_ptr().addr() as u64;
    let (length, attr) = (size_of_val(&attr), attr.as_ptr());
    // SAFETY: the attribute is live, zeroed beyond its fields, and points to live code and text.
    let fd = unsafe { libc::syscall(libc::SYS_bpf, PROG_LOAD, attr, length) };
    let fd = check(fd as libc::c_int)?;
    // SAFETY: the kernel just returned this descriptor, so nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn tracepoint() -> Option<CounterSpec> {
    let id = "/sys/kernel/tracing/events/sched/sched_process_hang/id";
    let id = std::fs::read_to_string(id).ok()?.trim().parse().ok()?;
    Some(CounterSpec::tracepoint(id))
}

fn open(spec: &CounterSpec) -> Option<Counter<'static>> {
    spec.open(&RealKernel, EventTask::Caller).ok()
}

#[test]
fn programs_are_attached_and_listed() {
    let spec = tracepoint();
    let events = spec.and_then(|spec| open(&spec).zip(open(&spec)));
    let Some(((one, other), program)) = events.zip(program().ok()) else {
        return eprintln!("SKIPPED: no tracepoint or no BPF program can be had");
    };
    assert_eq!(one.bpf_programs().unwrap(), []);
    one.control(Control::SetBpf(program.as_fd())).unwrap();
    let [BpfProgramId(found)] = other.bpf_programs().unwrap()[..] else {
        panic!("the tracepoint's programs are seen by every event of it");
    };
    assert!(found > 0);
    let again = one.control(Control::SetBpf(program.as_fd()));
    assert!(again.is_err(), "one program an event");
    drop(one);
    assert_eq!(other.bpf_programs().unwrap(), [], "it goes with its event");
}

#[test]
fn a_clock_has_no_list_of_programs() {
    let Some(clock) = open(&CounterSpec::task_clock().user_only()) else {
        return eprintln!("SKIPPED: this machine refuses the event");
    };
    let refused = clock.bpf_programs().unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(libc::EINVAL));
}
