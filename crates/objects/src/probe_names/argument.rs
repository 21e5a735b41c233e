//! Arguments of markers, from the notation of the assembler for x86 to that of the kernel's probes.

/// The longest name of a register, without `%`.
const LONGEST: usize = 5;

/// `-4@-8(%rbp)` as `-8(%bp):s32`; `None` for what no probe of the kernel can read: constants, symbols, sums of registers.
pub(super) fn kernel_argument(argument: &str) -> Option<String> {
    let (size, operand) = match argument.split_once('@') {
        Some((size, operand)) => (Some(size), operand),
        None => (None, argument),
    };
    let suffix = size.map_or(Some(""), suffix)?;
    Some(format!("{}{suffix}", place(operand)?))
}

/// The kernel's type for a size of bytes, which is negative where there is a sign; nothing for a size that it has no type
/// for, and `None` for one that no register has.
fn suffix(size: &str) -> Option<&'static str> {
    let (is_signed, digits) = match size.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, size),
    };
    // Behind the number stands `f` for a number with a fraction.
    let digits = digits.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    Some(match (digits.parse().unwrap_or(0_u32), is_signed) {
        (1, false) => ":u8",
        (1, true) => ":s8",
        (2, false) => ":u16",
        (2, true) => ":s16",
        (4, false) => ":u32",
        (4, true) => ":s32",
        (8, false) => ":u64",
        (8, true) => ":s64",
        (0..=8, _) => "",
        _ => return None,
    })
}

/// A register, or the memory that one points to: `%ax`, `+16(%sp)`.
fn place(operand: &str) -> Option<String> {
    let Some((distance, base)) = operand.split_once('(') else {
        return register(operand);
    };
    let (sign, distance) = match distance.as_bytes().first() {
        Some(b'-') => ("-", &distance[1..]),
        Some(b'+') => ("+", &distance[1..]),
        _ => ("+", distance),
    };
    if !distance.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let distance = if distance.is_empty() { "0" } else { distance };
    let base = register(base.strip_suffix(')')?)?;
    Some(format!("{sign}{distance}({base})"))
}

/// The kernel's name of a register, whatever part of it is meant.
fn register(text: &str) -> Option<String> {
    let name = text.strip_prefix('%')?;
    let is_name = name.len() <= LONGEST
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    is_name.then(|| format!("%{}", whole_register(name)))
}

fn whole_register(name: &str) -> &str {
    match name {
        "rax" | "eax" | "al" | "ah" => "ax",
        "rbx" | "ebx" | "bl" | "bh" => "bx",
        "rcx" | "ecx" | "cl" | "ch" => "cx",
        "rdx" | "edx" | "dl" | "dh" => "dx",
        "rsi" | "esi" | "sil" => "si",
        "rdi" | "edi" | "dil" => "di",
        "rbp" | "ebp" | "bpl" => "bp",
        "rsp" | "esp" | "spl" => "sp",
        _ => match name.strip_suffix(['d', 'w', 'b']) {
            Some(numbered) if is_numbered(numbered) => numbered,
            _ => name,
        },
    }
}

/// `r8` to `r15`.
fn is_numbered(name: &str) -> bool {
    let number = name.strip_prefix('r').and_then(|text| text.parse().ok());
    number.is_some_and(|number: u32| (8..=15).contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As perf 7.2 wrote them for a binary with these arguments.
    #[test]
    fn as_perf_writes_them() {
        for (argument, written) in [
            ("8@%rdx", Some("%dx:u64")),
            ("-4@%eax", Some("%ax:s32")),
            ("1@%ah", Some("%ax:u8")),
            ("-2@%r8w", Some("%r8:s16")),
            ("1@%sil", Some("%si:u8")),
            ("8@%r15", Some("%r15:u64")),
            ("8@%r16", Some("%r16:u64")),
            ("8@-8(%rbp)", Some("-8(%bp):u64")),
            ("8@16(%rsp)", Some("+16(%sp):u64")),
            ("4@(%rax)", Some("+0(%ax):u32")),
            ("8@-0(%r9)", Some("-0(%r9):u64")),
            ("8@+8(%rdi)", Some("+8(%di):u64")),
            ("8f@%xmm0", Some("%xmm0:u64")),
            ("%rax", Some("%ax")),
            ("3@%rax", Some("%ax")),
            ("@%rax", Some("%ax")),
            ("8@%rip", Some("%rip:u64")),
            ("-4@$5", None),
            ("8@", None),
            ("8@%nosuch", None),
            ("8@%RAX", None),
            ("8@gvar(%rip)", None),
            ("8@gvar", None),
            ("4@8(%rax,%rbx,4)", None),
            ("8@0x10(%rdi)", None),
            ("8@%fs:40", None),
            ("8@()", None),
            ("8@(%rax", None),
        ] {
            assert_eq!(kernel_argument(argument).as_deref(), written, "{argument}");
        }
        assert_eq!(kernel_argument("16@%xmm0"), None);
    }
}
