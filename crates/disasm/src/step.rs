//! Instructions of x86 as steps: what they read and write, and where they go.
//!
//! For whoever follows values through code and needs operands, not text. Registers go by their DWARF numbers for 64-bit
//! code, whatever part of one is meant: `%eax` is register 0 as `%rax` is.

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register,
};

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Number of bytes that it takes.
    pub length: usize,
    /// The kind of its work.
    pub work: Work,
    /// Its operands, in the order of AT&T syntax: what is read comes first.
    pub operands: Vec<Operand>,
    /// The registers that it changes, by their DWARF numbers.
    pub changed: Vec<u16>,
    /// The next instruction.
    pub flow: OperationFlow,
}

/// The effect of an instruction on its last operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Copies, perhaps widened.
    Move,
    /// Stores the address of a place in memory.
    Address,
    /// Adds.
    Add,
    /// Subtracts.
    Subtract,
    /// Compares alone, and writes nothing.
    Compare,
    /// Anything else.
    Other,
}

/// The instruction that comes after one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationFlow {
    /// To the next one.
    Next,
    /// There, or to the next one.
    Branch(u64),
    /// There.
    Jump(u64),
    /// To a function at that address, if it is known, and back.
    Call(Option<u64>),
    /// Away: it returns, jumps to a computed place, or ends the program.
    Away,
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register, by its DWARF number, if that is known.
    Register(Option<u16>),
    /// A number.
    Number(i64),
    /// A place in memory.
    Memory(MemoryOperand),
    /// Another place in the code.
    Code,
}

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryOperand {
    /// The register that holds the base, if there is one.
    pub base: Option<u16>,
    /// The register that holds the index, if there is one.
    pub index: Option<u16>,
    /// The number that is added to them.
    pub displacement: i64,
    /// The address itself, where it is counted from the instruction's own.
    pub absolute: Option<u64>,
    /// The segment that was asked for.
    pub segment: Segment,
}

/// A segment that addresses count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// No special one.
    Plain,
    /// The segment of the thread, in user space.
    Fs,
    /// The segment of the CPU, in the kernel.
    Gs,
}

impl Operation {
    /// The instruction of 64-bit code at the beginning of `code`, which lies at `address`; `None` if there is none.
    pub fn decode(code: &[u8], address: u64) -> Option<Operation> {
        let instruction = Decoder::with_ip(64, code, address, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return None;
        }
        let operands = (0..instruction.op_count())
            .rev()
            .map(|nth| operand(&instruction, nth))
            .collect();
        Some(Operation {
            length: instruction.len(),
            work: work(&instruction),
            operands,
            changed: changed(&instruction),
            flow: flow(&instruction),
        })
    }

    /// The place in memory that it reads or writes, if it names one.
    pub fn memory(&self) -> Option<MemoryOperand> {
        self.operands.iter().find_map(|operand| match operand {
            Operand::Memory(memory) => Some(*memory),
            _ => None,
        })
    }
}

fn changed(instruction: &Instruction) -> Vec<u16> {
    let writes = |access| {
        matches!(
            access,
            OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
        )
    };
    let mut factory = InstructionInfoFactory::new();
    let used = factory.info(instruction).used_registers().iter();
    let mut changed: Vec<u16> = used
        .filter(|used| writes(used.access()))
        .filter_map(|used| number(used.register()))
        .collect();
    changed.dedup();
    changed
}

fn work(instruction: &Instruction) -> Work {
    match instruction.mnemonic() {
        Mnemonic::Mov
        | Mnemonic::Movsx
        | Mnemonic::Movsxd
        | Mnemonic::Movzx
        | Mnemonic::Movss
        | Mnemonic::Movsd
        | Mnemonic::Movd
        | Mnemonic::Movq
        | Mnemonic::Movaps
        | Mnemonic::Movups
        | Mnemonic::Movapd
        | Mnemonic::Movupd
        | Mnemonic::Movdqa
        | Mnemonic::Movdqu => Work::Move,
        Mnemonic::Lea => Work::Address,
        Mnemonic::Add => Work::Add,
        Mnemonic::Sub => Work::Subtract,
        Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Nop | Mnemonic::Ucomisd | Mnemonic::Ucomiss => {
            Work::Compare
        }
        _ => Work::Other,
    }
}

fn flow(instruction: &Instruction) -> OperationFlow {
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::Interrupt => OperationFlow::Next,
        FlowControl::ConditionalBranch => OperationFlow::Branch(instruction.near_branch_target()),
        FlowControl::UnconditionalBranch => OperationFlow::Jump(instruction.near_branch_target()),
        FlowControl::Call => OperationFlow::Call(Some(instruction.near_branch_target())),
        FlowControl::IndirectCall => OperationFlow::Call(None),
        _ => OperationFlow::Away,
    }
}

