//! Errata: processors that write other packets than the manual says, and what the decoder makes of them.
//!
//! The names are those of Intel's specification updates. Errata that are not here need nothing: what they write is read
//! the same way on every processor (BDM70, SKL014, APL11, APL12), or is lost (SKL168, SKZ84).

/// The errors of a processor's trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Errata {
    /// The FUP before an interrupt may name the instruction behind the next one (Goldmont).
    pub fup_with_next_ip: bool,
    /// BDM64: where a branch leads into the abort of a transaction, the trace may give a wrong outcome for it.
    pub branch_before_abort: bool,
    /// SKD007: an overflow may cut a CYC packet of several bytes off, so that the two bytes of the OVF packet go on with
    /// it and look like the end of that CYC packet and another one.
    pub overflow_in_cyc: bool,
    /// SKD022: a VM entry that switches tracing off may come with the FUP packet of an interrupt before it.
    pub fup_of_vm_entry: bool,
}

impl Errata {
    /// The errata of one of Intel's processors, as CPUID numbers it.
    pub const fn of(family: u32, model: u32) -> Errata {
        let intel6 = family == 6;
        Errata {
            fup_with_next_ip: intel6 && model == GOLDMONT,
            branch_before_abort: intel6 && is_broadwell(model),
            overflow_in_cyc: intel6 && is_skylake(model),
            fup_of_vm_entry: enters_guests_with_fup(family, model),
        }
    }
}

const GOLDMONT: u32 = 0x5c;

const fn is_broadwell(model: u32) -> bool {
    matches!(model, 0x3d | 0x47 | 0x4f | 0x56)
}

/// The family of cores that shares most errata: Skylake, Kaby, Coffee and Comet Lake.
const fn is_skylake(model: u32) -> bool {
    matches!(model, 0x4e | 0x5e | 0x8e | 0x9e | 0xa5 | 0xa6)
}

const fn enters_guests_with_fup(family: u32, model: u32) -> bool {
    match family {
        6 => {
            is_skylake(model)
                || matches!(
                    model,
                    0x55 | 0x66 | 0x6a | 0x6c | 0x7d | 0x7e | 0x8c | 0x8d | 0x8f
                )
                || matches!(model, 0x97 | 0x9a | 0xa7 | 0xa8 | 0xaa | 0xac | 0xad | 0xae)
                || matches!(
                    model,
                    0xb5 | 0xb7 | 0xba | 0xbd | 0xbf | 0xc5 | 0xc6 | 0xcc | 0xcf | 0xd5
                )
        }
        18 => matches!(model, 1 | 3),
        19 => model == 1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_have_their_own() {
        assert_eq!(Errata::of(6, 0x3c), Errata::default());
        assert!(
            Errata::of(6, 0x4f).branch_before_abort && !Errata::of(6, 0x5e).branch_before_abort
        );
        assert!(Errata::of(6, 0x5c).fup_with_next_ip && !Errata::of(6, 0x5f).fup_with_next_ip);
        assert!(Errata::of(6, 0x9e).overflow_in_cyc && Errata::of(6, 0x9e).fup_of_vm_entry);
        assert!(Errata::of(6, 0x8f).fup_of_vm_entry && !Errata::of(6, 0x8f).overflow_in_cyc);
        assert!(!Errata::of(25, 0x4e).fup_of_vm_entry);
    }
}
