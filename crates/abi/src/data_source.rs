//! The word that says where a memory access found its data.

/// A data-source word: bit fields in little-endian order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct DataSource(pub u64);

impl DataSource {
    const fn field(self, low: u32, width: u32) -> u8 {
        (self.0 >> low & ((1 << width) - 1)) as u8
    }

    /// The word of an access about which nothing is known.
    pub const NOTHING_KNOWN: DataSource = DataSource(1 | 1 << 5 | 1 << 19 | 1 << 24 | 1 << 26);

    /// The operation, a bit each: 0 nothing that is known, 1 load, 2 store, 3 prefetch, 4 instruction fetch.
    pub const fn operations(self) -> u8 {
        self.field(0, 5)
    }

    /// Returns whether the data were at the level.
    pub const fn hit(self) -> bool {
        self.field(6, 1) == 1
    }

    /// Returns whether they were looked for there in vain.
    pub const fn missed(self) -> bool {
        self.field(7, 1) == 1
    }

    /// The levels of the older coding, a bit each: L1, fill buffer, L2, L3, local memory, remote memory one and two
    /// hops away, remote cache one and two hops away, device, uncached memory.
    pub const fn levels(self) -> u16 {
        (self.0 >> 8 & 0x7ff) as u16
    }

    /// Everything that the older coding says of levels: not known, hit, miss, and [`DataSource::levels`].
    pub const fn level_bits(self) -> u16 {
        (self.0 >> 5 & 0x3fff) as u16
    }

    /// The level of the newer coding; 0 when it is not used, 15 when nothing is known.
    pub const fn level_number(self) -> u8 {
        self.field(33, 4)
    }

    /// Returns whether the level of the newer coding is another node's.
    pub const fn remote(self) -> bool {
        self.field(37, 1) == 1
    }

    /// The distance of the level: 0 unsaid, 1 another core, 2 node, 3 socket, 4 board.
    pub const fn hops(self) -> u8 {
        self.field(43, 3)
    }

    /// The result of asking other caches, a bit each: not known, none asked, hit, miss, hit of changed data, then
    /// forwarded, peer.
    pub const fn snoops(self) -> u8 {
        self.field(19, 5) | self.field(38, 2) << 5
    }

    /// The result of asking other caches, without the last two.
    pub const fn plain_snoops(self) -> u8 {
        self.field(19, 5)
    }

    /// Atomicity of the access: a bit for "not known", one for "yes".
    pub const fn locks(self) -> u8 {
        self.field(24, 2)
    }

    /// The address translation, a bit each: not known, hit, miss, L1, L2, page walker, the kernel.
    pub const fn translations(self) -> u8 {
        self.field(26, 7)
    }

    /// Reasons why a load waited for a store, a bit each: not known, its data, its address.
    pub const fn blocks(self) -> u8 {
        self.field(40, 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lie_where_the_kernel_puts_them() {
        let word = DataSource(0x118_6810_0242);
        assert_eq!(
            (word.operations(), word.hit(), word.missed()),
            (2, true, false)
        );
        assert_eq!(
            (word.levels(), word.level_number(), word.remote()),
            (2, 12, false)
        );
        assert_eq!(
            (
                word.snoops(),
                word.locks(),
                word.translations(),
                word.blocks()
            ),
            (2, 0, 0b1_1010, 1)
        );
    }
}
