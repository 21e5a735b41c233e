//! What samples made of hardware trace say beyond recorded ones.

use std::io::Write;
use std::num::NonZeroU8;

use oxperf_session::{Payload, SampleFlags, Traced, TracedCode};

use super::pad;

/// Branches by what they are.
const BRANCHES: [(SampleFlags, &str); 14] = {
    use SampleFlags as F;
    const BRANCH: F = F::BRANCH;
    const CALL: F = F::BRANCH.with(F::CALL);
    const RETURN: F = F::BRANCH.with(F::RETURN);
    [
        (CALL, "call"),
        (RETURN, "return"),
        (BRANCH.with(F::CONDITIONAL), "jcc"),
        (BRANCH, "jmp"),
        (CALL.with(F::INTERRUPT), "int"),
        (RETURN.with(F::INTERRUPT), "iret"),
        (CALL.with(F::SYSCALL), "syscall"),
        (RETURN.with(F::SYSCALL), "sysret"),
        (BRANCH.with(F::ASYNC), "async"),
        (CALL.with(F::ASYNC).with(F::INTERRUPT), "hw int"),
        (BRANCH.with(F::TX_ABORT), "tx abrt"),
        (CALL.with(F::VM_ENTRY), "vmentry"),
        (CALL.with(F::VM_EXIT), "vmexit"),
        (CALL.with(F::ASYNC).with(F::VM_EXIT), "vmexit"),
    ]
};

/// Flags that say in what state the processor was, with their letters.
const STATES: [(SampleFlags, u8); 3] = [
    (SampleFlags::IN_TX, b'x'),
    (SampleFlags::INTERRUPTS_DISABLED, b'D'),
    (SampleFlags::INTERRUPTS_TOGGLED, b't'),
];

const WIDTH: usize = 21;

/// Characters of names where something follows them.
const NAME_WIDTH: usize = 15;

/// Appends what happened, in its column.
pub fn write_flags(flags: SampleFlags, out: &mut Vec<u8>) {
    out.extend_from_slice(b"  ");
    let start = out.len();
    write_kind(flags, out);
    pad(out, (start + WIDTH).saturating_sub(out.len()) + 1);
}

fn write_kind(flags: SampleFlags, out: &mut Vec<u8>) {
    let ends = SampleFlags::TRACE_BEGIN | SampleFlags::TRACE_END;
    let states = STATES
        .iter()
        .fold(SampleFlags::default(), |all, (flag, _)| all | *flag);
    let kind = flags.without(ends).without(states);
    if flags.contains(SampleFlags::TRACE_BEGIN) {
        out.extend_from_slice(b"tr strt ");
    } else if flags.contains(SampleFlags::TRACE_END) {
        out.extend_from_slice(b"tr end  ");
    }
    let start = out.len();
    match BRANCHES.iter().find(|(branch, _)| *branch == kind) {
        Some((_, name)) => out.extend_from_slice(name.as_bytes()),
        None if kind == SampleFlags::default() => {}
        None => {
            let _ = write!(out, "raw flags:{:#x}", flags.0);
            return;
        }
    }
    if flags.meets(states) {
        write_states(flags, start + NAME_WIDTH, out);
    }
}

/// Appends the letters of the states that hold, to the right of their column, which begins at `start`.
fn write_states(flags: SampleFlags, start: usize, out: &mut Vec<u8>) {
    const WIDTH: usize = 6;
    let letters = STATES
        .iter()
        .filter(|(flag, _)| flags.contains(*flag))
        .map(|(_, letter)| *letter);
    let end = start + WIDTH;
    pad(
        out,
        end.saturating_sub(out.len() + 2 + letters.clone().count()),
    );
    out.push(b'(');
    out.extend(letters);
    out.push(b')');
}

/// Appends the instructions per cycle, if cycles were counted.
pub fn write_ipc(traced: &Traced, out: &mut Vec<u8>) {
    if traced.cycles == 0 {
        return;
    }
    // Hundredths, cut.
    let ipc = traced.instructions.saturating_mul(100) / traced.cycles;
    let (instructions, cycles) = (traced.instructions, traced.cycles);
    let _ = write!(
        out,
        " \t IPC: {}.{:02} ({instructions}/{cycles}) ",
        ipc / 100,
        ipc % 100
    );
}

/// Appends the length of an instruction.
pub fn write_length(code: &TracedCode, out: &mut Vec<u8>) {
    let length = code.length.map_or(0, NonZeroU8::get);
    let _ = write!(out, " ilen: {length}");
}

