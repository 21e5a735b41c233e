//! Folders that files may lie in, and the paths that follow from a recorded name.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use oxperf_abi::BuildId;
use oxperf_sys::files::is_trusted_owner;

use crate::cache::BuildIdCache;
use crate::contents::Contents;
use crate::debuginfod::Debuginfod;
use crate::elf::{AlternateLink, DebugLink};
use crate::error::Rejection;
use crate::object_query::{ObjectKind, ObjectQuery};
use crate::origin::{DebugFileOrigin, ObjectOrigin};

mod modules;
mod unreadable;

/// The mark that the kernel appends to the path of a file that is mapped and was deleted.
const DELETED: &[u8] = b" (deleted)";

/// The places that are searched. The default is this machine's root with its debug files, and no build-id cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPaths {
    /// A folder that holds the recorded machine's files under their recorded paths (`--symfs`). When it is set,
    /// nothing outside of it is used but this machine's debug information of a recorded build id.
    pub root: Option<PathBuf>,
    /// True if the files lie in `root` itself under their bare names (`--symfs DIR,flat`).
    pub flat: bool,
    /// perf's build-id cache, usually `~/.debug`. Not used together with `root`, as in perf.
    pub build_id_cache: Option<PathBuf>,
    /// The folder of separate debug files, below `root`.
    pub debug_files: PathBuf,
    /// True if the `[vdso]` of this very process may stand for a recorded one: when their build ids are the same, or
    /// when none was recorded and no root is set. Switch it off for a recording from another machine.
    pub own_vdso: bool,
    /// Servers that are asked for what is in no other place; none unless the user says so.
    pub debuginfod: Option<Debuginfod>,
    /// True if what programs wrote of their own code is believed whoever it belongs to (`-f`).
    pub any_owner: bool,
}

impl Default for SearchPaths {
    fn default() -> SearchPaths {
        SearchPaths {
            root: None,
            flat: false,
            build_id_cache: None,
            debug_files: PathBuf::from("/usr/lib/debug"),
            own_vdso: true,
            debuginfod: None,
            any_owner: false,
        }
    }
}

/// Links that are followed before a path is given up, as in the kernel.
const MOST_LINKS: usize = 40;

impl SearchPaths {
    /// The recorded path as it stands below the root. Links on the way are followed as if the root were that of the
    /// machine: an absolute one begins there.
    ///
    /// # Errors
    /// [`Rejection::OutsideRoot`] for a path with `..` in it, or a link that climbs out, when a root is set.
    pub fn recorded(&self, path: &[u8]) -> Result<PathBuf, Rejection> {
        let path = Path::new(OsStr::from_bytes(path));
        match &self.root {
            None => Ok(path.to_owned()),
            Some(root) if self.flat => below(
                root,
                Path::new(path.file_name().ok_or(Rejection::OutsideRoot)?),
            ),
            Some(root) => below(root, path),
        }
    }

    /// Further paths of a binary, if its build id is known to prove it: without the mark of a file that was deleted,
    /// as another one may have come in its place; in the root of a process in a container; as the program that a
    /// process runs; where its name reads so, but holds bytes that are no text. A kernel module among all that are
    /// installed.
    pub(crate) fn elsewhere(&self, wanted: &ObjectQuery<'_>) -> Vec<(ObjectOrigin, PathBuf)> {
        if wanted.build_id.is_some() && wanted.kind == ObjectKind::KernelModule {
            let root = self.root.as_deref().unwrap_or(Path::new("/"));
            return modules::named(root, wanted.path)
                .map(|path| (ObjectOrigin::RecordedPath, path))
                .collect();
        }
        if wanted.build_id.is_none()
            || wanted.kind != ObjectKind::User
            || !wanted.path.starts_with(b"/")
        {
            return Vec::new();
        }
        let kept = wanted.path.strip_suffix(DELETED);
        let renamed = kept
            .and_then(|path| self.recorded(path).ok())
            .map(|path| (ObjectOrigin::RecordedPath, path));
        let process = wanted
            .process
            .filter(|_| self.root.is_none())
            .map(|pid| format!("/proc/{pid}"));
        let seen = process.iter().flat_map(|process| {
            let inside = below(
                &Path::new(process).join("root"),
                Path::new(OsStr::from_bytes(kept.unwrap_or(wanted.path))),
            );
            inside
                .ok()
                .into_iter()
                .chain([Path::new(process).join("exe")])
        });
        let told = self.recorded(kept.unwrap_or(wanted.path)).ok();
        let unreadable = told.iter().flat_map(|path| unreadable::reading_like(path));
        renamed
            .into_iter()
            .chain(seen.map(|path| (ObjectOrigin::LiveProcess, path)))
            .chain(unreadable.map(|path| (ObjectOrigin::RecordedPath, path)))
            .collect()
    }

