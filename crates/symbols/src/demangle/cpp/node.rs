//! The parts of a parsed name.

/// Index of a part; parts refer to parts that were made before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeId(pub(super) u32);

/// `&` or `&&`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    Lvalue,
    Rvalue,
}

/// Qualifiers behind a member function's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Qualifiers {
    pub(super) restrict: bool,
    pub(super) volatile: bool,
    pub(super) constant: bool,
    pub(super) reference: Option<Reference>,
}

/// A function's shape. No return type where the mangling has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) result: Option<NodeId>,
    pub(super) parameters: Vec<NodeId>,
    pub(super) qualifiers: Qualifiers,
    pub(super) noexcept: bool,
}

/// One part of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node<'a> {
    /// An identifier or fixed text.
    Text(&'a str),
    /// A predefined abbreviation, such as `std::string`, with what it abbreviates.
    Abbreviation(&'static str),
    /// `a::b`.
    Qualified(NodeId, NodeId),
    /// Something inside a function: `f()::b`.
    Local(NodeId, NodeId),
    /// `a<args>`.
    Template(NodeId, NodeId),
    /// The arguments between `<` and `>`.
    Arguments(Vec<NodeId>),
    /// Arguments that belong to one parameter.
    Pack(Vec<NodeId>),
    /// A constructor of the class with that last name.
    Constructor(NodeId),
    /// `~name`.
    Destructor(NodeId),
    /// `name[abi:tag]`.
    Tagged(NodeId, &'a str),
    /// `{unnamed type#n}`.
    Unnamed(u32),
    /// `{lambda(parameters)#n}`.
    Lambda(Vec<NodeId>, u32),
    /// `{default arg#n}::name`.
    DefaultArgument(u32, NodeId),
    /// `operator+`.
    Operator(&'static str),
    /// `operator type`.
    Conversion(NodeId),
    /// `operator"" name`.
    LiteralOperator(NodeId),
    /// An operator that the vendor made up.
    VendorOperator(NodeId),
    /// A built-in type, by its letter where it has one (for literals).
    Builtin(&'static str, u8),
    /// `type*`.
    Pointer(NodeId),
    /// `type&` or `type&&`.
    Reference(NodeId, Reference),
    /// `type text`, such as `int const`.
    Suffixed(NodeId, &'static str),
    /// A vendor's qualifier behind a type.
    VendorQualified(NodeId, NodeId),
    /// A function type.
    Function(Function),
    /// `type [size]`.
    Array(NodeId, Option<NodeId>),
    /// Pointer to a member: class, then member type.
    Member(NodeId, NodeId),
    /// `type __vector(size)`.
    Vector(NodeId, NodeId),
    /// `typename...`: what each parameter of a pack becomes.
    Expansion(NodeId),
    /// The n-th template parameter of the function around it.
    Parameter(u32),
    /// `decltype (expression)`.
    Decltype(NodeId),
    /// A function with its parameters.
    Encoding(NodeId, Function),
    /// Fixed text before a part.
    Prefixed(&'static str, NodeId),
    /// `reference temporary #n for name`.
    Temporary(u32, NodeId),
    /// `construction vtable for a-in-b`.
    ConstructionTable(NodeId, NodeId),
    /// `name [clone .suffix]`.
    Clone(NodeId, &'a str),
    /// A literal: its type, whether it is negative, its digits.
    Literal(NodeId, bool, &'a str),
    /// `op(a)`.
    Unary(&'static str, NodeId),
    /// `(a)op(b)`.
    Binary(&'static str, NodeId, NodeId),
    /// `a[b]`.
    Index(NodeId, NodeId),
    /// `(a)?(b) : (c)`.
    Condition(NodeId, NodeId, NodeId),
    /// `callee(arguments)`.
    Call(NodeId, Vec<NodeId>),
    /// `(type)(expressions)`.
    Cast(NodeId, Vec<NodeId>),
    /// `static_cast<type>(expression)`.
    NamedCast(&'static str, NodeId, NodeId),
    /// `type{list}`; the type may be missing.
    List(Option<NodeId>, Vec<NodeId>),
    /// `{parm#n}`; 0 is `this`.
    FunctionParameter(u32),
    /// `sizeof...(pack)`, shown as a number.
    PackSize(NodeId),
    /// `op (type)`, such as `sizeof (int)`.
    OfType(&'static str, NodeId),
}
