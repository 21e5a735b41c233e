//! What the environment says: the only place that asks it.

use std::path::PathBuf;

/// perf's build-id cache, `~/.debug`.
pub(crate) fn build_id_cache() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty())?;
    Some(PathBuf::from(home).join(".debug"))
}
