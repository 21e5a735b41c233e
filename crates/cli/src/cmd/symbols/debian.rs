//! Which Debian package has the debug files of a binary.

use std::fs;
use std::path::Path;

/// Lists of the files of all packages, one a file.
const LISTS: &str = "/var/lib/dpkg/info";

/// What to install for a file of this machine; `None` if no package has it.
pub(super) fn debug_package(path: &Path) -> Option<String> {
    let package = owner(path)?;
    let debug = if package == "libc6" {
        "libc6-dbg".to_owned()
    } else {
        format!("{package}-dbgsym")
    };
    Some(format!("apt-get install {debug}"))
}

/// The package that has a file. Lists may name it by the place it had before /usr was merged.
fn owner(path: &Path) -> Option<String> {
    let path = path.to_str()?;
    let names = [Some(path), path.strip_prefix("/usr")];
    let lists = fs::read_dir(LISTS)
        .ok()?
        .flatten()
        .map(|entry| entry.path());
    lists
        .filter(|list| list.extension().is_some_and(|end| end == "list"))
        .find_map(|list| {
            let text = fs::read_to_string(&list).ok()?;
            let has = text.lines().any(|line| names.contains(&Some(line)));
            let stem = list.file_stem()?.to_str()?;
            has.then(|| stem.split(':').next().unwrap_or(stem).to_owned())
        })
}