/// Appends the bytes of an instruction.
pub fn write_code(code: &TracedCode, out: &mut Vec<u8>) {
    if let Some(instruction) = code.instruction() {
        out.extend_from_slice(b" insn:");
        push_bytes(instruction, out);
    }
}

/// Appends bytes, each behind a blank.
pub fn push_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.extend_from_slice(&[b' ', hex(byte >> 4), hex(byte & 15)]);
    }
}

fn hex(digit: u8) -> u8 {
    b"0123456789abcdef"[usize::from(digit & 15)]
}

/// Appends what an event says, in its column.
pub fn write_payload(payload: &Payload, out: &mut Vec<u8>) {
    const WIDTH: usize = 34;
    let start = out.len();
    let _ = match *payload {
        Payload::PtWrite { exact, value } => write_ptwrite(exact, value, out),
        Payload::Cbr {
            ratio,
            frequency,
            max_non_turbo,
        } => write!(
            out,
            " cbr: {ratio:2} freq: {:4} MHz ",
            (frequency.saturating_add(500)) / 1000
        )
        .and_then(|()| write_share(ratio, max_non_turbo, out)),
        Payload::Psb { offset: 0 } => write!(out, " psb offs: 0 "),
        Payload::Psb { offset } => write!(out, " psb offs: {offset:#x} "),
        Payload::Mwait { hints, extensions } => {
            write!(
                out,
                " hints: {} extensions: {} ",
                Hex(hints.into()),
                Hex(extensions.into())
            )
        }
        Payload::PowerEntry {
            hardware,
            state,
            sub_state,
        } => {
            write!(
                out,
                " hw: {} cstate: {state} sub-cstate: {sub_state} ",
                u8::from(hardware)
            )
        }
        Payload::ExStop { exact } => write!(out, " IP: {} ", u8::from(exact)),
        Payload::PowerExit {
            deepest,
            last,
            wake_reason,
        } => {
            write!(
                out,
                " deepest cstate: {deepest} last cstate: {last} wake reason: {} ",
                Hex(wake_reason.into())
            )
        }
        Payload::ControlFlow {
            kind,
            vector,
            exact,
            data,
        } => {
            let exact = u8::from(exact);
            write!(
                out,
                " cfe: {} IP: {exact} vector: {vector}",
                Numbered(CONTROL_FLOW, "", kind)
            )
            .and_then(|()| {
                let mut known = data.iter().flatten();
                known.try_for_each(|datum| {
                    write!(
                        out,
                        " {}: {}",
                        Numbered(EVENT_DATA, "EVD_", datum.kind),
                        Hex(datum.value)
                    )
                })
            })
        }
        Payload::InterruptFlag { enabled, by_branch } => {
            let (before, how) = (u8::from(!enabled), if by_branch { "via" } else { "non" });
            write!(out, " IFLAG: {before}->{} {how} branch ", 1 - before)
        }
    };
    pad(out, (start + WIDTH).saturating_sub(out.len()));
}

/// Names of interrupts and the like, by number.
const CONTROL_FLOW: &[&str] = &[
    "",
    "INTR",
    "IRET",
    "SMI",
    "RSM",
    "SIPI",
    "INIT",
    "VMENTRY",
    "VMEXIT",
    "VMEXIT_INTR",
    "SHUTDOWN",
    "",
    "UINTR",
    "UIRET",
];

/// Names of what is told about them, by number.
const EVENT_DATA: &[&str] = &["PFA", "VMXQ", "VMXR"];

/// The name of a number, or the number behind a text.
struct Numbered(&'static [&'static str], &'static str, u8);

impl std::fmt::Display for Numbered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Numbered(names, before, number) = self;
        match names
            .get(usize::from(*number))
            .filter(|name| !name.is_empty())
        {
            Some(name) => f.write_str(name),
            None => write!(f, "{before}{number}"),
        }
    }
}

/// A number that has no `0x` when it is 0.
struct Hex(u64);

impl std::fmt::Display for Hex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == 0 {
            f.write_str("0")
        } else {
            write!(f, "{:#x}", self.0)
        }
    }
}

/// The ratio of the clock to the one without turbo.
fn write_share(ratio: u8, max_non_turbo: u8, out: &mut Vec<u8>) -> std::io::Result<()> {
    if max_non_turbo == 0 {
        return Ok(());
    }
    let percent = (5 + 1000 * u32::from(ratio) / u32::from(max_non_turbo)) / 10;
    write!(out, "({percent:3}%) ")
}

