//! The instruction pointer of TIP, TIP.PGE, TIP.PGD and FUP packets, compressed against the last one.

/// The part of the address that a packet carries (the IPBytes field).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum IpCompression {
    /// No address: it is out of context.
    Suppressed = 0,
    /// The low 16 bits; the rest is the last address's.
    Update16 = 1,
    /// The low 32 bits; the rest is the last address's.
    Update32 = 2,
    /// 48 bits, to be sign-extended.
    Sext48 = 3,
    /// The low 48 bits; the rest is the last address's.
    Update48 = 4,
    /// All 64 bits.
    Full = 6,
}

impl IpCompression {
    /// The compression with this number in a packet's header; 5 and 7 are reserved.
    #[inline]
    pub const fn from_bits(bits: u8) -> Option<IpCompression> {
        Some(match bits {
            0 => IpCompression::Suppressed,
            1 => IpCompression::Update16,
            2 => IpCompression::Update32,
            3 => IpCompression::Sext48,
            4 => IpCompression::Update48,
            6 => IpCompression::Full,
            _ => return None,
        })
    }

    /// Bytes of payload, from 0 to 8.
    #[inline]
    pub const fn bytes(self) -> usize {
        const BYTES: [u8; 8] = [0, 2, 4, 6, 6, 0, 8, 0];
        BYTES[self as usize] as usize
    }

    /// The bits of the payload that mean something.
    #[inline]
    const fn mask(self) -> u64 {
        const LOW_48: u64 = u64::MAX >> 16;
        const MASKS: [u64; 8] = [0, 0xffff, 0xffff_ffff, LOW_48, LOW_48, 0, u64::MAX, 0];
        MASKS[self as usize]
    }
}

/// A compressed instruction pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ip {
    compression: IpCompression,
    payload: u64,
}

impl Ip {
    /// No address.
    pub const SUPPRESSED: Ip = Ip {
        compression: IpCompression::Suppressed,
        payload: 0,
    };

    /// An address with this compression, of which only the bits that it carries are kept.
    #[inline]
    pub const fn new(compression: IpCompression, address: u64) -> Ip {
        Ip {
            compression,
            payload: address & compression.mask(),
        }
    }

    /// The part of the address that is there.
    #[inline]
    pub const fn compression(self) -> IpCompression {
        self.compression
    }

    /// The bits of the packet as they are, not extended.
    #[inline]
    pub const fn payload(self) -> u64 {
        self.payload
    }

    /// True if the address needs no other one before it.
    #[inline]
    pub const fn is_complete(self) -> bool {
        matches!(
            self.compression,
            IpCompression::Sext48 | IpCompression::Full
        )
    }

    /// The address, given the one before it (0 at a PSB); `None` if the packet carries none, and then the address
    /// before it stays the last one.
    #[inline]
    pub const fn resolve(self, last: u64) -> Option<u64> {
        let payload = self.payload();
        Some(match self.compression {
            IpCompression::Suppressed => return None,
            IpCompression::Sext48 => (payload << 16)
                .cast_signed()
                .wrapping_shr(16)
                .cast_unsigned(),
            other => last & !other.mask() | payload,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_grows_from_the_last_one() {
        let last = 0x0a00_cccc_dddd_eeee;
        let resolve = |compression, payload| Ip::new(compression, payload).resolve(last);
        assert_eq!(resolve(IpCompression::Suppressed, 1), None);
        assert_eq!(
            resolve(IpCompression::Update16, 0x1_1234),
            Some(0x0a00_cccc_dddd_1234)
        );
        assert_eq!(
            resolve(IpCompression::Update32, 0x1234_5678),
            Some(0x0a00_cccc_1234_5678)
        );
        assert_eq!(
            resolve(IpCompression::Update48, 0xffff_eeee_ffff),
            Some(0x0a00_ffff_eeee_ffff)
        );
        assert_eq!(
            resolve(IpCompression::Sext48, 0xffff_dddd_eeee),
            Some(0xffff_ffff_dddd_eeee)
        );
        assert_eq!(
            resolve(IpCompression::Sext48, 0x7fff_dddd_eeee),
            Some(0x7fff_dddd_eeee)
        );
        assert_eq!(resolve(IpCompression::Full, u64::MAX), Some(u64::MAX));
    }
}
