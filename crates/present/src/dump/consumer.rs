//! The command that reads a dump's recording.

/// The command that dumps; it takes no notice of a few of the tools' records, and the dump says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Consumer {
    /// `report -D`.
    Report,
    /// `script -D`.
    Script,
}

/// Said of a record that the command does nothing with.
pub(super) const UNHANDLED: &[u8] = b": unhandled!\n";
