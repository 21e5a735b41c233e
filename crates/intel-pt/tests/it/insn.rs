//! Instructions beside iced-x86: random bytes in every mode, and the code of real programs.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::path::{Path, PathBuf};

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic};
use intel_pt::insn::{Class, classify};
use intel_pt::packet::ExecMode;
use object::{Object, ObjectSection, SectionKind};

const MODES: [ExecMode; 3] = [ExecMode::Bits16, ExecMode::Bits32, ExecMode::Bits64];

/// The instruction at the beginning of `bytes`, as iced has it, unless it is none.
fn theirs(bytes: &[u8], mode: ExecMode) -> Option<Instruction> {
    let bits = match mode {
        ExecMode::Bits16 => 16,
        ExecMode::Bits32 => 32,
        ExecMode::Bits64 => 64,
    };
    let instruction = Decoder::with_ip(bits, bytes, IP, DecoderOptions::NONE).decode();
    (!instruction.is_invalid()).then_some(instruction)
}

/// The address of the instructions; far from where 16 bits would cut a target off.
const IP: u64 = 0x4000;

fn their_class(instruction: &Instruction) -> Class {
    let far = instruction.is_jmp_far() || instruction.is_call_far();
    match instruction.mnemonic() {
        Mnemonic::Loop | Mnemonic::Loope | Mnemonic::Loopne => return Class::Loop,
        Mnemonic::Iret | Mnemonic::Iretd | Mnemonic::Iretq | Mnemonic::Uiret => {
            return Class::InterruptReturn;
        }
        Mnemonic::Sysret | Mnemonic::Sysretq | Mnemonic::Sysexit | Mnemonic::Sysexitq => {
            return Class::SysReturn;
        }
        Mnemonic::Syscall | Mnemonic::Sysenter => return Class::Syscall,
        Mnemonic::Vmlaunch | Mnemonic::Vmresume => return Class::VmEntry,
        Mnemonic::Erets => return Class::EventReturnSupervisor,
        Mnemonic::Eretu => return Class::EventReturnUser,
        Mnemonic::Ptwrite => return Class::PtWrite,
        // Events for a supervisor that the trace does not show as branches; jumps of other processors.
        Mnemonic::Rsm | Mnemonic::Vmcall | Mnemonic::Vmmcall | Mnemonic::Vmgexit => {
            return Class::Other;
        }
        Mnemonic::Jmpe
        | Mnemonic::Vmrun
        | Mnemonic::Skinit
        | Mnemonic::Tdcall
        | Mnemonic::Seamcall => {
            return Class::Other;
        }
        Mnemonic::Seamret | Mnemonic::Seamops => return Class::Other,
        _ => {}
    }
    match instruction.flow_control() {
        FlowControl::UnconditionalBranch if far => Class::JumpIndirect,
        FlowControl::UnconditionalBranch => Class::Jump,
        FlowControl::IndirectBranch => Class::JumpIndirect,
        FlowControl::ConditionalBranch => Class::Conditional,
        FlowControl::Return => Class::Return,
        FlowControl::Call if far => Class::CallIndirect,
        FlowControl::Call => Class::Call,
        FlowControl::IndirectCall => Class::CallIndirect,
        FlowControl::Interrupt => Class::Interrupt,
        FlowControl::Next | FlowControl::XbeginXabortXend | FlowControl::Exception => Class::Other,
    }
}

/// Compares one instruction; what iced refuses is left out, and `None`.
fn compare(bytes: &[u8], mode: ExecMode) -> Option<usize> {
    let theirs = theirs(bytes, mode)?;
    let shown = || format!("{:?} {theirs:?} {:02x?}", mode, &bytes[..theirs.len()]);
    let ours = classify(bytes, mode).unwrap_or_else(|| panic!("none: {}", shown()));
    assert_eq!(
        usize::from(ours.length),
        theirs.len(),
        "length of {}",
        shown()
    );
    assert_eq!(ours.class, their_class(&theirs), "class of {}", shown());
    if matches!(
        ours.class,
        Class::Jump | Class::Call | Class::Conditional | Class::Loop
    ) {
        let target = (IP + u64::from(ours.length)).wrapping_add_signed(ours.relative.into());
        let size = theirs.op0_kind();
        let mask = match size {
            iced_x86::OpKind::NearBranch16 => 0xffff,
            iced_x86::OpKind::NearBranch32 => 0xffff_ffff,
            _ => u64::MAX,
        };
        assert_eq!(
            target & mask,
            theirs.near_branch_target(),
            "target of {}",
            shown()
        );
    }
    Some(theirs.len())
}

/// Numbers without a pattern, the same ones every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn byte(&mut self) -> u8 {
        (self.next() >> 56) as u8
    }

    fn one_of<const N: usize>(&mut self, choices: [&'static [u8]; N]) -> &'static [u8] {
        choices[usize::from(self.byte()) % N]
    }
}

/// Random bytes behind some prefixes and an escape, so that every map is met.
fn instruction(random: &mut Random) -> Vec<u8> {
    const PREFIXES: [&[u8]; 12] = [
        &[],
        &[],
        &[],
        &[],
        &[0x66],
        &[0x67],
        &[0xf2],
        &[0xf3],
        &[0x48],
        &[0x41],
        &[0x2e],
        &[0x66, 0x67],
    ];
    const ESCAPES: [&[u8]; 12] = [
        &[],
        &[],
        &[0x0f],
        &[0x0f],
        &[0x0f, 0x38],
        &[0x0f, 0x3a],
        &[0xc5],
        &[0xc4],
        &[0x62],
        &[0x8f],
        &[0xff],
        &[0x0f, 0x01],
    ];
    let mut bytes = random.one_of(PREFIXES).to_vec();
    bytes.extend(random.one_of(PREFIXES));
    bytes.extend(random.one_of(ESCAPES));
    bytes.extend((0..16).map(|_| random.byte()));
    bytes
}

#[test]
fn random_bytes() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut compared = [0; 3];
    for _ in 0..300_000 {
        let bytes = instruction(&mut random);
        for (mode, count) in MODES.into_iter().zip(&mut compared) {
            *count += usize::from(compare(&bytes, mode).is_some());
        }
    }
    assert!(
        compared.iter().all(|count| *count > 100_000),
        "too few instructions among them: {compared:?}"
    );
}

#[test]
fn real_programs() {
    let shared = std::env::var_os("OXPERF_SHARED")
        .map_or_else(|| PathBuf::from("../../../shared"), PathBuf::from);
    let folder = shared.join("fixtures/pt/_symfs/_files");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("SKIPPED: there is no {}", folder.display());
        return;
    };
    let compared: usize = entries
        .map(|entry| compare_program(&entry.unwrap().path()))
        .sum();
    assert!(compared > 100_000, "only {compared} instructions");
}

/// Compares all instructions of `program` one after the other; how many there were.
fn compare_program(program: &Path) -> usize {
    let bytes = std::fs::read(program).unwrap();
    let Ok(object) = object::File::parse(&*bytes) else {
        return 0;
    };
    let mode = if object.is_64() {
        ExecMode::Bits64
    } else {
        ExecMode::Bits32
    };
    let texts = object
        .sections()
        .filter(|section| section.kind() == SectionKind::Text);
    texts
        .map(|text| compare_all(text.data().unwrap(), mode))
        .sum()
}

fn compare_all(mut text: &[u8], mode: ExecMode) -> usize {
    let mut compared = 0;
    while !text.is_empty() {
        let length = compare(text, mode);
        compared += usize::from(length.is_some());
        text = &text[length.unwrap_or(1)..];
    }
    compared
}
