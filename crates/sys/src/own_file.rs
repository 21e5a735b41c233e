//! Opening a file to write that this user alone owns, in folders that others can write to.
//!
//! Where everybody may make files, as in `/tmp`, somebody else can make the file beforehand and keep it readable, or
//! put a link there that leads to a file of ours. Neither is written to.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::process;

/// Opens `path` for reading and writing, empty, with mode 0600 where it is new.
///
/// - A regular file of this user under this one name is kept and emptied; any other regular file is removed and made
///   new.
/// - A symbolic link of this user or of root is followed; any other is removed.
/// - Devices and pipes are opened as they are.
///
/// # Errors
/// The kernel's answer; `PermissionDenied` where a link that may be followed leads to another user's file.
pub fn create_own(path: &Path) -> io::Result<File> {
    let before = match fs::symlink_metadata(path) {
        Ok(before) => before,
        Err(error) if error.kind() == ErrorKind::NotFound => return create_new(path),
        Err(error) => return Err(error),
    };
    let us = process::effective_user();
    if before.is_symlink() && (before.uid() == us || before.uid() == 0) {
        return open_through_link(path, us);
    }
    if before.is_symlink() || (before.is_file() && !is_own(&before, us)) {
        fs::remove_file(path)?;
        return create_new(path);
    }
    let file = writable(&before).custom_flags(libc::O_NOFOLLOW).open(path)?;
    emptied(file, us)
}

/// Makes a file that was not there, whatever appears meanwhile.
fn create_new(path: &Path) -> io::Result<File> {
    private().read(true).create_new(true).open(path)
}

fn open_through_link(path: &Path, us: u32) -> io::Result<File> {
    match fs::metadata(path) {
        Ok(target) => emptied(writable(&target).open(path)?, us),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            emptied(private().read(true).create(true).truncate(false).open(path)?, us)
        }
        Err(error) => Err(error),
    }
}

/// How to open what is there: a pipe that is opened to read, too, would not wait for its reader.
fn writable(before: &Metadata) -> OpenOptions {
    let mut options = private();
    options.read(before.is_file());
    options
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

/// The file without its bytes, once it is known whose it is.
fn emptied(file: File, us: u32) -> io::Result<File> {
    let found = file.metadata()?;
    if !found.is_file() {
        return Ok(file);
    }
    if !is_own(&found, us) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    file.set_len(0)?;
    Ok(file)
}

/// A file with a second name may be one that somebody else linked here.
fn is_own(file: &Metadata, us: u32) -> bool {
    file.uid() == us && file.nlink() == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
    use std::path::PathBuf;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("oxperf-own-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn file(&self, name: &str, text: &str) -> PathBuf {
            let path = self.0.join(name);
            fs::write(&path, text).unwrap();
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn write(path: &Path) -> fs::Metadata {
        create_own(path).unwrap().write_all(b"secret").unwrap();
        assert_eq!(fs::read(path).unwrap(), b"secret");
        fs::metadata(path).unwrap()
    }

    #[test]
    fn new_files_are_private_and_own_ones_stay_what_they_are() {
        let folder = Folder::new("own");
        assert_eq!(write(&folder.0.join("new")).permissions().mode() & 0o777, 0o600);
        let own = folder.file("own", "longer than what comes");
        let before = fs::metadata(&own).unwrap();
        assert_eq!(write(&own).ino(), before.ino());
        symlink(&own, folder.0.join("link")).unwrap();
        assert_eq!(write(&folder.0.join("link")).ino(), before.ino());
        symlink(folder.0.join("absent"), folder.0.join("dangling")).unwrap();
        write(&folder.0.join("dangling"));
        assert!(folder.0.join("absent").exists());
        assert!(create_own(Path::new("/dev/null")).is_ok());
        assert!(create_own(&folder.0).is_err());
    }

    #[test]
    fn a_file_under_two_names_is_made_new() {
        let folder = Folder::new("linked");
        let own = folder.file("own", "kept");
        fs::hard_link(&own, folder.0.join("second")).unwrap();
        write(&folder.0.join("second"));
        assert_eq!(fs::read(&own).unwrap(), b"kept");
    }

    #[test]
    fn what_others_put_there_is_not_written_to() {
        if process::effective_user() != 0 {
            #[allow(clippy::print_stderr)]
            {
                eprintln!("SKIPPED: only root can make files of others");
            }
            return;
        }
        const OTHER: Option<u32> = Some(65534);
        let folder = Folder::new("others");
        let own = folder.file("own", "kept");
        let planted = folder.0.join("link");
        symlink(&own, &planted).unwrap();
        lchown(&planted, OTHER, None).unwrap();
        write(&planted);
        assert_eq!(fs::read(&own).unwrap(), b"kept");
        let foreign = folder.file("foreign", "");
        fs::set_permissions(&foreign, fs::Permissions::from_mode(0o666)).unwrap();
        chown(&foreign, OTHER, None).unwrap();
        let made = write(&foreign);
        assert_eq!((made.uid(), made.permissions().mode() & 0o777), (0, 0o600));
        let theirs = folder.file("theirs", "kept");
        chown(&theirs, OTHER, None).unwrap();
        symlink(&theirs, folder.0.join("ours")).unwrap();
        let refused = create_own(&folder.0.join("ours")).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
        assert_eq!(fs::read(&theirs).unwrap(), b"kept");
    }
}
