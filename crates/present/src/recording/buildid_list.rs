//! The text of `buildid-list`.

use std::fmt::Write;

use oxperf_abi::BuildId;

use crate::text::sanitize;

/// Writes a line for each binary, ordered by path; one without an identity has blanks in its place.
pub fn write(out: &mut String, binaries: &[(Option<BuildId>, &str)]) {
    let mut binaries = binaries.to_vec();
    binaries.sort_by(|one, other| one.1.as_bytes().cmp(other.1.as_bytes()));
    for (build_id, path) in binaries {
        let build_id = build_id.map_or_else(String::new, |id| id.to_string());
        let _ = writeln!(out, "{build_id:40} {}", sanitize(path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_come_by_path() {
        let id = BuildId::new(&[0xab; 20]);
        let mut out = String::new();
        write(
            &mut out,
            &[
                (None, "[vdso]"),
                (id, "/usr/bin/ls"),
                (id, "[kernel.kallsyms]"),
            ],
        );
        let hex = "ab".repeat(20);
        let blanks = " ".repeat(40);
        assert_eq!(
            out,
            format!("{hex} /usr/bin/ls\n{hex} [kernel.kallsyms]\n{blanks} [vdso]\n")
        );
    }
}