    /// perf's cache; none while a root is set.
    pub fn cache(&self) -> Option<BuildIdCache> {
        self.build_id_cache
            .as_ref()
            .filter(|_| self.root.is_none())
            .cloned()
            .map(BuildIdCache::new)
    }

    /// Opens, by one of the ways of [`Contents`], what a program wrote of code that it made at run time. Anybody can make
    /// such a file under the name of any process: that of others than root, the user, and the owner of the process that it is
    /// named by, while that lives, is not believed. What lies below a root is, as the user chose that.
    ///
    /// # Errors
    /// [`Rejection::ForeignOwner`], and those of opening.
    pub fn open_written_by_program(
        &self,
        path: &Path,
        open: impl FnOnce(&Path) -> Result<Contents, Rejection>,
    ) -> Result<Contents, Rejection> {
        let chosen = self
            .root
            .as_ref()
            .is_some_and(|root| path.starts_with(root));
        let is_of_process =
            |owner| process_of(path).is_some_and(|process| owner_of(process) == Some(owner));
        let believed = |owner: u32| match self.any_owner
            || chosen
            || is_trusted_owner(owner)
            || is_of_process(owner)
        {
            true => Ok(()),
            false => Err(Rejection::ForeignOwner { owner }),
        };
        // A link of somebody else may lead to a file of root's.
        if let Ok(found) = fs::symlink_metadata(path) {
            believed(found.uid())?;
        }
        let contents = open(path)?;
        contents
            .version()
            .map_or(Ok(()), |version| believed(version.owner))?;
        Ok(contents)
    }

    /// Paths of the names of code that a process made at run time, of which `path` is the usual place
    /// (`/tmp/perf-PID.map`), the preferred first.
    pub fn perf_maps(&self, path: &Path) -> Vec<PathBuf> {
        let below_root = self
            .root
            .as_ref()
            .and_then(|_| self.recorded(path.as_os_str().as_bytes()).ok());
        below_root
            .into_iter()
            .chain([path.to_owned()])
            .chain(in_container(path))
            .collect()
    }

    /// Separate debug files for an object, the preferred first: debug link, then path, then build id.
    pub fn debug_files(
        &self,
        path: &[u8],
        id: Option<BuildId>,
        link: Option<DebugLink<'_>>,
    ) -> Vec<(DebugFileOrigin, PathBuf)> {
        let path = Path::new(OsStr::from_bytes(path));
        let folder = path.parent().unwrap_or(Path::new("/"));
        let mut found = Vec::new();
        if let Some(name) = link.map(|link| OsStr::from_bytes(link.name)) {
            found.push((DebugFileOrigin::Link, folder.join(name)));
            found.push((DebugFileOrigin::Link, folder.join(".debug").join(name)));
            found.push((DebugFileOrigin::Link, self.debug_of(&folder.join(name))));
        }
        let mut with_suffix = path.as_os_str().to_owned();
        with_suffix.push(".debug");
        found.push((
            DebugFileOrigin::WithSuffix,
            self.debug_of(Path::new(&with_suffix)),
        ));
        found.push((DebugFileOrigin::SamePath, self.debug_of(path)));
        found.extend(id.and_then(|id| Some((DebugFileOrigin::BuildId, self.debug_by_id(id)?))));
        let here = |(place, file): &(DebugFileOrigin, PathBuf)| {
            Some((*place, self.recorded(file.as_os_str().as_bytes()).ok()?))
        };
        found.iter().filter_map(here).collect()
    }