fn operand(instruction: &Instruction, nth: u32) -> Operand {
    match instruction.op_kind(nth) {
        OpKind::Register => Operand::Register(number(instruction.op_register(nth))),
        OpKind::Memory => Operand::Memory(memory(instruction)),
        OpKind::NearBranch16
        | OpKind::NearBranch32
        | OpKind::NearBranch64
        | OpKind::FarBranch16
        | OpKind::FarBranch32 => Operand::Code,
        _ => match instruction.try_immediate(nth) {
            Ok(number) => Operand::Number(number.cast_signed()),
            // A place that string instructions go through by themselves.
            Err(_) => Operand::Register(None),
        },
    }
}

fn memory(instruction: &Instruction) -> MemoryOperand {
    let counted = instruction.is_ip_rel_memory_operand();
    let base = instruction.memory_base();
    MemoryOperand {
        base: if counted { None } else { number(base) },
        index: number(instruction.memory_index()),
        displacement: instruction.memory_displacement64().cast_signed(),
        absolute: counted.then(|| instruction.ip_rel_memory_address()),
        segment: match instruction.segment_prefix() {
            Register::FS => Segment::Fs,
            Register::GS => Segment::Gs,
            _ => Segment::Plain,
        },
    }
}

/// DWARF's number of a register of 64-bit code.
fn number(register: Register) -> Option<u16> {
    /// DWARF's numbers of the registers that instructions number from 0 to 7.
    const FIRST: [u16; 8] = [0, 2, 1, 3, 7, 6, 4, 5];
    const VECTORS: u16 = 17;
    if register.is_gpr() {
        let nth = register.full_register().number();
        return Some(FIRST.get(nth).copied().unwrap_or(nth as u16));
    }
    let nth = u16::try_from(register.number()).ok()?;
    (register.is_vector_register() && nth < 16).then_some(VECTORS + nth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(code: &[u8]) -> Operation {
        Operation::decode(code, 0x1000).unwrap()
    }

    const PLAIN: MemoryOperand = MemoryOperand {
        base: None,
        index: None,
        displacement: 0,
        absolute: None,
        segment: Segment::Plain,
    };

    #[test]
    fn operands_stand_in_the_order_of_their_text() {
        // mov 0x10(%rdi,%rcx,8),%eax
        let load = step(&[0x8b, 0x44, 0xcf, 0x10]);
        let memory = MemoryOperand {
            base: Some(5),
            index: Some(2),
            displacement: 0x10,
            ..PLAIN
        };
        assert_eq!(
            load.operands,
            [Operand::Memory(memory), Operand::Register(Some(0))]
        );
        assert_eq!(
            (load.work, load.flow, load.length),
            (Work::Move, OperationFlow::Next, 4)
        );
        assert_eq!(load.changed, [0]);
        // mul %rcx
        let product = step(&[0x48, 0xf7, 0xe1]);
        assert!([0, 1].iter().all(|number| product.changed.contains(number)));
        // movq $-1,-8(%rbp)
        let store = step(&[0x48, 0xc7, 0x45, 0xf8, 0xff, 0xff, 0xff, 0xff]);
        let memory = MemoryOperand {
            base: Some(6),
            displacement: -8,
            ..PLAIN
        };
        assert_eq!(
            store.operands,
            [Operand::Number(-1), Operand::Memory(memory)]
        );
        assert_eq!(store.memory(), Some(memory));
    }

    #[test]
    fn addresses_and_segments_are_told() {
        // mov 0x10(%rip),%rax
        let global = step(&[0x48, 0x8b, 0x05, 0x10, 0, 0, 0]).memory().unwrap();
        assert_eq!((global.base, global.absolute), (None, Some(0x1017)));
        // mov %fs:0x28,%rax
        let thread = step(&[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0])
            .memory()
            .unwrap();
        assert_eq!(
            thread,
            MemoryOperand {
                displacement: 0x28,
                segment: Segment::Fs,
                ..PLAIN
            }
        );
    }

    #[test]
    fn ways_out_are_told() {
        assert_eq!(step(&[0x74, 0x10]).flow, OperationFlow::Branch(0x1012));
        assert_eq!(step(&[0xeb, 0x10]).flow, OperationFlow::Jump(0x1012));
        assert_eq!(
            step(&[0xe8, 0, 0, 0, 0]).flow,
            OperationFlow::Call(Some(0x1005))
        );
        assert_eq!(step(&[0xff, 0xd0]).flow, OperationFlow::Call(None));
        assert_eq!(step(&[0xc3]).flow, OperationFlow::Away);
        assert_eq!(Operation::decode(&[0x0f], 0), None);
    }

    #[test]
    fn vector_registers_have_numbers_of_their_own() {
        // movsd %xmm1,(%rdi)
        assert_eq!(
            step(&[0xf2, 0x0f, 0x11, 0x0f]).operands[0],
            Operand::Register(Some(18))
        );
    }
}
