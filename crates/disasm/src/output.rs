//! The receiver of the formatter's pieces: addresses get names on their way, and listings what `objdump` writes
//! otherwise.

use iced_x86::{
    CodeSize, CpuidFeature, FormatterOutput, FormatterTextKind, Instruction, Mnemonic, NumberKind,
    OpKind, Register,
};

use crate::{AddressNames, LineLayout, Syntax, prefix};

/// The text of one instruction.
pub(crate) struct Output<'a, 'n> {
    form: LineLayout,
    syntax: Syntax,
    /// Before the end of a memory operand: the scale that the formatter leaves out.
    scale: &'static str,
    /// A shift by one in its short form: its count is in decimal in Intel syntax.
    by_one: bool,
    /// In AT&T syntax that count is left out, up to the comma behind it.
    skips_count: bool,
    /// The brackets around an address without registers are left out.
    bare_address: bool,
    /// The top of the floating-point stack goes without saying.
    hides_top: bool,
    /// Behind the first register of an address: the index that its bytes say is none, though none were needed to.
    idle_index: &'static str,
    /// The code is of 32 bits.
    is_32: bool,
    names: &'a mut AddressNames<'n>,
    out: &'a mut String,
}

/// Returns whether the instruction works on the floating-point stack.
pub(crate) fn is_x87(instruction: &Instruction) -> bool {
    let is_stack = |register: Register| (Register::ST0..=Register::ST7).contains(&register);
    (0..instruction.op_count()).any(|operand| {
        instruction.op_kind(operand) == OpKind::Register
            && is_stack(instruction.op_register(operand))
    })
}

/// Returns whether this moves a number of 64 bits, which Intel's syntax calls by its own name in listings.
pub(crate) fn is_wide_move(instruction: &Instruction) -> bool {
    instruction
        .op_kinds()
        .any(|kind| kind == OpKind::Immediate64)
}

/// Returns whether the top of the floating-point stack goes without saying, as it does beside memory, in loads and
/// stores.
fn hides_top(instruction: &Instruction) -> bool {
    let has_memory = instruction.op_kinds().any(|kind| kind == OpKind::Memory);
    let moves = matches!(
        instruction.mnemonic(),
        Mnemonic::Fst | Mnemonic::Fstp | Mnemonic::Fld | Mnemonic::Fxch
    );
    (has_memory || moves) && instruction.cpuid_features().contains(&CpuidFeature::FPU)
}

/// The text for an index that is there and does nothing, as in the padding between functions.
fn idle_index(syntax: Syntax, code: &[u8], instruction: &Instruction) -> &'static str {
    let base = instruction.memory_base();
    let is_plain = instruction.memory_index() == Register::None && !matches!(base.number(), 4 | 12);
    if !is_plain || !base.is_gpr() || !has_idle_index(code, instruction) {
        return "";
    }
    match (syntax, base.is_gpr64()) {
        (Syntax::Att, true) => ",%riz,1",
        (Syntax::Att, false) => ",%eiz,1",
        (Syntax::Intel, true) => "+riz*1",
        (Syntax::Intel, false) => "+eiz*1",
    }
}

/// Returns whether the byte before the displacement, or the last one, is that of an index, which says that there is
/// none.
fn has_idle_index(code: &[u8], instruction: &Instruction) -> bool {
    let displacement = match instruction.memory_displ_size() {
        1 => 1,
        4 | 8 => 4,
        _ => 0,
    };
    let has_number =
        (0..instruction.op_count()).any(|operand| instruction.try_immediate(operand).is_ok());
    let behind = instruction
        .len()
        .checked_sub(displacement)
        .filter(|_| !has_number);
    let bytes = behind.and_then(|end| code.get(end.checked_sub(2)?..end));
    matches!(bytes, Some([form, 0x20..=0x27]) if form & 7 == 4 && form >> 6 != 3)
}

impl<'a, 'n> Output<'a, 'n> {
    pub(crate) fn new(
        style: (Syntax, LineLayout),
        code: &[u8],
        instruction: &Instruction,
        names: &'a mut AddressNames<'n>,
        out: &'a mut String,
    ) -> Output<'a, 'n> {
        let (syntax, form) = style;
        let lists = form == LineLayout::Listing;
        let has_index = instruction.memory_index() != Register::None;
        let scales = has_index && instruction.memory_index_scale() == 1;
        let shifts = matches!(
            instruction.mnemonic(),
            Mnemonic::Rol
                | Mnemonic::Ror
                | Mnemonic::Rcl
                | Mnemonic::Rcr
                | Mnemonic::Shl
                | Mnemonic::Shr
                | Mnemonic::Sal
                | Mnemonic::Sar
        );
        let has_memory = instruction.op_kinds().any(|kind| kind == OpKind::Memory);
        let intel = lists && syntax == Syntax::Intel;
        let by_one = lists && shifts && prefix::shifts_by_one(code);
        Output {
            form,
            syntax,
            scale: if lists && syntax == Syntax::Att && scales {
                ",1"
            } else {
                ""
            },
            by_one: intel && by_one,
            skips_count: !intel && by_one,
            bare_address: intel
                && has_memory
                && !has_index
                && instruction.memory_base() == Register::None,
            hides_top: intel && hides_top(instruction),
            idle_index: if lists {
                idle_index(syntax, code, instruction)
            } else {
                ""
            },
            is_32: instruction.code_size() == CodeSize::Code32,
            names,
            out,
        }
    }

