//! Where the formatter's pieces go: addresses get names on their way.

use iced_x86::{FormatterOutput, FormatterTextKind, Instruction, Mnemonic, NumberKind, Register};

use crate::{Form, Names, Syntax};

/// The text of one instruction.
pub(crate) struct Output<'a, 'n> {
    form: Form,
    /// Before the end of a memory operand: the scale that the formatter leaves out.
    scale: &'static str,
    names: &'a mut Names<'n>,
    out: &'a mut String,
}

impl<'a, 'n> Output<'a, 'n> {
    pub(crate) fn new(
        (syntax, form): (Syntax, Form),
        instruction: &Instruction,
        names: &'a mut Names<'n>,
        out: &'a mut String,
    ) -> Output<'a, 'n> {
        let lists = (syntax, form) == (Syntax::Att, Form::Listing);
        let scales = instruction.memory_index() != Register::None && instruction.memory_index_scale() == 1;
        Output { form, scale: if lists && scales { ",1" } else { "" }, names, out }
    }

    /// Says where an address relative to the instruction pointer is; lines of `perf script` have no room for it.
    pub(crate) fn comment(&mut self, address: u64) {
        if self.form == Form::Listing {
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
        if text == ")" {
            self.out.push_str(self.scale);
        }
        self.out.push_str(text);
    }

    fn write_mnemonic(&mut self, instruction: &Instruction, text: &str) {
        let by_stack =
            matches!(instruction.mnemonic(), Mnemonic::Call | Mnemonic::Jmp | Mnemonic::Push | Mnemonic::Pop);
        match text.strip_suffix('q') {
            // What goes by the size of the stack needs no suffix in a listing; the column stays.
            Some(bare) if by_stack && self.form == Form::Listing => {
                self.out.push_str(bare);
                self.out.push(' ');
            }
            _ => self.out.push_str(text),
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
        let is_target = matches!(kind, FormatterTextKind::LabelAddress | FormatterTextKind::FunctionAddress);
        match (is_target, self.form) {
            (true, Form::Listing) => {
                self.out.push_str(text.trim_start_matches("0x"));
                self.name_in_brackets(value);
            }
            (true, Form::Script) => {
                if !self.name(value) {
                    self.out.push_str(text);
                }
            }
            (false, _) => self.out.push_str(text),
        }
    }
}
