//! Code of recorded programs: read from the files that were mapped.

use oxperf_itrace::{CodeBytes, Images};
use oxperf_present::script::{FieldSet, FieldSpec};

use crate::view::AddressContext;

/// Fields that show the code between the last branches.
pub const BRANCH_CODE: [FieldSet; 3] = [
    FieldSet::BRSTACKINSN,
    FieldSet::BRSTACKINSNLEN,
    FieldSet::BRSTACKDISASM,
];

/// Fields that show a sample's own instruction.
const OWN: [FieldSet; 3] = [FieldSet::INSN, FieldSet::INSNLEN, FieldSet::DISASM];

/// Whether the instruction of any event's samples is shown.
pub fn shows_instructions(spec: &FieldSpec) -> bool {
    OWN.iter().any(|field| spec.any_has(*field))
}

/// Whether the code between the last branches of any event's samples is shown.
pub fn shows_branch_code(spec: &FieldSpec) -> bool {
    BRANCH_CODE.iter().any(|field| spec.any_has(*field))
}

/// Reads code where it is asked for, of a processor whose instructions are known.
#[derive(Debug, Default)]
pub struct CodeReader {
    images: Option<Images>,
    /// The most blocks of a sample that are shown.
    pub max_blocks: Option<usize>,
}

impl CodeReader {
    /// Reads from `images`; nothing without them.
    pub fn new(images: Option<Images>, max_blocks: Option<usize>) -> CodeReader {
        CodeReader { images, max_blocks }
    }

    /// At most `length` bytes of code from an address on.
    pub fn read(&mut self, context: AddressContext<'_>, address: u64, length: usize) -> CodeBytes {
        let images = self.images.as_mut();
        images.map_or_else(CodeBytes::default, |images| {
            images.read(context.machine, context.thread, address, length)
        })
    }
}
