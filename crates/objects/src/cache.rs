//! perf's build-id cache: copies of binaries by identity.
//!
//! ```text
//! .build-id/ab/cdef.. -> ../../usr/bin/ls/abcdef..     a link for each identity
//! usr/bin/ls/abcdef../elf                              the binary (`vdso`, `kallsyms` for these)
//!                     debug                            its debug file
//!                     probes                           perf's list of its probes; we make an empty one
//!                     foreign                          ours: the file was neither root's nor the user's
//! ```
//!
//! Names come from recordings and links from archives: nothing outside of the cache is read or written through them. Whoever
//! makes a file chooses its build id, so that a recorder of the whole machine (root) meets files that claim to be another: a
//! file of somebody else than root and the user stands for the path alone that it was recorded under.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use oxperf_abi::BuildId;
use oxperf_sys::files::{create_output, is_trusted_owner, open_regular_itself};

use crate::probe_names::text_beside;

/// The folder of links.
const LINKS: &str = ".build-id";
/// The file with the probes of a binary.
pub(crate) const PROBES: &str = "probes";
/// Marks what belonged to somebody else.
const FOREIGN: &str = "foreign";

/// A cache below a folder.
#[derive(Clone, Debug)]
pub struct BuildIdCache {
    root: PathBuf,
}

/// The files of one identity in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cached {
    /// The identity.
    pub build_id: BuildId,
    /// The name it was recorded under: a path from `/`, or a name in brackets. Untrusted.
    pub name: String,
    /// The folder that holds the files.
    pub folder: PathBuf,
}

/// The kind of a file in the cache, which names it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheFile {
    /// A program, a library, a module.
    Elf,
    /// The kernel's list of symbols.
    Kallsyms,
    /// The kernel's page of user code.
    Vdso,
    /// A separate debug file.
    Debug,
}

impl CacheFile {
    /// All of them.
    pub const ALL: [CacheFile; 4] = [
        CacheFile::Elf,
        CacheFile::Kallsyms,
        CacheFile::Vdso,
        CacheFile::Debug,
    ];

    /// Its name in the cache.
    pub fn name(self) -> &'static str {
        match self {
            CacheFile::Elf => "elf",
            CacheFile::Kallsyms => "kallsyms",
            CacheFile::Vdso => "vdso",
            CacheFile::Debug => "debug",
        }
    }
}

