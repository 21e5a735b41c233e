//! Statistics of the kinds of branches, below all tables.

use std::io::{self, Write};

use oxperf_profile::Profile;

use crate::text::branch_text::name_of_kind;

/// Writes the share of each kind among the branches that have one; nothing where the recording has no kinds.
pub fn branch_kinds(out: &mut dyn Write, profile: &Profile) -> io::Result<()> {
    let found = &profile.branch_kinds;
    let total = found.total();
    if total == 0 {
        return Ok(());
    }
    out.write_all(b"\n#\n# Branch Statistics:\n#")?;
    let ways = [
        ("COND_FWD", found.forward),
        ("COND_BWD", found.backward),
        ("CROSS_4K", found.crossed_4k),
        ("CROSS_2M", found.crossed_2m),
    ];
    let kinds = found
        .kinds
        .iter()
        .enumerate()
        .map(|(kind, count)| (name_of_kind(kind), *count));
    for (name, count) in ways
        .into_iter()
        .chain(kinds)
        .filter(|(_, count)| *count > 0)
    {
        write!(
            out,
            "\n{name:>8}: {:>5.1}%",
            count as f64 * 100.0 / total as f64
        )?;
    }
    Ok(())
}
