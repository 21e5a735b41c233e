//! Texts of the browser.

/// The keys.
pub(crate) const HELP: &str = "\
Moving
  Up Down PageUp PageDown Home End   Go to a line
  < >                                Move long lines sideways
  Tab, Shift-Tab                     Next, previous event

Call chains
  +                                  Open or close the line, one level
  e                                  Open all of the row, or close it
  E, C                               Open, close all rows

What is shown
  Enter, Right, m                    Menu for the line
  a                                  Code of the function, with what it cost
  d, t, k, S                         Zoom into the object, the thread, the kernel, the socket
  Escape, Left                       Zoom out
  /                                  Functions with a text in their names
  L                                  Percent limit
  o                                  Tell rows apart by other keys
  n                                  Count what functions called, or not
  F                                  Percentages of what is left, or of all samples
  V                                  Objects of calls, or not
  0 to 9                             Order a group by one of its events
  H                                  Names of columns

Beside
  r                                  Single samples, programs that read them
  s                                  Another recording in this folder
  i                                  Header of the recording
  P                                  Write what is seen to perf.hist.N
  ?, h                               This help
  q, Ctrl-C                          End
";

/// The lowest line when there is no message.
pub(crate) const HINT: &str = "Press '?' for help on key bindings";
/// The lowest line of a menu.
pub(crate) const MENU_HINT: &str = "ESC: leave, ENTER: choose";
/// The lowest line of a dialog.
pub(crate) const DIALOG_HINT: &str = "ENTER: OK, ESC: cancel";
/// The lowest line of a text.
pub(crate) const PAGER_HINT: &str =
    "ESC: back, arrows and pages: move, /: find, n: next, H: hottest line";