impl BuildIdCache {
    /// The cache below `root`, which need not exist yet.
    pub fn new(root: PathBuf) -> BuildIdCache {
        BuildIdCache { root }
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of all copies of the memory of a kernel, each in a folder of its own.
    pub fn kernel_copies(&self, build_id: BuildId) -> PathBuf {
        self.root.join("[kernel.kcore]").join(build_id.to_string())
    }

    /// Everything in the cache, by identity. What leads out of it, or nowhere, is left out.
    pub fn entries(&self) -> Vec<Cached> {
        let ids = self.build_ids().into_iter();
        let mut entries: Vec<Cached> = ids.filter_map(|id| self.find(id)).collect();
        entries.sort_by_key(|entry| entry.build_id);
        entries
    }

    /// The entries beside whose binary there are names of probes.
    pub(crate) fn entries_with_probes(&self) -> Vec<Cached> {
        let has_names = |link: PathBuf| fs::metadata(link.join(PROBES)).is_ok_and(|f| f.len() > 0);
        let ids = self.build_ids().into_iter();
        // Most binaries have none: one look for each is enough, wherever its path leads.
        let ids = ids.filter(|id| self.link(*id).is_some_and(has_names));
        ids.filter_map(|id| self.find(id)).collect()
    }

    /// The identities that the names of links give.
    fn build_ids(&self) -> Vec<BuildId> {
        let links = self.root.join(LINKS);
        let mut ids = Vec::new();
        for head in names_in(&links) {
            let rests = names_in(&links.join(&head)).into_iter();
            ids.extend(rests.filter_map(|rest| parse_id(&format!("{head}{rest}"))));
        }
        ids
    }

    /// The files of an identity.
    pub fn find(&self, build_id: BuildId) -> Option<Cached> {
        let target = fs::read_link(self.link(build_id)?).ok()?;
        let below = target.strip_prefix("../..").ok()?;
        let folder = self.inside(below).ok()?;
        let name = below.parent()?;
        let name = match name.as_os_str().as_bytes() {
            bracketed if bracketed.starts_with(b"[") => {
                String::from_utf8_lossy(bracketed).into_owned()
            }
            path => format!("/{}", String::from_utf8_lossy(path)),
        };
        fs::symlink_metadata(&folder)
            .ok()?
            .is_dir()
            .then_some(Cached {
                build_id,
                name,
                folder,
            })
    }

    /// A file of an identity, for the binary that was recorded under `name`; never one that is a link to somewhere else.
    pub fn file(&self, name: &[u8], build_id: BuildId, kind: CacheFile) -> Option<PathBuf> {
        let entry = self.find(build_id)?;
        let is_foreign = fs::symlink_metadata(entry.folder.join(FOREIGN)).is_ok();
        if is_foreign && entry.name != String::from_utf8_lossy(name) {
            return None;
        }
        let path = entry.folder.join(kind.name());
        fs::symlink_metadata(&path).ok()?.is_file().then_some(path)
    }

    /// Puts a file into the cache, as the binary `name` of this identity; what is there already stays.
    ///
    /// # Errors
    /// The name leads out of the cache, or files cannot be written.
    pub fn add(
        &self,
        name: &[u8],
        build_id: BuildId,
        kind: CacheFile,
        source: &Path,
    ) -> io::Result<()> {
        let is_ours = is_trusted_owner(fs::metadata(source)?.uid());
        self.put(name, build_id, kind, |target| {
            if !is_ours && let Some(folder) = target.parent() {
                fs::File::options()
                    .create(true)
                    .append(true)
                    .open(folder.join(FOREIGN))?;
            }
            link_or_copy(source, target)
        })
    }

    /// Puts what `contents` gives into the cache.
    ///
    /// # Errors
    /// As [`BuildIdCache::add`].
    pub fn add_from(
        &self,
        name: &[u8],
        build_id: BuildId,
        kind: CacheFile,
        contents: &mut dyn io::Read,
    ) -> io::Result<()> {
        self.put(name, build_id, kind, |target| {
            // The kernel shows where it lies to root alone; who reads its list may have been root.
            let file = match kind {
                CacheFile::Kallsyms => create_output(target),
                _ => fs::File::create(target),
            };
            io::copy(contents, &mut file?).map(drop)
        })
    }

    fn put(
        &self,
        name: &[u8],
        build_id: BuildId,
        kind: CacheFile,
        write: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        let link = self.link(build_id).ok_or(ErrorKind::InvalidInput)?;
        let name = Path::new(OsStr::from_bytes(name));
        let below = name
            .strip_prefix("/")
            .unwrap_or(name)
            .join(build_id.to_string());
        let folder = self.inside(&below)?;
        fs::create_dir_all(&folder)?;
        let file = folder.join(kind.name());
        if fs::symlink_metadata(&file).is_err() {
            // Under its own name only when it is whole: others may read the cache meanwhile.
            let unfinished = folder.join(format!(".{}.{}", kind.name(), std::process::id()));
            write(&unfinished)
                .and_then(|()| fs::rename(&unfinished, &file))
                .inspect_err(|_| {
                    let _ = fs::remove_file(&unfinished);
                })?;
        }
        if kind == CacheFile::Elf {
            name_probes(&file, name, &folder.join(PROBES))?;
        }
        if let Some(parent) = link.parent() {
            fs::create_dir_all(parent)?;
        }
        match std::os::unix::fs::symlink(Path::new("../..").join(&below), &link) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            done => done,
        }
    }

    /// Removes an identity with its files; `false` if it is not there.
    ///
    /// # Errors
    /// Files cannot be removed.
    pub fn remove(&self, build_id: BuildId) -> io::Result<bool> {
        let Some(entry) = self.find(build_id) else {
            return Ok(false);
        };
        if let Some(link) = self.link(build_id) {
            fs::remove_file(link)?;
        }
        fs::remove_dir_all(&entry.folder)?;
        // Folders that are empty now go, too.
        let mut folder = entry.folder.parent();
        while let Some(empty) =
            folder.filter(|folder| *folder != self.root && fs::remove_dir(folder).is_ok())
        {
            folder = empty.parent();
        }
        Ok(true)
    }

