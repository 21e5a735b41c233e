//! The text of an instruction in its parts, and the short form of it: names in the place of addresses, jumps within the
//! function by their distance from its beginning.

use std::ops::Range;

/// An instruction as a disassembler writes it: `jne    401010 <main+0x10>`, `mov    0x2e(%rip),%rax        # 402000 <var>`.
pub(super) struct Parts<'a> {
    /// The mnemonic, or the prefix that stands before it.
    pub(super) name: &'a str,
    /// The operands with what is said of them.
    rest: &'a str,
}

/// The meaning of an instruction's last operand, or the comment behind it.
#[derive(Clone, Copy)]
struct Target<'a> {
    /// The operands before it.
    before: &'a str,
    address: u64,
    /// The name of the address, with any characters that C++ has in names.
    name: &'a str,
}

impl Target<'_> {
    /// True for a comment that gives the address of an operand relative to the instruction, and is no operand itself.
    fn is_comment(&self) -> bool {
        self.before.trim_end().ends_with('#')
    }
}

/// The target of an instruction, in the middle of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrow {
    /// It only goes on.
    None,
    /// Down the listing.
    Down,
    /// Up, or to itself.
    Up,
    /// Out of the function, to come back or not.
    Out,
    /// Back to the caller.
    Back,
}

impl Arrow {
    pub(super) const fn text(self) -> &'static str {
        match self {
            Arrow::None => "  ",
            Arrow::Down => "↓ ",
            Arrow::Up => "↑ ",
            Arrow::Out => "→ ",
            Arrow::Back => "← ",
        }
    }
}

/// The name of the function at an address of code, if it is known.
pub(super) type Callees<'a> = dyn Fn(u64) -> Option<String> + 'a;

/// Mnemonics that go elsewhere in the code, on x86.
const JUMPS: [&str; 34] = [
    "ja", "jae", "jb", "jbe", "jc", "jcxz", "je", "jecxz", "jg", "jge", "jl", "jle", "jmp", "jna",
    "jnae", "jnb", "jnbe", "jnc", "jne", "jng", "jnge", "jnl", "jnle", "jno", "jnp", "jns", "jnz",
    "jo", "jp", "jpe", "jpo", "jrcxz", "js", "jz",
];
/// Jumps of Arm, where no letter stands for a width: `bb` is a byte of code before the instruction.
const ARM_JUMPS: [&str; 6] = ["b", "br", "cbz", "cbnz", "tbz", "tbnz"];
const CALLS: [&str; 4] = ["call", "bl", "blr", "callq"];
const RETURNS: [&str; 1] = ["ret"];
/// Those whose operands may be names, as far as perf knows them, without the letter for their width.
const NAMED: [&str; 66] = [
    "adc", "add", "addsd", "and", "andpd", "andps", "bsr", "bt", "btr", "bts", "cmovae", "cmovbe",
    "cmove", "cmp", "cmpxchg", "dec", "divsd", "divss", "imul", "inc", "lea", "mov", "movabs",
    "movapd", "movaps", "movdqa", "movdqu", "movsb", "movsd", "movslq", "movss", "movsw", "movupd",
    "movups", "movzb", "movzw", "mulsd", "mulss", "or", "orps", "paddq", "pand", "pcmpeqb", "por",
    "sbb", "sub", "subsd", "test", "ucomisd", "ucomiss", "vaddsd", "vandpd", "vmovdqa", "vmovq",
    "vmovsd", "vmulsd", "vorpd", "vsubsd", "vucomisd", "xadd", "xbeginl", "xbeginq", "xchg", "xor",
    "xorpd", "xorps",
];

fn is_among(list: &[&str], name: &str) -> bool {
    let short = name.strip_suffix(['b', 'w', 'l', 'q']);
    list.contains(&name) || short.is_some_and(|short| list.contains(&short))
}