    /// Says where an address relative to the instruction pointer is; lines of `perf script` have no room for it.
    pub(crate) fn comment(&mut self, address: u64) {
        if self.form == LineLayout::Listing {
            self.out.push_str(&format!("        # {address:x}"));
            self.name_in_brackets(address);
        }
    }

    /// Appends the name of `address`; nothing and `false` if it has none.
    fn name(&mut self, address: u64) -> bool {
        let start = self.out.len();
        let named = (self.names)(address, self.out);
        if !named {
            self.out.truncate(start);
        }
        named
    }

    fn name_in_brackets(&mut self, address: u64) {
        let start = self.out.len();
        self.out.push_str(" <");
        match self.name(address) {
            true => self.out.push('>'),
            false => self.out.truncate(start),
        }
    }
}

impl FormatterOutput for Output<'_, '_> {
    fn write(&mut self, text: &str, _kind: FormatterTextKind) {
        if self.skips_count && matches!(text, "$" | ",") {
            self.skips_count = text != ",";
            return;
        }
        match text {
            "[" if self.bare_address => {
                if !self.out.ends_with(':') {
                    self.out.push_str("ds:");
                }
            }
            "]" if self.bare_address => {}
            "," if self.hides_top => {}
            ")" => {
                self.out.push_str(self.scale);
                self.out.push_str(text);
            }
            _ => self.out.push_str(text),
        }
    }

    fn write_prefix(
        &mut self,
        instruction: &Instruction,
        text: &str,
        _prefix: iced_x86::PrefixKind,
    ) {
        let text = match (self.form, text) {
            (LineLayout::Listing, "rep" | "repe") => "repz",
            (LineLayout::Listing, "repne") if crate::prefix::keeps_bounds(instruction) => "bnd",
            (LineLayout::Listing, "repne") => "repnz",
            _ => text,
        };
        self.out.push_str(text);
    }

    fn write_mnemonic(&mut self, instruction: &Instruction, text: &str) {
        if self.form == LineLayout::Script {
            return self.out.push_str(text);
        }
        let mnemonic = instruction.mnemonic();
        let by_stack = matches!(
            mnemonic,
            Mnemonic::Call | Mnemonic::Jmp | Mnemonic::Push | Mnemonic::Pop
        );
        match text {
            "lretl" => self.out.push_str("lret"),
            "iretl" => self.out.push_str("iret"),
            "mov" if is_wide_move(instruction) => self.out.push_str("movabs"),
            // What goes by the size of the stack needs no suffix in a listing; the column stays.
            _ => match text.strip_suffix(if self.is_32 { 'l' } else { 'q' }) {
                Some(bare) if by_stack && text != "call" => {
                    self.out.push_str(bare);
                    self.out.push(' ');
                }
                _ => self.out.push_str(text),
            },
        }
    }

    fn write_register(
        &mut self,
        instruction: &Instruction,
        _operand: u32,
        _instruction_operand: Option<u32>,
        text: &str,
        register: Register,
    ) {
        let port = matches!(instruction.mnemonic(), Mnemonic::In | Mnemonic::Out)
            && register == Register::DX;
        match (self.form, self.syntax) {
            (LineLayout::Listing, Syntax::Att) if port => self.out.push_str("(%dx)"),
            _ if self.hides_top && text == "st" => {}
            _ => {
                let begins_address = self.out.ends_with(['(', '[']);
                self.out.push_str(text);
                if begins_address {
                    self.out.push_str(self.idle_index);
                }
            }
        }
    }

    fn write_number(
        &mut self,
        _instruction: &Instruction,
        _operand: u32,
        _instruction_operand: Option<u32>,
        text: &str,
        value: u64,
        _number_kind: NumberKind,
        kind: FormatterTextKind,
    ) {
        let is_target = matches!(
            kind,
            FormatterTextKind::LabelAddress | FormatterTextKind::FunctionAddress
        );
        match (is_target, self.form) {
            (false, _) if self.skips_count => {}
            (false, _) if self.by_one && value == 1 && kind == FormatterTextKind::Number => {
                self.out.push('1')
            }
            (true, LineLayout::Listing) => {
                self.out.push_str(text.trim_start_matches("0x"));
                self.name_in_brackets(value);
            }
            (true, LineLayout::Script) => {
                if !self.name(value) {
                    self.out.push_str(text);
                }
            }
            (false, _) => self.out.push_str(text),
        }
    }
}