    fn link(&self, build_id: BuildId) -> Option<PathBuf> {
        let text = build_id.to_string();
        let (head, rest) = text.split_at_checked(2)?;
        let folder = self.root.join(LINKS);
        let real = |path: &Path| !fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        let parent = folder.join(head);
        (!rest.is_empty() && real(&folder) && real(&parent)).then(|| parent.join(rest))
    }

    /// A path in the cache: without `..`, and through no link that stands there.
    fn inside(&self, below: &Path) -> io::Result<PathBuf> {
        let mut path = self.root.clone();
        for component in below.components() {
            let Component::Normal(name) = component else {
                return Err(io::Error::new(
                    ErrorKind::InvalidInput,
                    "the path leaves the cache",
                ));
            };
            path.push(name);
            if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
                return Err(io::Error::new(
                    ErrorKind::InvalidInput,
                    "a link leads out of the cache",
                ));
            }
        }
        Ok(path)
    }
}

/// A build id as hex digits.
pub fn parse_id(text: &str) -> Option<BuildId> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2)
        || digits.len() > 40
        || !digits.iter().all(u8::is_ascii_hexdigit)
    {
        return None;
    }
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    BuildId::new(&digits.chunks(2).map(byte).collect::<Option<Vec<u8>>>()?)
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

/// Writes the markers of a binary into the file beside it, unless something is there already.
fn name_probes(binary: &Path, name: &Path, probes: &Path) -> io::Result<()> {
    let is_there = |found: fs::Metadata| !found.is_file() || found.len() > 0;
    if fs::symlink_metadata(probes).is_ok_and(is_there) {
        return Ok(());
    }
    let text = text_beside(&fs::File::open(binary)?, &name.to_string_lossy());
    let unfinished = probes.with_file_name(format!(".{PROBES}.{}", std::process::id()));
    fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, probes))
}

