//! The language of `--itrace`: letters, some with values.
//!
//! ```text
//! i[N[unit]] y[N[unit]]   unit i, t, ms, us or ns; a number without unit ends the text and means ns
//! g[N] G[N] l[N] L[N]     1 to 1024
//! sN                      a number must follow
//! e[+-x]... d[+-x]...     one small letter behind each sign
//! b c r x w p o I q A Z   alone; f m t M a T mean something to other kinds of trace only
//! ```

use thiserror::Error;

use super::{ItraceOptions, Letters, StackSelection, SynthPeriod};

/// A text that is not of the language; perf's words.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("Bad Instruction Tracing options '{0}'")]
pub struct OptionsError(String);

impl ItraceOptions {
    /// Reads the value of `--itrace`.
    ///
    /// # Errors
    /// A letter is not known, a value is missing or too large, or a number has no unit.
    pub fn parse(text: &str) -> Result<ItraceOptions, OptionsError> {
        let mut parser = Parser {
            rest: text.as_bytes(),
            period: None,
            options: ItraceOptions::NOTHING,
        };
        while let Some(letter) = parser.take() {
            parser
                .letter(letter)
                .ok_or_else(|| OptionsError(text.to_owned()))?;
        }
        let period = parser.period.unwrap_or(SynthPeriod::DEFAULT);
        Ok(ItraceOptions {
            period,
            ..parser.options
        })
    }
}

/// Letters by their sign.
#[derive(Default)]
struct SignedLetters {
    plus: Letters,
    minus: Letters,
}

struct Parser<'a> {
    rest: &'a [u8],
    period: Option<SynthPeriod>,
    options: ItraceOptions,
}

