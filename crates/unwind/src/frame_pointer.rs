//! The caller of a function that no table tells of: by its frame pointer, if it has one.

use crate::end::UnwindEnd;
use crate::registers::RegisterFile;

/// The caller's registers, if the frame pointer points to a frame above the stack pointer.
///
/// If the function has no frame pointer of its own, the register holds that of one of its callers, and those between
/// are missed; so does perf.
///
/// # Errors
/// There is no caller, which a frame pointer of 0 says; else `why`.
pub(crate) fn caller(
    registers: &RegisterFile,
    is_innermost: bool,
    why: UnwindEnd,
    read: impl Fn(u64) -> Option<u64>,
) -> Result<RegisterFile, UnwindEnd> {
    // A function of arm64 that calls nothing has its caller in a register.
    if let Some(link) = registers
        .arch
        .link()
        .and_then(|link| registers.get(link))
        .filter(|_| is_innermost)
    {
        let mut caller = *registers;
        caller.ip = registers.arch.plain_address(link);
        return if caller.ip == 0 {
            Err(UnwindEnd::Outermost)
        } else {
            Ok(caller)
        };
    }
    match registers.get(registers.arch.frame_pointer()) {
        Some(0) => Err(UnwindEnd::Outermost),
        Some(frame) => above(registers, frame, read).ok_or(why),
        None => Err(why),
    }
}

/// The caller by the two words at `frame`.
fn above(
    registers: &RegisterFile,
    frame: u64,
    read: impl Fn(u64) -> Option<u64>,
) -> Option<RegisterFile> {
    let arch = registers.arch;
    let word = u64::from(arch.address_size());
    let (outer, back) = (read(frame)?, read(frame.checked_add(word)?)?);
    let stack = frame.checked_add(2 * word)?;
    if back == 0
        || registers
            .stack_pointer()
            .is_some_and(|below| stack <= below)
    {
        return None;
    }
    let mut caller = RegisterFile::new(arch, arch.plain_address(back));
    caller.set(arch.frame_pointer(), outer);
    caller.set(arch.stack_pointer(), stack);
    if let Some(link) = arch.link() {
        caller.set(link, back);
    }
    Some(caller)
}
