//! Files that others may have put in the way: opened for reading without waiting, and made for writing so that they are
//! new and ours.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::errno::check;
use crate::process::effective_user;

/// Links that are followed before a path is given up, as in the kernel.
const MOST_LINKS: usize = 40;
/// Limit of attempts to clear a place that somebody else fills again and again.
const MOST_ATTEMPTS: usize = 8;

/// Returns whether a file of this user id is believed: root's, and those of who runs this process.
pub fn is_trusted_owner(owner: u32) -> bool {
    owner == 0 || owner == effective_user()
}

/// Opens a regular file for reading. A pipe or a device is refused, without waiting for its other end.
///
/// # Errors
/// The kernel's answer; `InvalidInput` for what is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    opened_regular(path, 0)
}

/// As [`open_regular`], but a link at the end of the path is not followed.
///
/// # Errors
/// As [`open_regular`]; the kernel's `ELOOP` for a link.
pub fn open_regular_itself(path: &Path) -> io::Result<File> {
    opened_regular(path, libc::O_NOFOLLOW)
}

fn opened_regular(path: &Path, flags: i32) -> io::Result<File> {
    // Opening a device may do something to it: looked at first, and again once it is open.
    let look = if flags == 0 {
        fs::metadata(path)
    } else {
        fs::symlink_metadata(path)
    };
    refuse_special(&look?)?;
    let flags = flags | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    refuse_special(&file.metadata()?)?;
    Ok(file)
}

fn refuse_special(found: &Metadata) -> io::Result<()> {
    // A link that is not to be followed is refused by the kernel.
    if found.is_file() || found.is_symlink() {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "not a regular file",
    ))
}

/// Makes a file for output, which its owner alone may read and write (mode 0600): what is made of a recording may say
/// where the kernel lies.
///
/// A regular file that is there goes, whoever made it, so that nobody keeps it open or keeps their owner and mode. Links
/// of others than root and the user are not followed; a device or a pipe of root or the user is written to.
///
/// # Errors
/// The kernel's answer; `PermissionDenied` for what somebody else put there.
pub fn create_output(path: &Path) -> io::Result<File> {
    let mut path = path.to_owned();
    let mut links = 0;
    for _ in 0..MOST_ATTEMPTS {
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
            Ok(found) if found.is_symlink() => {
                own(&found, &path)?;
                if is_magic(&path) {
                    return open_special(&path);
                }
                path = behind(&path)?;
                links += 1;
                if links > MOST_LINKS {
                    return Err(io::Error::from_raw_os_error(libc::ELOOP));
                }
                continue;
            }
            Ok(found) if found.is_file() => match fs::remove_file(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return reuse(&path, error);
                }
                Err(error) => return Err(error),
            },
            Ok(found) if found.is_dir() => return Err(io::Error::from_raw_os_error(libc::EISDIR)),
            Ok(found) => {
                own(&found, &path)?;
                return open_special(&path);
            }
        }
        let made = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made,
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        "somebody makes this file again and again",
    ))
}

/// The path to which a link leads.
fn behind(link: &Path) -> io::Result<PathBuf> {
    let target = fs::read_link(link)?;
    Ok(link.parent().unwrap_or(Path::new("")).join(target))
}

/// Returns whether a link stands for an open file of a process, as `/proc/self/fd/1`, behind `/dev/stdout`, does.
fn is_magic(link: &Path) -> bool {
    let folder = link
        .parent()
        .and_then(|folder| fs::canonicalize(folder).ok());
    folder.is_some_and(|folder| folder.starts_with("/proc"))
}

fn own(found: &Metadata, path: &Path) -> io::Result<()> {
    if is_trusted_owner(found.uid()) {
        Ok(())
    } else {
        Err(foreign(path, found.uid()))
    }
}

fn foreign(path: &Path, owner: u32) -> io::Error {
    let text = format!(
        "{} belongs to user {owner}: remove it, or name another place",
        path.display()
    );
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

/// Opens what is no regular file, or was open before, without cutting it.
fn open_special(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_NOCTTY)
        .open(path)?;
    let found = file.metadata()?;
    let is_device = found.file_type().is_char_device() || found.file_type().is_fifo();
    if is_device || is_trusted_owner(found.uid()) {
        Ok(file)
    } else {
        Err(foreign(path, found.uid()))
    }
}

/// Empties a file of the user's in a folder that may not be changed.
fn reuse(path: &Path, refused: io::Error) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || found.uid() != effective_user() || found.nlink() != 1 {
        return Err(refused);
    }
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    file.set_len(0)?;
    Ok(file)
}

/// Opens a descriptor that this process was given, by its number; writing to the file writes where the descriptor does.
///
/// # Errors
/// `EBADF` where there is no such descriptor.
pub fn of_descriptor(number: RawFd) -> io::Result<File> {
    // SAFETY: the call takes numbers only.
    let fd = check(unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 0) })?;
    // SAFETY: the kernel just returned this descriptor, so nobody else owns it.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(fd) }))
}

/// Makes the kernel write out all that it keeps in memory.
pub fn write_out() {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::sync() };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::symlink;

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("oxperf-files-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn an_output_is_a_new_file_of_its_owner_alone() {
        let folder = folder("new");
        let path = folder.join("x");
        fs::write(&path, "before").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        let before = File::open(&path).unwrap();
        create_output(&path).unwrap().write_all(b"new").unwrap();
        assert_eq!(
            (mode(&path), fs::read_to_string(&path).unwrap().as_str()),
            (0o600, "new")
        );
        assert_eq!(
            io::read_to_string(before).unwrap(),
            "before",
            "who had the old one open sees nothing new"
        );
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn own_links_are_followed_and_those_of_others_are_not() {
        let folder = folder("links");
        let (link, target) = (folder.join("link"), folder.join("target"));
        symlink("target", &link).unwrap();
        create_output(&link).unwrap().write_all(b"x").unwrap();
        assert_eq!(
            (mode(&target), fs::read(&target).unwrap()),
            (0o600, b"x".to_vec())
        );
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        symlink("round", folder.join("round")).unwrap();
        assert!(create_output(&folder.join("round")).is_err());
        assert!(create_output(&folder).is_err());
        if effective_user() == 0 {
            std::os::unix::fs::lchown(&link, Some(12345), None).unwrap();
            assert_eq!(
                create_output(&link).unwrap_err().kind(),
                io::ErrorKind::PermissionDenied
            );
            std::os::unix::fs::lchown(&target, Some(12345), None).unwrap();
            create_output(&target).unwrap();
            assert_eq!(fs::metadata(&target).unwrap().uid(), 0);
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn devices_take_output_and_give_no_files() {
        create_output(Path::new("/dev/null"))
            .unwrap()
            .write_all(b"x")
            .unwrap();
        assert!(open_regular(Path::new("/dev/null")).is_err());
        let folder = folder("devices");
        let file = File::create(folder.join("open")).unwrap();
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
        create_output(Path::new(&path))
            .unwrap()
            .write_all(b"x")
            .unwrap();
        assert_eq!(
            fs::read(folder.join("open")).unwrap(),
            b"x",
            "an open file stays the one that it is"
        );
        symlink("open", folder.join("link")).unwrap();
        assert!(open_regular(&folder.join("link")).is_ok());
        assert!(open_regular_itself(&folder.join("link")).is_err());
        assert!(open_regular_itself(&folder.join("open")).is_ok());
        fs::remove_dir_all(folder).unwrap();
    }
}