impl<'a> Parts<'a> {
    pub(super) fn new(text: &'a str) -> Parts<'a> {
        let text = text.trim();
        let (name, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        Parts {
            name,
            rest: rest.trim_start(),
        }
    }

    fn is_jump(&self) -> bool {
        let arm = ARM_JUMPS.contains(&self.name) || self.name.starts_with("b.");
        arm || !CALLS.contains(&self.name) && is_among(&JUMPS, self.name)
    }

    /// True for a call.
    pub(super) fn is_call(&self) -> bool {
        CALLS.contains(&self.name)
    }

    /// True for an instruction that goes elsewhere in the code, and does has a target.
    pub(super) fn leads_elsewhere(&self) -> bool {
        self.is_jump() || self.is_call()
    }

    /// The instruction with all addresses, and mnemonics in a column of so many characters.
    pub(super) fn whole(&self, width: usize) -> String {
        format!("{:<width$} {}", self.name, self.rest)
    }

    /// The address that the last operand gives.
    fn target(&self) -> Option<Target<'a>> {
        let (before, name) = self.rest.split_once(" <")?;
        let address = before.rsplit([',', ' ']).next()?;
        Some(Target {
            before: before.strip_suffix(address)?,
            address: u64::from_str_radix(address.trim_start_matches("0x"), 16).ok()?,
            name: name.strip_suffix('>')?,
        })
    }

    /// The place in the function, given by its addresses, that a jump leads to.
    pub(super) fn local_target(&self, function: &Range<u64>) -> Option<u64> {
        let Target { address, .. } = self.target().filter(|_| self.is_jump())?;
        function
            .contains(&address)
            .then(|| address - function.start)
    }

    /// The way from an address of the function.
    pub(super) fn arrow(&self, address: u64, function: &Range<u64>) -> Arrow {
        match self.local_target(function) {
            Some(target) if function.start + target > address => Arrow::Down,
            Some(_) => Arrow::Up,
            None if self.leads_elsewhere() => Arrow::Out,
            None if is_among(&RETURNS, self.name) => Arrow::Back,
            None => Arrow::None,
        }
    }

    /// The short form, with mnemonics in a column of so many characters. Other functions have the names that they have
    /// everywhere, not those of the listing.
    pub(super) fn short(
        &self,
        width: usize,
        function: &Range<u64>,
        callees: &Callees<'_>,
    ) -> String {
        let name = self.name;
        if name == "lock" {
            return format!(
                "{name:<width$} {}",
                Parts::new(self.rest).short(width, function, callees)
            );
        }
        if is_among(&["nop"], name) {
            return format!("{:<width$}", "nop");
        }
        let target = self.target();
        let operands = match (
            self.local_target(function),
            target.filter(|target| !target.is_comment()),
        ) {
            // Conditions that are operands stay.
            (Some(place), Some(Target { before, .. })) => format!("{}{place:x}", before.trim_end()),
            // A jump out of the function leads into another, wherever exactly; back to an earlier one as it stands.
            (
                None,
                Some(Target {
                    name: to, address, ..
                }),
            ) if self.is_jump() && address >= function.end => {
                callees(address).unwrap_or_else(|| to.split("+0x").next().unwrap_or(to).to_owned())
            }
            (
                None,
                Some(Target {
                    name: to, address, ..
                }),
            ) if CALLS.contains(&name) => callees(address).unwrap_or_else(|| to.to_owned()),
            _ => self
                .named_operands()
                .unwrap_or_else(|| self.rest.to_owned()),
        };
        format!("{name:<width$} {operands}")
    }

    /// The operands with a name in the place of the address that the comment names, as far as perf knows the instruction:
    /// in Intel's syntax without a name, and without the comment.
    fn named_operands(&self) -> Option<String> {
        let (operands, comment) = self.rest.split_once('#')?;
        let known = is_among(&NAMED, self.name) && !["imulq", "imull"].contains(&self.name);
        let name = comment
            .split_once('<')?
            .1
            .strip_suffix('>')
            .filter(|_| known)?;
        let operands = operands.trim_end();
        let Some(place) = operands.find("(%rip)") else {
            return Some(operands.to_owned());
        };
        let end = place + "(%rip)".len();
        let start = operands[..end].rfind(',').map_or(0, |comma| comma + 1);
        Some(format!("{}{name}{}", &operands[..start], &operands[end..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FUNCTION: Range<u64> = 0x401000..0x401100;

    fn short(text: &str) -> String {
        let parts = Parts::new(text);
        format!(
            "{}{}",
            parts.arrow(0x401020, &FUNCTION).text(),
            parts.short(4, &FUNCTION, &|_| None)
        )
    }

    #[test]
    fn other_functions_have_the_names_of_their_symbols() {
        let callees = |address| (address == 0x402000).then(|| "malloc".to_owned());
        let short = |text| Parts::new(text).short(4, &FUNCTION, &callees);
        assert_eq!(short("call   402000 <__libc_malloc>"), "call malloc");
        assert_eq!(short("jmp    402000 <__libc_malloc>"), "jmp  malloc");
        assert_eq!(short("call   402010 <other>"), "call other");
        assert_eq!(short("jne    401010 <f+0x10>"), "jne  10");
    }

    #[test]
    fn jumps_show_where_they_lead() {
        assert_eq!(short("jne    401010 <f+0x10>"), "↑ jne  10");
        assert_eq!(short("jmp    401020 <f+0x20>"), "↑ jmp  20");
        assert_eq!(short("jecxz  4010ff <f+0xff>"), "↓ jecxz ff");
        assert_eq!(short("jmp    401104 <g+0x4>"), "→ jmp  g");
        assert_eq!(short("jmp    400f04 <e+0x4>"), "→ jmp  400f04 <e+0x4>");
        assert_eq!(short("jmp    *%rax"), "→ jmp  *%rax");
        assert!(short("bb ff fd ff 6f          mov    $0x6ffffdff,%ebx").starts_with("  bb"));
        assert_eq!(short("call   401104 <g+0x4>"), "→ call g+0x4");
        assert_eq!(
            short("call   *0xb5c(%rip)        # 402000 <var>"),
            "→ call *0xb5c(%rip)        # 402000 <var>"
        );
        assert_eq!(short("cbz    x0, 401030 <f+0x30>"), "↓ cbz  x0,30");
        assert_eq!(short("ret"), "← ret  ");
    }

    #[test]
    fn names_of_targets_may_hold_anything() {
        assert_eq!(
            short("je     401010 <map<int, long>::at(int, long)+0x10>"),
            "↑ je   10"
        );
        assert_eq!(
            short("tbz    w0, #3, 401030 <g<int, 2>(int)+0x30>"),
            "↓ tbz  w0, #3,30"
        );
        assert_eq!(
            short("call   402000 <f()::{lambda(int)#1}::operator()(int) const>"),
            "→ call f()::{lambda(int)#1}::operator()(int) const"
        );
        assert_eq!(
            short("jmp    402010 <f()::{lambda(int)#1}::operator()(int) const+0x10>"),
            "→ jmp  f()::{lambda(int)#1}::operator()(int) const"
        );
        assert_eq!(
            short("lea    0x2e(%rip),%rax        # 402000 <table<1, 2>::words>"),
            "  lea  table<1, 2>::words,%rax"
        );
    }

    #[test]
    fn addresses_have_names_where_perf_knows_the_instruction() {
        assert_eq!(
            short("mov    0x2e(%rip),%rax        # 402000 <var>"),
            "  mov  var,%rax"
        );
        assert_eq!(
            short("addl   $0x1,0x2e(%rip)        # 402000 <var>"),
            "  addl $0x1,var"
        );
        assert_eq!(
            short("imul   $0x3,0x2e(%rip),%rax        # 402000 <var>"),
            "  imul $0x3,var,%rax"
        );
        assert_eq!(
            short("lock cmpxchg %rcx,0x2e(%rip)        # 402000 <var>"),
            "  lock cmpxchg %rcx,var"
        );
        assert_eq!(
            short("movd   0x2e(%rip),%xmm0        # 402000 <var>"),
            "  movd 0x2e(%rip),%xmm0        # 402000 <var>"
        );
        assert_eq!(
            short("mov    rax,QWORD PTR [rip+0x2e]        # 402000 <var>"),
            "  mov  rax,QWORD PTR [rip+0x2e]"
        );
        assert_eq!(short("nopw   0x0(%rax,%rax,1)"), "  nop ");
        assert_eq!(
            short("rep movsb %ds:(%rsi),%es:(%rdi)"),
            "  rep  movsb %ds:(%rsi),%es:(%rdi)"
        );
    }
}
