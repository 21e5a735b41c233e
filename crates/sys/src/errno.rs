//! Error numbers of the kernel.

use std::{fmt, io};

/// An error number as a system call returned it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(pub i32);

impl Errno {
    /// The number of the calling thread's last failed call.
    pub(crate) fn last() -> Errno {
        Errno::of(&io::Error::last_os_error())
    }

    /// The number inside an I/O error; `EIO` for an error that did not come from the kernel.
    pub fn of(error: &io::Error) -> Errno {
        Errno(error.raw_os_error().unwrap_or(libc::EIO))
    }
}

impl From<Errno> for io::Error {
    fn from(errno: Errno) -> io::Error {
        io::Error::from_raw_os_error(errno.0)
    }
}

/// The C library's text for the number, as in `No such file or directory`.
impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = io::Error::from(*self).to_string();
        f.write_str(text.split(" (os error").next().unwrap_or(&text))
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Errno({}: {self})", self.0)
    }
}

/// Turns a C return value below zero into the error number it stands for.
pub(crate) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_the_c_librarys() {
        assert_eq!(Errno(libc::ENOENT).to_string(), "No such file or directory");
        assert_eq!(
            Errno::of(&io::Error::from_raw_os_error(13)),
            Errno(libc::EACCES)
        );
    }
}
