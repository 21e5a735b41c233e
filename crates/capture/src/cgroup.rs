//! Control groups: where they are mounted, which there are, and those that are counted.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folders below folders that are looked at; the kernel has a limit of its own, too.
const DEEPEST: usize = 64;

/// A control group whose tasks are counted.
#[derive(Clone, Debug)]
pub struct CountedCgroup {
    name: Arc<str>,
    directory: Arc<File>,
}

impl CountedCgroup {
    /// Its name: the path below the root, as the user wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its open folder.
    pub fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

/// Groups of one name are one.
impl PartialEq for CountedCgroup {
    fn eq(&self, other: &CountedCgroup) -> bool {
        self.name == other.name
    }
}

/// The control groups that events can be counted in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CgroupTree {
    root: PathBuf,
}

impl CgroupTree {
    /// Those of a system with the given mounts (`/proc/mounts`): version 1 where it has events, else version 2.
    pub fn of_mounts(mounts: &str) -> Option<CgroupTree> {
        let mounts = || mounts.lines().filter_map(Mount::parse);
        let has_events = |mount: &Mount<'_>| {
            mount.kind == "cgroup"
                && mount
                    .options
                    .split(',')
                    .any(|option| option == "perf_event")
        };
        let found = mounts().find(has_events);
        let found = found.or_else(|| mounts().find(|mount| mount.kind == "cgroup2"))?;
        Some(CgroupTree {
            root: PathBuf::from(unescaped(found.path)),
        })
    }

    /// Opens a group by its name.
    ///
    /// # Errors
    /// There is none of the name, or it cannot be opened.
    pub fn open(&self, name: &str) -> io::Result<CountedCgroup> {
        let file = File::open(self.path(name))?;
        if !file.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(CountedCgroup {
            name: name.into(),
            directory: Arc::new(file),
        })
    }

    /// The folder of a group.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name.trim_start_matches('/'))
    }

    /// The names of all groups: each before those in it, in their order. The root has no name.
    pub fn names(&self) -> Vec<String> {
        let mut names = vec![String::new()];
        push_names(&self.root, "", DEEPEST, &mut names);
        names
    }
}

fn push_names(folder: &Path, name: &str, deepest: usize, names: &mut Vec<String>) {
    let Some(deepest) = deepest.checked_sub(1) else {
        return;
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut inner: Vec<String> = folders
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    inner.sort();
    for own in inner {
        let path = folder.join(&own);
        let name = if name.is_empty() {
            own
        } else {
            format!("{name}/{own}")
        };
        names.push(name.clone());
        push_names(&path, &name, deepest, names);
    }
}

/// A line of `/proc/mounts`.
struct Mount<'a> {
    path: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl Mount<'_> {
    fn parse(line: &str) -> Option<Mount<'_>> {
        let mut fields = line.split(' ').skip(1);
        Some(Mount {
            path: fields.next()?,
            kind: fields.next()?,
            options: fields.next()?,
        })
    }
}

/// A path whose blanks the kernel wrote as octal numbers.
fn unescaped(path: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .iter()
    .fold(path.to_owned(), |path, (code, text)| {
        path.replace(code, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_1_is_taken_where_it_has_events() {
        let root = |mounts: &str| CgroupTree::of_mounts(mounts).map(|tree| tree.root);
        let v1 = "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
                  cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n\
                  cgroup /a\\040b cgroup rw,perf_event 0 0\n";
        assert_eq!(root(v1), Some("/a b".into()));
        let v2 = v1.replace(",perf_event", ",perf_events");
        assert_eq!(root(&v2), Some("/sys/fs/cgroup/unified".into()));
        assert_eq!(root("proc /proc proc rw 0 0\nx\n"), None);
    }

    #[test]
    fn groups_stand_before_those_in_them() {
        let root = std::env::temp_dir().join(format!("oxperf-cgroups-{}", std::process::id()));
        for folder in ["b/x", "a", "b/c/d"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::fs::write(root.join("cgroup.procs"), "").unwrap();
        std::os::unix::fs::symlink(&root, root.join("a/loop")).unwrap();
        let tree = CgroupTree { root: root.clone() };
        assert_eq!(tree.names(), ["", "a", "b", "b/c", "b/c/d", "b/x"]);
        assert_eq!(tree.open("/b/x").unwrap().name(), "/b/x");
        assert!(tree.open("c").is_err() && tree.open("cgroup.procs").is_err());
        std::fs::remove_dir_all(root).unwrap();
    }
}
