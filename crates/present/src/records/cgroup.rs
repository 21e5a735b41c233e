//! CGROUP: the name behind a cgroup's id.

use oxperf_wire::kernel::Cgroup;

use super::name;
use crate::text::put;

/// Appends the line of a CGROUP record.
pub(super) fn cgroup(out: &mut Vec<u8>, record: &Cgroup<'_>) {
    put!(
        out,
        "PERF_RECORD_CGROUP cgroup: {} {}\n",
        record.id,
        name(record.path),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::text;

    #[test]
    fn id_and_path() {
        let record = Cgroup {
            id: 77,
            path: b"/user.slice",
        };
        assert_eq!(
            text(|out| cgroup(out, &record)),
            "PERF_RECORD_CGROUP cgroup: 77 /user.slice\n"
        );
    }
}
