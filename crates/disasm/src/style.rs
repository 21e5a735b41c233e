//! The options of iced's formatters that make up a style.

use iced_x86::{
    Code, Formatter, FormatterOptions, GasFormatter, Instruction, IntelFormatter,
    MemorySizeOptions, Mnemonic,
};

use crate::{LineLayout, Syntax};

/// Column of the operands in a listing.
pub(crate) const OPERAND_COLUMN: u32 = 7;

/// A formatter for the style.
pub(crate) fn formatter(syntax: Syntax, form: LineLayout) -> Box<dyn Formatter> {
    let mut formatter: Box<dyn Formatter> = match syntax {
        Syntax::Att => Box::new(GasFormatter::new()),
        Syntax::Intel => Box::new(IntelFormatter::new()),
    };
    common(formatter.options_mut());
    match form {
        LineLayout::Listing => listing(syntax, formatter.options_mut()),
        LineLayout::Script => script(formatter.options_mut()),
    }
    formatter
}

fn common(options: &mut FormatterOptions) {
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_branch_leading_zeros(false);
    options.set_leading_zeros(false);
    options.set_rip_relative_addresses(true);
    options.set_show_branch_size(false);
    options.set_show_useless_prefixes(true);
    options.set_memory_size_options(MemorySizeOptions::Always);
}

fn listing(syntax: Syntax, options: &mut FormatterOptions) {
    // In AT&T syntax this would leave a comma where there is no index.
    options.set_always_show_scale(syntax == Syntax::Intel);
    options.set_first_operand_char_index(OPERAND_COLUMN);
    options.set_uppercase_keywords(true);
    options.set_show_zero_displacements(true);
    options.set_small_hex_numbers_in_decimal(false);
}

/// Sets the options of a listing for one instruction; `column` is where its operands begin.
pub(crate) fn suit(
    options: &mut FormatterOptions,
    column: u32,
    instruction: &Instruction,
    syntax: Syntax,
) {
    // The name of such a move is three letters longer than the formatter knows.
    let longer = syntax == Syntax::Intel && crate::output::is_wide_move(instruction);
    options.set_first_operand_char_index(if longer {
        column.saturating_sub(3)
    } else {
        column
    });
    // Both operands are written even if they are the same, and the registers of the floating-point stack.
    let in_full = instruction.mnemonic() == Mnemonic::Imul || crate::output::is_x87(instruction);
    options.set_use_pseudo_ops(!in_full);
    let by_number = syntax == Syntax::Intel && is_of_accumulator(instruction.code());
    let sizes = if by_number {
        MemorySizeOptions::Never
    } else {
        MemorySizeOptions::Always
    };
    options.set_memory_size_options(sizes);
    options.set_signed_memory_displacements(
        syntax == Syntax::Att || !instruction.is_ip_rel_memory_operand(),
    );
}

/// Returns whether this moves memory to or from the accumulator, in the form that holds a bare address: the register
/// says the size.
fn is_of_accumulator(code: Code) -> bool {
    use Code::{
        Mov_AL_moffs8, Mov_AX_moffs16, Mov_EAX_moffs32, Mov_RAX_moffs64, Mov_moffs8_AL,
        Mov_moffs16_AX, Mov_moffs32_EAX, Mov_moffs64_RAX,
    };
    matches!(
        code,
        Mov_AL_moffs8
            | Mov_AX_moffs16
            | Mov_EAX_moffs32
            | Mov_RAX_moffs64
            | Mov_moffs8_AL
            | Mov_moffs16_AX
            | Mov_moffs32_EAX
            | Mov_moffs64_RAX
    )
}

fn script(options: &mut FormatterOptions) {
    options.set_space_after_operand_separator(true);
    options.set_space_between_memory_add_operators(true);
    options.set_gas_show_mnemonic_size_suffix(true);
}
