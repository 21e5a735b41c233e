//! The operators' two-letter codes.

/// Number of operands that an operator takes in an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arity {
    One,
    Two,
    Three,
    /// Not an operator that can be overloaded: it stands in expressions only.
    Keyword,
}

/// One operator.
#[derive(Clone, Copy, Debug)]
pub(super) struct OperatorCode {
    pub(super) code: &'static str,
    pub(super) text: &'static str,
    pub(super) arity: Arity,
}

const fn operator(code: &'static str, text: &'static str, arity: Arity) -> OperatorCode {
    OperatorCode { code, text, arity }
}

/// All of them.
pub(super) const OPERATORS: &[OperatorCode] = &[
    operator("aN", "&=", Arity::Two),
    operator("aS", "=", Arity::Two),
    operator("aa", "&&", Arity::Two),
    operator("ad", "&", Arity::One),
    operator("an", "&", Arity::Two),
    operator("aw", "co_await", Arity::One),
    operator("cl", "()", Arity::Two),
    operator("cm", ",", Arity::Two),
    operator("co", "~", Arity::One),
    operator("dV", "/=", Arity::Two),
    operator("dX", "[...]=", Arity::Three),
    operator("da", "delete[]", Arity::One),
    operator("de", "*", Arity::One),
    operator("di", "=", Arity::Two),
    operator("dl", "delete", Arity::One),
    operator("ds", ".*", Arity::Two),
    operator("dt", ".", Arity::Two),
    operator("dv", "/", Arity::Two),
    operator("dx", "]=", Arity::Two),
    operator("eO", "^=", Arity::Two),
    operator("eo", "^", Arity::Two),
    operator("eq", "==", Arity::Two),
    operator("ge", ">=", Arity::Two),
    operator("gs", "::", Arity::Keyword),
    operator("gt", ">", Arity::Two),
    operator("ix", "[]", Arity::Two),
    operator("lS", "<<=", Arity::Two),
    operator("le", "<=", Arity::Two),
    operator("ls", "<<", Arity::Two),
    operator("lt", "<", Arity::Two),
    operator("mI", "-=", Arity::Two),
    operator("mL", "*=", Arity::Two),
    operator("mi", "-", Arity::Two),
    operator("ml", "*", Arity::Two),
    operator("mm", "--", Arity::One),
    operator("na", "new[]", Arity::Three),
    operator("ne", "!=", Arity::Two),
    operator("ng", "-", Arity::One),
    operator("nt", "!", Arity::One),
    operator("nw", "new", Arity::Three),
    operator("oR", "|=", Arity::Two),
    operator("oo", "||", Arity::Two),
    operator("or", "|", Arity::Two),
    operator("pL", "+=", Arity::Two),
    operator("pl", "+", Arity::Two),
    operator("pm", "->*", Arity::Two),
    operator("pp", "++", Arity::One),
    operator("ps", "+", Arity::One),
    operator("pt", "->", Arity::Two),
    operator("qu", "?", Arity::Three),
    operator("rM", "%=", Arity::Two),
    operator("rS", ">>=", Arity::Two),
    operator("rm", "%", Arity::Two),
    operator("rs", ">>", Arity::Two),
    operator("ss", "<=>", Arity::Two),
];
