//! What belongs to a later issue, told from the commands.

use super::case::{Case, Golden};

/// Texts with inlined functions; they also hold symbols of a libc6-dbg that is not here.
const INLINES: &str = "script-inline.txt.zst";

/// Returns the reason why this text is not compared yet, or `None` when it must be identical.
pub(super) fn later(_: &Case, golden: &Golden) -> Option<&'static str> {
    (golden.file == INLINES).then_some("inlined functions")
}
