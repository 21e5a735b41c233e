//! C++ names of the Itanium ABI, written as the C++ runtime library writes them.
//!
//! Own code because the text must be byte for byte what perf shows, which is what libstdc++ makes of the name. The grammar
//! is the ABI's; the layout of the text was found by experiment. A name that does not follow the grammar stays as it is.

mod abbreviation;
mod cursor;
mod encoding;
mod expression;
mod literal;
mod name;
mod node;
mod operator;
mod print;
mod template;
#[cfg(test)]
mod tests;
mod types;

use cursor::Parser;

/// Bytes of text that a name may grow to.
const OUTPUT_LIMIT: usize = 1 << 16;
/// Limit of the depth to which a name may nest.
const DEPTH_LIMIT: u32 = 256;

/// The source's name of a `_Z` name; `None` when it is none, or when it is too deep or too long to be shown.
pub(super) fn demangle(name: &str) -> Option<String> {
    let mut parser = Parser::new(name.strip_prefix("_Z")?);
    let root = parser.mangled_name()?;
    print::print(parser.nodes(), root)
}
