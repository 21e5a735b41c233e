//! Frames of functions by the unwind tables that stand beside debug information.

use std::borrow::Cow;

use gimli::{
    BaseAddresses, CfaRule, DebugFrame, EndianSlice, LittleEndian, UnwindContext, UnwindSection,
};
use oxperf_objects::Elf;

/// The table of frames of one object.
///
/// `.debug_frame` alone is read, as perf reads it: most programs have their tables elsewhere, and where variables are held
/// in the frame is not looked for then.
#[derive(Debug)]
pub(super) struct Frames<'d>(Cow<'d, [u8]>);

impl<'d> Frames<'d> {
    /// The table in a file; empty where there is none.
    pub(super) fn read(contents: &'d [u8]) -> Frames<'d> {
        let table = Elf::parse(contents)
            .ok()
            .and_then(|elf| elf.unpacked(".debug_frame"));
        Frames(table.unwrap_or_default())
    }

    /// The stack pointer before the call, while the code at an address runs, as a register and what is to be added.
    pub(super) fn call_frame(&self, address: u64) -> Option<(u16, i64)> {
        if self.0.is_empty() {
            return None;
        }
        let mut frames = DebugFrame::from(EndianSlice::new(&self.0, LittleEndian));
        frames.set_address_size(8);
        let (bases, mut context) = (BaseAddresses::default(), UnwindContext::new());
        let find = DebugFrame::cie_from_offset;
        let row = frames
            .unwind_info_for_address(&bases, &mut context, address, find)
            .ok()?;
        match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => Some((register.0, *offset)),
            CfaRule::Expression(_) => None,
        }
    }
}