/// Links the file under a second name where the file system allows it, else a copy. What others can write to is
/// copied.
fn link_or_copy(source: &Path, target: &Path) -> io::Result<()> {
    let source = fs::canonicalize(source)?;
    let mut file = open_regular_itself(&source)?;
    let found = file.metadata()?;
    if is_trusted_owner(found.uid()) && fs::hard_link(&source, target).is_ok() {
        return Ok(());
    }
    let mut copy = create_output(target)?;
    io::copy(&mut file, &mut copy)?;
    // What belongs to somebody else may be read-only; the copy is ours.
    copy.set_permissions(fs::Permissions::from_mode(found.mode() & 0o777 | 0o600))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(name: &str) -> BuildIdCache {
        let root = std::env::temp_dir().join(format!("oxperf-cache-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).expect("a folder for the test");
        BuildIdCache::new(root.join("cache"))
    }

    fn id(byte: u8) -> BuildId {
        BuildId::new(&[byte; 20]).expect("twenty bytes")
    }

    #[test]
    fn what_is_added_is_found_listed_and_removed() {
        let cache = fresh("round");
        cache
            .add_from(b"/usr/bin/x", id(0xab), CacheFile::Elf, &mut &b"code"[..])
            .unwrap();
        cache
            .add_from(
                b"[kernel.kallsyms]",
                id(1),
                CacheFile::Kallsyms,
                &mut &b"0 T _text"[..],
            )
            .unwrap();
        let names: Vec<String> = cache
            .entries()
            .into_iter()
            .map(|entry| entry.name)
            .collect();
        assert_eq!(names, ["[kernel.kallsyms]", "/usr/bin/x"]);
        let link = cache
            .root()
            .join(format!(".build-id/ab/{}", "ab".repeat(19)));
        assert_eq!(
            fs::read_link(link).unwrap(),
            Path::new(&format!("../../usr/bin/x/{}", "ab".repeat(20)))
        );
        assert_eq!(
            fs::read(cache.file(b"/usr/bin/x", id(0xab), CacheFile::Elf).unwrap()).unwrap(),
            b"code"
        );
        assert_eq!(cache.file(b"/usr/bin/x", id(0xab), CacheFile::Debug), None);
        assert!(cache.remove(id(0xab)).unwrap());
        assert!(!cache.remove(id(0xab)).unwrap());
        assert!(!cache.root().join("usr").exists(), "empty folders go");
    }

    #[test]
    fn a_list_of_kernel_symbols_is_for_its_owner_alone() {
        let cache = fresh("kallsyms");
        cache
            .add_from(
                b"[kernel.kallsyms]",
                id(1),
                CacheFile::Kallsyms,
                &mut &b"0 T _text"[..],
            )
            .unwrap();
        let file = cache
            .file(b"[kernel.kallsyms]", id(1), CacheFile::Kallsyms)
            .unwrap();
        assert_eq!(fs::metadata(file).unwrap().mode() & 0o777, 0o600);
    }

    /// Only root can meet a file of somebody else that it may link to.
    #[test]
    fn a_file_of_somebody_else_stands_for_its_own_path_alone() {
        let cache = fresh("foreign");
        let source = cache.root().parent().unwrap().join("claims");
        fs::write(&source, "code").unwrap();
        if std::os::unix::fs::chown(&source, Some(12345), None).is_err() {
            return;
        }
        cache
            .add(b"/home/m/x", id(5), CacheFile::Elf, &source)
            .unwrap();
        let file = cache
            .file(b"/home/m/x", id(5), CacheFile::Elf)
            .expect("recorded so");
        assert_eq!(cache.file(b"/lib/libc.so.6", id(5), CacheFile::Elf), None);
        fs::write(&source, "changed").unwrap();
        assert_eq!(
            fs::read(&file).unwrap(),
            b"code",
            "a copy, which its owner cannot change"
        );
        assert_eq!(fs::metadata(file).unwrap().uid(), 0);
    }

    #[test]
    fn nothing_is_written_outside() {
        let cache = fresh("outside");
        let outside = cache.root().parent().unwrap().join("outside");
        fs::create_dir_all(&outside).unwrap();
        for name in ["/../outside/x", "../outside/x", "/a/../../outside"] {
            assert!(
                cache
                    .add_from(name.as_bytes(), id(2), CacheFile::Elf, &mut &b"x"[..])
                    .is_err(),
                "{name}"
            );
        }
        fs::create_dir_all(cache.root()).unwrap();
        std::os::unix::fs::symlink(&outside, cache.root().join("usr")).unwrap();
        assert!(
            cache
                .add_from(b"/usr/x", id(2), CacheFile::Elf, &mut &b"x"[..])
                .is_err()
        );
        std::os::unix::fs::symlink(&outside, cache.root().join(".build-id")).unwrap();
        assert!(
            cache
                .add_from(b"/bin/x", id(2), CacheFile::Elf, &mut &b"x"[..])
                .is_err()
        );
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }

    #[test]
    fn links_that_lead_out_are_not_followed() {
        let cache = fresh("hostile");
        let secret = cache.root().parent().unwrap().join("secret");
        fs::create_dir_all(&secret).unwrap();
        fs::write(secret.join("elf"), "secret").unwrap();
        let folder = cache.root().join(".build-id/03");
        fs::create_dir_all(&folder).unwrap();
        let rest = "03".repeat(19);
        for target in [
            "../../../secret",
            secret.to_str().unwrap(),
            "../../a/../../secret",
        ] {
            let _ = fs::remove_file(folder.join(&rest));
            std::os::unix::fs::symlink(target, folder.join(&rest)).unwrap();
            assert_eq!(cache.find(id(3)), None, "{target}");
            assert_eq!(
                cache.file(b"/bin/x", id(3), CacheFile::Elf),
                None,
                "{target}"
            );
            assert!(!cache.remove(id(3)).unwrap());
        }
        cache
            .add_from(b"/bin/y", id(4), CacheFile::Vdso, &mut &b"y"[..])
            .unwrap();
        let inner = cache.find(id(4)).unwrap().folder.join("elf");
        std::os::unix::fs::symlink(secret.join("elf"), inner).unwrap();
        assert_eq!(
            cache.file(b"/bin/y", id(4), CacheFile::Elf),
            None,
            "a file that is a link"
        );
        assert_eq!(fs::read(secret.join("elf")).unwrap(), b"secret");
    }

    #[test]
    fn identities_are_hex_digits() {
        assert_eq!(
            parse_id("abcd").map(|id| id.to_string()),
            Some("abcd".to_owned())
        );
        for text in ["", "abc", "zz", &"ab".repeat(21)] {
            assert_eq!(parse_id(text), None, "{text}");
        }
    }
}
