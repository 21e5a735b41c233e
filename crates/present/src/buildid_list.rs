//! The text of `buildid-list`.

use std::fmt::Write;

use oxperf_abi::BuildId;

use crate::visible::visible;

/// Writes a line for each binary, ordered by path.
pub fn write(out: &mut String, binaries: &[(BuildId, &str)]) {
    let mut binaries = binaries.to_vec();
    binaries.sort_by(|one, other| one.1.as_bytes().cmp(other.1.as_bytes()));
    for (build_id, path) in binaries {
        let _ = writeln!(out, "{build_id} {}", visible(path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_come_by_path() {
        let id = BuildId::new(&[0xab; 3]).unwrap();
        let mut out = String::new();
        write(&mut out, &[(id, "[vdso]"), (id, "/usr/bin/ls"), (id, "[kernel.kallsyms]")]);
        assert_eq!(out, "ababab /usr/bin/ls\nababab [kernel.kallsyms]\nababab [vdso]\n");
    }
}
