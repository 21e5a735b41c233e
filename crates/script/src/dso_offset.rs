//! The place in the object behind its name.

use oxperf_machine::{DsoKind, Objects};
use oxperf_present::script::FieldSet;
use oxperf_present::text::number::push_hex;
use oxperf_resolve::DsoAddress;

/// `true` where addresses are shown by their distance from the object's start: not in the kernel, as in perf.
fn has_offsets(kind: DsoKind) -> bool {
    !matches!(
        kind,
        DsoKind::Kernel
            | DsoKind::Module
            | DsoKind::GuestKernel(_)
            | DsoKind::GuestModule(_)
            | DsoKind::KernelSymbol
    )
}

/// Puts the place in the object into the brackets around its name, which were written last, where it is asked for.
#[inline]
pub(crate) fn push_dso_offset(
    fields: FieldSet,
    place: DsoAddress,
    objects: &Objects,
    out: &mut Vec<u8>,
) {
    if fields.contains(FieldSet::DSO | FieldSet::DSOFF)
        && has_offsets(objects.dso(place.dso).kind)
        && out.last() == Some(&b')')
    {
        out.pop();
        out.extend_from_slice(b"+0x");
        push_hex(out, place.address, 1);
        out.push(b')');
    }
}
