//! The program, its arguments and its environment, laid out before the fork.

use super::{SpawnError, WorkloadSpec};
use std::ffi::{CStr, CString, NulError, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::ptr;

/// Everything the child needs, laid out before the fork so that it need not allocate.
pub(super) struct Image {
    /// Paths to try, in order.
    candidates: Vec<CString>,
    arguments: Vec<CString>,
    environment: Vec<CString>,
}

/// The shell that runs a file without a format of its own, as `execvp` does it.
pub(super) const SHELL: &CStr = c"/bin/sh";

/// The image as the kernel wants it: arrays of pointers that end with a null pointer.
pub(super) struct ImagePointers {
    pub(super) candidates: Vec<*const libc::c_char>,
    pub(super) arguments: Vec<*const libc::c_char>,
    pub(super) environment: Vec<*const libc::c_char>,
    /// The shell's name, a place for the script's path, and the script's arguments.
    pub(super) shell_arguments: Vec<*const libc::c_char>,
}

impl Image {
    pub(super) fn prepare(spec: &WorkloadSpec<'_>) -> Result<Image, SpawnError> {
        let program = spec
            .arguments
            .first()
            .filter(|name| !name.is_empty())
            .ok_or(SpawnError::Empty)?;
        let variable = |(name, value): &(OsString, OsString)| {
            CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())
        };
        Ok(Image {
            candidates: candidates(program, spec.search_path)?,
            arguments: spec
                .arguments
                .iter()
                .map(|text| CString::new(text.as_bytes()))
                .collect::<Result<_, _>>()?,
            environment: spec
                .environment
                .iter()
                .map(variable)
                .collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn pointers(&self) -> ImagePointers {
        let terminated = |texts: &[CString]| {
            texts
                .iter()
                .map(|text| text.as_ptr())
                .chain([ptr::null()])
                .collect::<Vec<_>>()
        };
        let arguments = terminated(&self.arguments);
        let script_arguments = arguments.iter().skip(1).copied();
        ImagePointers {
            candidates: terminated(&self.candidates),
            environment: terminated(&self.environment),
            shell_arguments: [SHELL.as_ptr(), ptr::null()]
                .into_iter()
                .chain(script_arguments)
                .collect(),
            arguments,
        }
    }
}

/// The paths at which a program may be: itself if it has a slash, else one in each directory of the search path
/// (an empty directory is the current one).
fn candidates(program: &OsStr, search_path: Option<&OsStr>) -> Result<Vec<CString>, NulError> {
    const DEFAULT_PATH: &[u8] = b"/bin:/usr/bin";
    let name = program.as_bytes();
    if name.contains(&b'/') {
        return Ok(vec![CString::new(name)?]);
    }
    let directories = search_path
        .map_or(DEFAULT_PATH, OsStrExt::as_bytes)
        .split(|byte| *byte == b':');
    let join = |directory: &[u8]| match directory {
        b"" => CString::new(name),
        directory => CString::new([directory, b"/", name].concat()),
    };
    directories.map(join).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_follow_the_search_path() {
        let paths = candidates(OsStr::new("ls"), Some(OsStr::new("/a::/b"))).unwrap();
        assert_eq!(
            paths,
            [c"/a/ls".to_owned(), c"ls".to_owned(), c"/b/ls".to_owned()]
        );
        assert_eq!(
            candidates(OsStr::new("./ls"), None).unwrap(),
            [c"./ls".to_owned()]
        );
    }
}
