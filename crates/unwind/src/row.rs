//! The rules of one instruction of a table: how its frame's caller is found. Small, and kept for the next time.

use gimli::{CfaRule, EndianSlice, RegisterRule, RunTimeEndian, UnwindSection, UnwindTableRow};

use crate::arch::{Arch, Register};

/// The rules at an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    pub(crate) frame: FrameRule,
    /// Rules for registers other than "as always".
    pub(crate) registers: Box<[(Register, Rule)]>,
    /// The rule for the address to return to.
    pub(crate) return_address: Rule,
    /// True if this is the frame of the kernel's call of a signal handler: its caller was interrupted, it called
    /// nothing.
    pub(crate) is_signal: bool,
}

/// The rule that gives the address of the frame, which the other rules count from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum FrameRule {
    /// A register and a distance.
    Register(Register, i64),
    /// A DWARF expression.
    Expression(Box<[u8]>),
}

/// The rule for the caller's value of a register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Rule {
    /// Nowhere: it is lost. For the address to return to, that there is no caller.
    Undefined,
    /// In the register itself.
    Same,
    /// In memory, so far from the frame.
    At(i64),
    /// It is the frame's address and so much.
    Frame(i64),
    /// In another register.
    In(Register),
    /// In memory, where an expression says.
    AtExpression(Box<[u8]>),
    /// It is what an expression gives.
    Expression(Box<[u8]>),
}

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

impl Row {
    /// The rules that are needed of a table's row; `None` where its frame is found in no way that is known.
    pub(crate) fn of<'a>(
        row: &UnwindTableRow<usize>,
        section: &impl UnwindSection<Slice<'a>, Offset: Copy>,
        arch: Arch,
        return_register: u16,
        is_signal: bool,
    ) -> Option<Row> {
        let frame = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                FrameRule::Register(general(arch, register.0)?, *offset)
            }
            CfaRule::Expression(expression) => {
                FrameRule::Expression(expression.get(section).ok()?.0.slice().into())
            }
        };
        let mut registers = Vec::new();
        let mut return_address = None;
        for (register, rule) in row.registers() {
            let Some(rule) = Rule::of(rule, section, arch) else {
                continue;
            };
            if register.0 == return_register {
                return_address = Some(rule.clone());
            }
            let register = general(arch, register.0);
            registers.extend(
                register
                    .filter(|register| !is_ip(arch, *register))
                    .map(|register| (register, rule)),
            );
        }
        let return_address = match return_address {
            Some(Rule::Same) | None => unchanged(arch, return_register),
            Some(rule) => rule,
        };
        Some(Row {
            frame,
            registers: registers.into(),
            return_address,
            is_signal,
        })
    }
}

impl Rule {
    fn of<'a>(
        rule: &RegisterRule<usize>,
        section: &impl UnwindSection<Slice<'a>>,
        arch: Arch,
    ) -> Option<Rule> {
        Some(match rule {
            RegisterRule::Undefined => Rule::Undefined,
            RegisterRule::SameValue => Rule::Same,
            RegisterRule::Offset(offset) => Rule::At(*offset),
            RegisterRule::ValOffset(offset) => Rule::Frame(*offset),
            RegisterRule::Register(register) => Rule::In(general(arch, register.0)?),
            RegisterRule::Expression(bytes) => {
                Rule::AtExpression(bytes.get(section).ok()?.0.slice().into())
            }
            RegisterRule::ValExpression(bytes) => {
                Rule::Expression(bytes.get(section).ok()?.0.slice().into())
            }
            RegisterRule::Architectural | RegisterRule::Constant(_) => return None,
        })
    }
}

/// The rule for the address to return to when the table has none: in its register, or nowhere if that is the
/// instruction pointer itself.
fn unchanged(arch: Arch, return_register: u16) -> Rule {
    let register = general(arch, return_register).filter(|register| !is_ip(arch, *register));
    register.map_or(Rule::Undefined, Rule::In)
}

fn is_ip(arch: Arch, register: Register) -> bool {
    arch.instruction_pointer() == Some(register)
}

/// A register that values are kept of.
fn general(arch: Arch, number: u16) -> Option<Register> {
    (number < arch.register_count()).then_some(Register(number as u8))
}
