//! COMM: a thread takes a name.

use oxperf_wire::kernel::Comm;

use crate::Machine;

impl Machine {
    /// Applies a COMM record.
    pub fn apply_comm(&mut self, comm: &Comm<'_>) {
        let thread = self.thread(comm.pid, comm.tid);
        self.set_comm(thread, &String::from_utf8_lossy(comm.comm));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{Pid, Tid};

    #[test]
    fn the_first_name_holds_for_the_past_and_the_next_does_not() {
        let mut machine = Machine::default();
        let thread = machine.thread(Pid(5), Tid(5));
        let before = machine.thread_info(thread).comm;
        assert_eq!(machine.comm(before), ":5");
        machine.apply_comm(&Comm {
            pid: Pid(5),
            tid: Tid(5),
            comm: b"sh",
        });
        assert_eq!(machine.comm(before), "sh");
        machine.apply_comm(&Comm {
            pid: Pid(5),
            tid: Tid(5),
            comm: b"make",
        });
        assert_eq!(
            (machine.comm(before), machine.comm_of(thread)),
            ("sh", "make")
        );
    }
}
