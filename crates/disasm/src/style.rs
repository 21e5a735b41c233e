//! The options of iced's formatters that make up a style.

use iced_x86::{Formatter, FormatterOptions, GasFormatter, IntelFormatter, MemorySizeOptions};

use crate::{Form, Syntax};

/// A formatter for the style.
pub(crate) fn formatter(syntax: Syntax, form: Form) -> Box<dyn Formatter> {
    let mut formatter: Box<dyn Formatter> = match syntax {
        Syntax::Att => Box::new(GasFormatter::new()),
        Syntax::Intel => Box::new(IntelFormatter::new()),
    };
    common(formatter.options_mut());
    match form {
        Form::Listing => listing(syntax, formatter.options_mut()),
        Form::Script => script(formatter.options_mut()),
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
    options.set_first_operand_char_index(7);
    options.set_uppercase_keywords(true);
    options.set_show_zero_displacements(true);
    options.set_small_hex_numbers_in_decimal(false);
}

fn script(options: &mut FormatterOptions) {
    options.set_space_after_operand_separator(true);
    options.set_space_between_memory_add_operators(true);
    options.set_gas_show_mnemonic_size_suffix(true);
}
