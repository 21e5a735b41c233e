//! The letters after an event or a group.

use super::scanner::Scanner;
use crate::SyntaxProblem;

/// The modifiers that the letters ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Modifiers {
    /// `u`: user mode.
    pub user: bool,
    /// `k`: the kernel.
    pub kernel: bool,
    /// `h`: the hypervisor.
    pub hypervisor: bool,
    /// `G`: guests.
    pub guest: bool,
    /// `H`: the host.
    pub host: bool,
    /// `p`, `pp`, `ppp`: how precise, 0 to 3.
    pub precise: u8,
    /// `P`: as precise as possible.
    pub max_precise: bool,
    /// `I`: not when idle.
    pub exclude_idle: bool,
    /// `S`: the leader samples, the members are read.
    pub sample_read: bool,
    /// `D`: always on the PMU.
    pub pinned: bool,
    /// `e`: alone on the PMU.
    pub exclusive: bool,
    /// `W`: a group that may be taken apart when it does not fit.
    pub weak: bool,
    /// `X`: a group that must not be rearranged.
    pub keep_order: bool,
    /// `b`: counted by a BPF program.
    pub bpf: bool,
    /// `R`: with the latency of retirement.
    pub retire_latency: bool,
}

/// The highest precision.
pub(crate) const MAX_PRECISE: u8 = 3;

impl Modifiers {
    /// Returns whether the text can only be modifiers.
    pub(super) fn is_letters(text: &str) -> bool {
        text.bytes().all(|byte| b"ukhGHpPISDeWXbR".contains(&byte))
    }

    /// Takes in one letter.
    fn add(&mut self, letter: char, position: usize) -> Result<(), SyntaxProblem> {
        let (flag, meaning) = match letter {
            'p' => return self.add_precise(position),
            'u' => (&mut self.user, "user"),
            'k' => (&mut self.kernel, "kernel"),
            'h' => (&mut self.hypervisor, "hypervisor"),
            'G' => (&mut self.guest, "guest"),
            'H' => (&mut self.host, "host"),
            'P' => (&mut self.max_precise, "precise_max"),
            'I' => (&mut self.exclude_idle, "non_idle"),
            'S' => (&mut self.sample_read, "sample_read"),
            'D' => (&mut self.pinned, "pinned"),
            'e' => (&mut self.exclusive, "exclusive"),
            'W' => (&mut self.weak, "weak"),
            'X' => (&mut self.keep_order, "dont_regroup"),
            'b' => (&mut self.bpf, "bpf"),
            'R' => (&mut self.retire_latency, "retire_lat"),
            _ => return Err(SyntaxProblem::unrecognized(position)),
        };
        if std::mem::replace(flag, true) {
            return Err(SyntaxProblem::new(
                position,
                format!("Duplicate modifier '{letter}' ({meaning})"),
            ));
        }
        Ok(())
    }

    fn add_precise(&mut self, position: usize) -> Result<(), SyntaxProblem> {
        if self.precise == MAX_PRECISE {
            return Err(SyntaxProblem::new(
                position,
                format!("Maximum precise value is {MAX_PRECISE}"),
            ));
        }
        self.precise += 1;
        Ok(())
    }
}

/// The letters that follow a group's colon, and where they begin: at least one.
pub(super) fn group_modifiers(
    scanner: &mut Scanner<'_>,
) -> Result<(usize, Modifiers), SyntaxProblem> {
    let before = scanner.clone();
    let found = letters(scanner)?;
    if scanner.position() == before.position() {
        return Err(before.unexpected());
    }
    Ok(found)
}

/// Modifier letters, and where they begin.
fn letters(scanner: &mut Scanner<'_>) -> Result<(usize, Modifiers), SyntaxProblem> {
    let before = scanner.clone();
    let position = before.position();
    let letters = scanner.take_while(|char| char.is_ascii_alphanumeric());
    if !Modifiers::is_letters(letters) {
        return Err(before.unexpected());
    }
    let mut modifiers = Modifiers::default();
    letters
        .chars()
        .zip(position..)
        .try_for_each(|(letter, at)| modifiers.add(letter, at))?;
    Ok((position, modifiers))
}

/// The letters that follow an event: as a group's, but without those that make sense for groups alone.
pub(super) fn event_modifiers(scanner: &mut Scanner<'_>) -> Result<Modifiers, SyntaxProblem> {
    let letters_ahead = scanner
        .clone()
        .take_while(|char| char.is_ascii_alphanumeric());
    let (position, modifiers) = letters(scanner)?;
    match letters_ahead.find('W') {
        Some(at) => Err(SyntaxProblem::new(
            position + at,
            "Weak modifier is for use with groups",
        )),
        None => Ok(modifiers),
    }
}
