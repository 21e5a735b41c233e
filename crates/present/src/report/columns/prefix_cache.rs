//! The first cells of rows, kept as one text. Most rows weigh next to nothing, and there are few names of threads and objects: so
//! nearly every row begins with a text that another one has begun with.

/// Most cells that are kept together.
pub(super) const CELLS: usize = 4;
/// Number of texts that are kept, as a power of two.
pub(super) const SLOT_BITS: u32 = 8;

/// The values that the text of each cell depends on, beside its column.
pub(super) type Marks = [u64; CELLS];

/// Texts of first cells.
#[derive(Default)]
pub(super) struct PrefixCache {
    slots: Vec<Prefix>,
}

/// The text of first cells.
#[derive(Clone, Default)]
pub(super) struct Prefix {
    /// The values that the text depends on.
    pub(super) marks: Marks,
    /// Empty where none is kept.
    pub(super) text: Vec<u8>,
}

impl PrefixCache {
    /// The only place of a text.
    pub(super) fn slot(&mut self, marks: &Marks) -> &mut Prefix {
        self.slots.resize_with(1 << SLOT_BITS, Prefix::default);
        let mix = |mixed: u64, mark: &u64| {
            (mixed.rotate_left(5) ^ mark).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        &mut self.slots[(marks.iter().fold(0, mix) >> (u64::BITS - SLOT_BITS)) as usize]
    }
}
