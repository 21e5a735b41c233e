//! The names of events with neither point nor underline. Those of few events of tables are such, and those of all events
//! that every CPU counts: a list of them says that tables need not be read for most names.

use crate::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The file with the list, in a folder of imported tables.
pub(crate) const FILE: &str = "plain-names";

/// A list of more bytes than this is none.
const MAX_FILE: u64 = 1 << 20;

/// The members of objects that name an event, in all forms of tables.
const KEYS: [&str; 3] = ["EventName", "ArchStdEvent", "name"];

/// Returns whether a name has neither point nor underline.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.contains(['.', '_'])
}

/// Adds the plain names of events of a JSON file, in lower case.
pub(crate) fn collect(text: &str, names: &mut BTreeSet<String>) {
    let document = json::read(text);
    let objects = document.lists.iter().flat_map(|(_, objects)| objects);
    let named = objects.flat_map(|object| KEYS.iter().filter_map(|key| object.text(key)));
    names.extend(
        named
            .filter(|name| is_plain(name))
            .map(str::to_ascii_lowercase),
    );
}

/// The text of the file.
pub(crate) fn write(names: &BTreeSet<String>) -> String {
    names.iter().map(|name| format!("{name}\n")).collect()
}

/// The list of a folder; `None` where there is none, and every name may be that of an event.
pub(crate) fn read(folder: &Path) -> Option<BTreeSet<String>> {
    let path = folder.join(FILE);
    let is_list =
        fs::symlink_metadata(&path).is_ok_and(|file| file.is_file() && file.len() <= MAX_FILE);
    let text = is_list.then(|| fs::read_to_string(path).ok())??;
    Some(text.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_forms() {
        let mut names = BTreeSet::new();
        collect(
            r#"[{"EventName": "A.B"}, {"EventName": "Edir-Hit"}]"#,
            &mut names,
        );
        collect(
            r#"{"events": [{"name": "SWINC"}, {"name": "CPU_CYCLES"}]}"#,
            &mut names,
        );
        collect(
            r#"[{"ArchStdEvent": "stall"}, {"MetricName": "ipc"}]"#,
            &mut names,
        );
        assert_eq!(write(&names), "edir-hit\nstall\nswinc\n");
        assert_eq!(read(Path::new("/nowhere")), None);
    }
}