    /// Paths of the common debug information of `referrer` and others: at the path of its link, and by build id.
    pub fn alternates(
        &self,
        referrer: &Path,
        link: AlternateLink<'_>,
    ) -> Vec<(DebugFileOrigin, PathBuf)> {
        let path = Path::new(OsStr::from_bytes(link.path));
        let beside = || plain(&referrer.parent().unwrap_or(Path::new("/")).join(path));
        let named = if path.is_absolute() {
            self.recorded(link.path).ok()
        } else {
            self.inside(beside())
        };
        let by_id = self
            .debug_by_id(link.build_id)
            .and_then(|path| self.recorded(path.as_os_str().as_bytes()).ok());
        let named = named.map(|path| (DebugFileOrigin::Link, path));
        named
            .into_iter()
            .chain(by_id.map(|path| (DebugFileOrigin::BuildId, path)))
            .collect()
    }

    /// The path, unless a root is set and it lies outside of it.
    fn inside(&self, path: PathBuf) -> Option<PathBuf> {
        let Some(root) = &self.root else {
            return Some(path);
        };
        below(root, path.strip_prefix(plain(root)).ok()?).ok()
    }

    fn debug_of(&self, path: &Path) -> PathBuf {
        self.debug_files
            .join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The separate debug file of a build id on this machine, where a root is set: a build id is the same everywhere.
    pub(crate) fn debug_of_this_machine(&self, id: BuildId) -> Option<PathBuf> {
        self.root.as_ref().and_then(|_| self.debug_by_id(id))
    }

    fn debug_by_id(&self, id: BuildId) -> Option<PathBuf> {
        let (folder, rest) = split_id(id)?;
        Some(
            self.debug_files
                .join(".build-id")
                .join(folder)
                .join(format!("{rest}.debug")),
        )
    }
}

/// A path without `..`, as far as its words tell.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir if plain.file_name().is_some() => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// The process that a map or log of code is named by: that of a container's file is the one whose root it lies in.
fn process_of(path: &Path) -> Option<u32> {
    if let Ok(below) = path.strip_prefix("/proc") {
        return below.iter().next()?.to_str()?.parse().ok();
    }
    let name = path.file_name()?.to_str()?;
    let map = name
        .strip_prefix("perf-")
        .and_then(|rest| rest.strip_suffix(".map"));
    map.or_else(|| name.strip_prefix("jit-")?.strip_suffix(".dump"))?
        .parse()
        .ok()
}

/// The owner of a process that lives.
fn owner_of(process: u32) -> Option<u32> {
    Some(fs::metadata(format!("/proc/{process}")).ok()?.uid())
}

/// The place of a process' map file as the process sees it, while it runs: its `/tmp`, its own number.
fn in_container(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let pid: u32 = name
        .strip_prefix("perf-")?
        .strip_suffix(".map")?
        .parse()
        .ok()?;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let numbers = status
        .lines()
        .find_map(|line| line.strip_prefix("NStgid:"))?;
    let own: u32 = numbers.split_whitespace().last()?.parse().ok()?;
    Some(PathBuf::from(format!(
        "/proc/{pid}/root/tmp/perf-{own}.map"
    )))
}

/// Joins a path to a root so that neither it nor a link on its way can climb out of it.
fn below(root: &Path, path: &Path) -> Result<PathBuf, Rejection> {
    if path.components().any(|part| part == Component::ParentDir) {
        return Err(Rejection::OutsideRoot);
    }
    let mut names: VecDeque<OsString> = names_of(path).collect();
    let (mut at, mut depth, mut links) = (root.to_owned(), 0usize, 0);
    while let Some(name) = names.pop_front() {
        if name == ".." {
            depth = depth.checked_sub(1).ok_or(Rejection::OutsideRoot)?;
            at.pop();
            continue;
        }
        at.push(name);
        depth += 1;
        let Ok(target) = fs::read_link(&at) else {
            continue;
        };
        links += 1;
        if links > MOST_LINKS {
            return Err(Rejection::OutsideRoot);
        }
        at.pop();
        depth -= 1;
        if target.is_absolute() {
            (at, depth) = (root.to_owned(), 0);
        }
        // One that names the root itself, as a tree that was made at its place has them, means the same.
        let target = target.strip_prefix(root).unwrap_or(&target);
        names_of(target)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .for_each(|name| names.push_front(name));
    }
    Ok(at)
}

/// The names of a path, `..` among them.
fn names_of(path: &Path) -> impl Iterator<Item = OsString> {
    let kept = path
        .components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    kept.map(|part| part.as_os_str().to_owned())
}

/// `ab`, `cdef..`: the two halves of a build id's path.
fn split_id(id: BuildId) -> Option<(String, String)> {
    let text = id.to_string();
    let (folder, rest) = text.split_at_checked(2)?;
    (!rest.is_empty()).then(|| (folder.to_owned(), rest.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rooted() -> SearchPaths {
        SearchPaths {
            root: Some(PathBuf::from("/fs")),
            ..SearchPaths::default()
        }
    }

    #[test]
    fn a_recorded_path_stays_below_the_root() {
        assert_eq!(
            rooted().recorded(b"/usr/bin/x"),
            Ok(PathBuf::from("/fs/usr/bin/x"))
        );
        assert_eq!(
            rooted().recorded(b"//etc/./x"),
            Ok(PathBuf::from("/fs/etc/x"))
        );
        assert_eq!(
            rooted().recorded(b"/../etc/shadow"),
            Err(Rejection::OutsideRoot)
        );
        assert_eq!(
            rooted().recorded(b"/a/../../b"),
            Err(Rejection::OutsideRoot)
        );
    }

    #[test]
    fn links_stay_below_the_root() {
        let top = std::env::temp_dir().join(format!("oxperf-below-{}", std::process::id()));
        let _ = fs::remove_dir_all(&top);
        let root = top.join("root");
        fs::create_dir_all(root.join("usr/lib")).unwrap();
        fs::write(top.join("secret"), "secret").unwrap();
        let link = |at: &str, to: &str| std::os::unix::fs::symlink(to, root.join(at)).unwrap();
        link("lib", "/usr/lib");
        link("lib64", "usr/lib");
        link("usr/own", root.join("usr/lib").to_str().unwrap());
        link("out", "../secret");
        link("usr/far", "../../secret");
        link("absolute", top.join("secret").to_str().unwrap());
        link("round", "round");
        let places = SearchPaths {
            root: Some(root.clone()),
            ..SearchPaths::default()
        };
        for path in ["/lib/x", "/lib64/x", "/usr/own/x", "/usr/lib/x"] {
            assert_eq!(
                places.recorded(path.as_bytes()),
                Ok(root.join("usr/lib/x")),
                "{path}"
            );
        }
        for path in ["/out", "/usr/far", "/round"] {
            assert_eq!(
                places.recorded(path.as_bytes()),
                Err(Rejection::OutsideRoot),
                "{path}"
            );
        }
        assert!(
            !places.recorded(b"/absolute").unwrap().exists(),
            "an absolute link begins at the root"
        );
        let flat = SearchPaths {
            flat: true,
            ..places
        };
        assert_eq!(flat.recorded(b"/any/out"), Err(Rejection::OutsideRoot));
        fs::remove_dir_all(top).unwrap();
    }

    #[test]
    fn what_others_wrote_of_code_is_not_believed() {
        use std::os::unix::process::CommandExt;
        let folder = std::env::temp_dir().join(format!("oxperf-believed-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        // Process 1 is root's, and 0 is none.
        let (map, link) = (folder.join("perf-1.map"), folder.join("perf-0.map"));
        fs::write(&map, "1000 10 f\n").unwrap();
        std::os::unix::fs::symlink(&map, &link).unwrap();
        let opens = |places: &SearchPaths, path: &Path| {
            places
                .open_written_by_program(path, Contents::read)
                .map(|contents| contents.len())
        };
        let usual = SearchPaths::default();
        assert_eq!(
            (opens(&usual, &map), opens(&usual, &link)),
            (Ok(10), Ok(10))
        );
        assert_eq!(opens(&usual, &folder), Err(Rejection::NotAFile));
        assert_eq!(
            opens(&usual, Path::new("/dev/null")),
            Err(Rejection::NotAFile)
        );
        // Only root can give files away.
        if oxperf_sys::process::effective_user() == 0 {
            let owner = 12345;
            std::os::unix::fs::lchown(&link, Some(owner), None).unwrap();
            assert_eq!(opens(&usual, &link), Err(Rejection::ForeignOwner { owner }));
            std::os::unix::fs::chown(&map, Some(owner), None).unwrap();
            assert_eq!(opens(&usual, &map), Err(Rejection::ForeignOwner { owner }));
            let mut process = std::process::Command::new("sleep")
                .arg("60")
                .uid(owner)
                .spawn()
                .unwrap();
            let own = folder.join(format!("jit-{}.dump", process.id()));
            fs::write(&own, "x").unwrap();
            std::os::unix::fs::chown(&own, Some(owner), None).unwrap();
            assert_eq!(
                opens(&usual, &own),
                Ok(1),
                "the owner of the process that it is named by"
            );
            process.kill().unwrap();
            process.wait().unwrap();
            assert_eq!(opens(&usual, &own), Err(Rejection::ForeignOwner { owner }));
            assert_eq!(
                opens(
                    &SearchPaths {
                        any_owner: true,
                        ..SearchPaths::default()
                    },
                    &map
                ),
                Ok(10)
            );
            assert_eq!(
                opens(
                    &SearchPaths {
                        root: Some(folder.clone()),
                        ..SearchPaths::default()
                    },
                    &map
                ),
                Ok(10)
            );
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn common_debug_information_lies_below_the_root() {
        let build_id = BuildId::new(&[0xab, 0xcd, 0xef]).expect("three bytes");
        let at = |path| {
            let found =
                rooted().alternates(Path::new("/fs/a/b/x"), AlternateLink { path, build_id });
            found.into_iter().map(|(_, path)| path).collect::<Vec<_>>()
        };
        let by_id = PathBuf::from("/fs/usr/lib/debug/.build-id/ab/cdef.debug");
        assert_eq!(at(b"../c/y"), [PathBuf::from("/fs/a/c/y"), by_id.clone()]);
        assert_eq!(at(b"../../../etc/y"), std::slice::from_ref(&by_id));
        assert_eq!(at(b"/d/y"), [PathBuf::from("/fs/d/y"), by_id]);
    }

    #[test]
    fn a_flat_root_holds_bare_names() {
        let places = SearchPaths {
            flat: true,
            ..rooted()
        };
        assert_eq!(places.recorded(b"/usr/bin/x"), Ok(PathBuf::from("/fs/x")));
        assert_eq!(places.recorded(b"/usr/.."), Err(Rejection::OutsideRoot));
    }

    #[test]
    fn the_cache_is_left_alone_when_a_root_is_given() {
        let cache = Some(PathBuf::from("/home/u/.debug"));
        let places = SearchPaths {
            build_id_cache: cache.clone(),
            ..SearchPaths::default()
        };
        assert!(places.cache().is_some());
        assert!(
            SearchPaths {
                build_id_cache: cache,
                ..rooted()
            }
            .cache()
            .is_none()
        );
    }

    #[test]
    fn debug_files_are_tried_from_the_nearest_to_the_farthest() {
        let id = BuildId::new(&[0xab, 0xcd, 0xef]);
        let link = Some(DebugLink {
            name: b"x.dbg",
            crc: 0,
        });
        let files = rooted().debug_files(b"/usr/bin/x", id, link);
        let expected = [
            (DebugFileOrigin::Link, "/fs/usr/bin/x.dbg"),
            (DebugFileOrigin::Link, "/fs/usr/bin/.debug/x.dbg"),
            (DebugFileOrigin::Link, "/fs/usr/lib/debug/usr/bin/x.dbg"),
            (
                DebugFileOrigin::WithSuffix,
                "/fs/usr/lib/debug/usr/bin/x.debug",
            ),
            (DebugFileOrigin::SamePath, "/fs/usr/lib/debug/usr/bin/x"),
            (
                DebugFileOrigin::BuildId,
                "/fs/usr/lib/debug/.build-id/ab/cdef.debug",
            ),
        ];
        assert_eq!(
            files,
            expected.map(|(place, path)| (place, PathBuf::from(path)))
        );
    }
}