/// Programs like to write text.
fn write_ptwrite(exact: bool, value: u64, out: &mut Vec<u8>) -> std::io::Result<()> {
    let exact = u8::from(exact);
    match value {
        0 => write!(out, " IP: {exact} payload: 0 ")?,
        _ => write!(out, " IP: {exact} payload: {value:#x} ")?,
    }
    let bytes = value.to_le_bytes();
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    let (text, rest) = bytes.split_at(end);
    let is_text = text
        .iter()
        .all(|byte| byte.is_ascii_graphic() || *byte == b' ');
    if end > 0 && is_text && rest.iter().all(|byte| *byte == 0) {
        out.extend_from_slice(text);
        out.push(b' ');
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_session::EventDatum;

    fn text(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn flags_stand_in_a_column() {
        use SampleFlags as F;
        for (flags, expected) in [
            (F::default(), ""),
            (F::BRANCH | F::CALL, "call"),
            (F::BRANCH | F::TRACE_BEGIN, "tr strt jmp"),
            (F::BRANCH | F::ASYNC | F::TRACE_END, "tr end  async"),
            (F::BRANCH | F::CALL | F::ASYNC | F::INTERRUPT, "hw int"),
            (
                F::BRANCH | F::CONDITIONAL | F::IN_TX,
                "jcc               (x)",
            ),
            (
                F::BRANCH | F::INTERRUPTS_DISABLED | F::INTERRUPTS_TOGGLED,
                "jmp              (Dt)",
            ),
            (F::SYSCALL, "raw flags:0x10"),
        ] {
            assert_eq!(
                text(|out| write_flags(flags, out)),
                format!("  {expected:21} ")
            );
        }
    }

    #[test]
    fn payloads() {
        let cbr = Payload::Cbr {
            ratio: 30,
            frequency: 3_000_000,
            max_non_turbo: 24,
        };
        let padded = |text: &str| format!("{text:34}");
        assert_eq!(
            text(|out| write_payload(&cbr, out)),
            padded(" cbr: 30 freq: 3000 MHz (125%) ")
        );
        let psb = |offset| text(|out| write_payload(&Payload::Psb { offset }, out));
        assert_eq!(
            [psb(0), psb(0xa50)],
            [padded(" psb offs: 0 "), padded(" psb offs: 0xa50 ")]
        );
        let value =
            |value| text(|out| write_payload(&Payload::PtWrite { exact: true, value }, out));
        assert_eq!(value(0), padded(" IP: 1 payload: 0 "));
        assert_eq!(
            value(u64::from_le_bytes(*b"hello\0\0\0")),
            padded(" IP: 1 payload: 0x6f6c6c6568 hello ")
        );
        assert_eq!(value(0x1b_6f6c), padded(" IP: 1 payload: 0x1b6f6c "));
        let data = [
            Some(EventDatum {
                kind: 0,
                value: 0x1234,
            }),
            Some(EventDatum { kind: 5, value: 0 }),
            None,
        ];
        let fault = Payload::ControlFlow {
            kind: 1,
            vector: 14,
            exact: true,
            data,
        };
        assert_eq!(
            text(|out| write_payload(&fault, out)),
            " cfe: INTR IP: 1 vector: 14 PFA: 0x1234 EVD_5: 0"
        );
        let flag = Payload::InterruptFlag {
            enabled: false,
            by_branch: true,
        };
        assert_eq!(
            text(|out| write_payload(&flag, out)).trim(),
            "IFLAG: 1->0 via branch"
        );
        let pwrx = Payload::PowerExit {
            deepest: 1,
            last: 2,
            wake_reason: 8,
        };
        assert_eq!(
            text(|out| write_payload(&pwrx, out)),
            " deepest cstate: 1 last cstate: 2 wake reason: 0x8 "
        );
    }

    #[test]
    fn instructions_per_cycle_are_cut() {
        let ipc = |instructions, cycles| {
            text(|out| {
                write_ipc(
                    &Traced {
                        instructions,
                        cycles,
                        ..Traced::default()
                    },
                    out,
                )
            })
        };
        assert_eq!(ipc(50, 445), " \t IPC: 0.11 (50/445) ");
        assert_eq!(ipc(50, 0), "");
    }
}