impl Parser<'_> {
    fn take(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Follows one letter; `None` when it cannot be.
    fn letter(&mut self, letter: u8) -> Option<()> {
        let options = &mut self.options;
        match letter {
            b'i' => options.events.instructions = true,
            b'y' => options.events.cycles = true,
            b'b' => options.events.branches = true,
            b'c' => (options.events.branches, options.events.calls) = (true, true),
            b'r' => (options.events.branches, options.events.returns) = (true, true),
            b'x' => options.events.transactions = true,
            b'w' => options.events.ptwrites = true,
            b'p' => options.events.power = true,
            b'o' => options.events.other_events = true,
            b'I' => options.events.interrupts = true,
            b'e' => options.errors.shown = true,
            b'd' => options.log.written = true,
            b'g' => options.stacks.callchain = true,
            b'G' => options.stacks.add_callchain = true,
            b'l' => options.stacks.last_branch = true,
            b'L' => options.stacks.add_last_branch = true,
            b'q' => options.quick += 1,
            b'A' => options.approximate_ipc = true,
            b'Z' => options.timeless = true,
            b's' | b'f' | b'm' | b't' | b'M' | b'a' | b'T' | b' ' | b',' => {}
            _ => return None,
        }
        self.value(letter)
    }

    /// Reads what may stand behind a letter.
    fn value(&mut self, letter: u8) -> Option<()> {
        match letter {
            b'i' | b'y' => self.period()?,
            b'g' | b'G' => self.options.stacks.callchain_size = self.entries()?.unwrap_or(16),
            b'l' | b'L' => self.options.stacks.last_branch_size = self.entries()?.unwrap_or(64),
            b's' => self.options.skip = self.skip()?,
            b'e' => self.options.errors.without = self.signed()?.minus,
            b'd' => {
                let letters = self.signed()?;
                (self.options.log.with, self.options.log.without) = (letters.plus, letters.minus);
            }
            _ => {}
        }
        Some(())
    }

    fn pass_over(&mut self, fillers: &[u8]) {
        let count = self
            .rest
            .iter()
            .take_while(|byte| fillers.contains(byte))
            .count();
        self.rest = &self.rest[count..];
    }

    /// A number, if one comes; the largest there is for one that is too large.
    fn number(&mut self) -> Option<u64> {
        let count = self
            .rest
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        let digit = |byte: &u8| u64::from(byte - b'0');
        let value = |sum: u64, byte| sum.checked_mul(10)?.checked_add(digit(byte));
        (count > 0).then(|| digits.iter().try_fold(0, value).unwrap_or(u64::MAX))
    }

    fn period(&mut self) -> Option<()> {
        self.pass_over(b" ,");
        let Some(number) = self.number() else {
            return Some(());
        };
        self.pass_over(b" ,");
        let scale = match self.take() {
            None => 1,
            Some(b'i') => return self.set_period(SynthPeriod::Instructions(number)),
            Some(b't') => return self.set_period(SynthPeriod::Ticks(number)),
            Some(unit) => self.seconds(unit)?,
        };
        self.set_period(SynthPeriod::Nanoseconds(number.wrapping_mul(scale)))
    }

    /// Nanoseconds of a unit of which the first letter is known.
    fn seconds(&mut self, first: u8) -> Option<u64> {
        let scale = match first {
            b'm' => 1_000_000,
            b'u' => 1_000,
            b'n' => 1,
            _ => return None,
        };
        (self.take() == Some(b's')).then_some(scale)
    }

    fn set_period(&mut self, period: SynthPeriod) -> Option<()> {
        self.period = Some(period);
        Some(())
    }

    fn entries(&mut self) -> Option<Option<usize>> {
        self.pass_over(b" ,");
        let Some(number) = self.number() else {
            return Some(None);
        };
        let number = usize::try_from(number).ok()?;
        (1..=StackSelection::MAX_ENTRIES)
            .contains(&number)
            .then_some(Some(number))
    }

    /// A number that may have a sign: below zero is very many.
    fn skip(&mut self) -> Option<u64> {
        self.pass_over(b" \t");
        let sign = self
            .rest
            .first()
            .copied()
            .filter(|byte| b"+-".contains(byte));
        self.rest = &self.rest[usize::from(sign.is_some())..];
        let number = self.number()?;
        Some(if sign == Some(b'-') {
            number.wrapping_neg()
        } else {
            number
        })
    }

    /// Letters behind `+` and behind `-`.
    fn signed(&mut self) -> Option<SignedLetters> {
        let mut letters = SignedLetters::default();
        loop {
            self.pass_over(b" ");
            let set = match self.rest.first() {
                Some(b'+') => &mut letters.plus,
                Some(b'-') => &mut letters.minus,
                _ => return Some(letters),
            };
            self.rest = &self.rest[1..];
            let blanks = self.rest.iter().take_while(|byte| **byte == b' ').count();
            let letter = *self
                .rest
                .get(blanks)
                .filter(|byte| byte.is_ascii_lowercase())?;
            set.insert(char::from(letter));
            self.rest = &self.rest[blanks + 1..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::EventSelection;

    fn parsed(text: &str) -> ItraceOptions {
        ItraceOptions::parse(text).unwrap()
    }

    #[test]
    fn periods_have_units() {
        let period = |text| parsed(text).period;
        for text in [
            "i100us", "i 100 us", "i,100,us", "i", "y", "i100000", "i100000 ", "b",
        ] {
            assert_eq!(period(text), SynthPeriod::Nanoseconds(100_000), "{text}");
        }
        assert_eq!(period("i10t"), SynthPeriod::Ticks(10));
        assert_eq!(period("y5ii3ms"), SynthPeriod::Nanoseconds(3_000_000));
        assert_eq!(period("i10,i"), SynthPeriod::Instructions(10));
        assert_eq!(
            period("i18446744073709551616i"),
            SynthPeriod::Instructions(u64::MAX)
        );
    }

    #[test]
    fn what_perf_refuses_is_refused() {
        for text in [
            "X", "zz", "i100b", "i1e", "i100m", "i1.5us", "i100iu", "i10 b", "i10n s", "i10s",
            "i+10", "i10us5", "g0", "l0", "g1025", "g 2000", "s", "s,5", "e-", "e+", "e-O", "e-1",
            "e-o+", ":", "-", "\tb",
        ] {
            let error = ItraceOptions::parse(text).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("Bad Instruction Tracing options '{text}'")
            );
        }
    }

    #[test]
    fn signs_take_one_letter() {
        let options = parsed("e-ol");
        assert!(options.errors.shown && options.stacks.last_branch);
        assert!(options.errors.without.contains('o') && !options.errors.without.contains('l'));
        let options = parsed("e -o - ld+e+o");
        assert!(options.errors.without.contains('l'));
        assert!(
            options.log.with.contains('e')
                && options.log.with.contains('o')
                && !options.stacks.last_branch
        );
    }

    #[test]
    fn letters_add_up() {
        let options = parsed("crg,32l8qqs5AZ");
        assert!(
            options.events.branches
                && options.events.calls
                && options.events.returns
                && options.stacks.callchain
        );
        assert_eq!(
            (
                options.stacks.callchain_size,
                options.stacks.last_branch_size
            ),
            (32, 8)
        );
        assert_eq!((options.quick, options.skip), (2, 5));
        assert!(options.approximate_ipc && options.timeless && !options.stacks.add_callchain);
        assert_eq!(parsed("s-1").skip, u64::MAX);
        assert_eq!(parsed(""), ItraceOptions::NOTHING);
        let calls = parsed(ItraceOptions::SCRIPT_LETTERS);
        assert_eq!(
            calls,
            ItraceOptions {
                period: SynthPeriod::DEFAULT,
                ..ItraceOptions::SCRIPT
            }
        );
        let report = ItraceOptions::REPORT;
        assert_eq!(
            parsed(ItraceOptions::ALL_LETTERS),
            ItraceOptions {
                events: EventSelection {
                    branches: true,
                    ..report.events
                },
                stacks: StackSelection::NONE,
                ..report
            }
        );
    }
}
