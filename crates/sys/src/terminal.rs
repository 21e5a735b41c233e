//! Properties of a terminal.

use std::os::fd::{AsFd, AsRawFd};

/// Cells in a line of the terminal behind a file; `None` when it is no terminal or reports none.
pub fn width(file: impl AsFd) -> Option<usize> {
    size(file).map(|size| size.columns)
}

/// The size of a terminal in cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TerminalSize {
    /// Cells in a line.
    pub columns: usize,
    /// Lines.
    pub lines: usize,
}

/// The size of the terminal behind a file; `None` when it is no terminal or reports none.
pub fn size(file: impl AsFd) -> Option<TerminalSize> {
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: the descriptor is open for as long as `file` is borrowed, and TIOCGWINSZ writes one winsize.
    let result = unsafe { libc::ioctl(file.as_fd().as_raw_fd(), libc::TIOCGWINSZ, &mut size) };
    (result == 0 && size.ws_col > 0).then_some(TerminalSize {
        columns: usize::from(size.ws_col),
        lines: usize::from(size.ws_row),
    })
}
