//! The choice of instructions to sample, where the last sample is not known yet: for each state that is possible.

use super::Sampler;
use crate::config::Period;

/// Some of the states that were possible where decoding began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choices(u8);

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice(u8);

impl Choices {
    /// All of them.
    pub const ALL: Choices = Choices(u8::MAX);

    /// True if a choice is among them.
    #[inline]
    pub const fn contain(self, choice: Choice) -> bool {
        self.0 >> choice.0 & 1 == 1
    }

    /// Adds others; true.
    fn add(&mut self, more: Choices) -> bool {
        self.0 |= more.0;
        true
    }
}

/// All states that are possible, and for which of the first ones.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Samplers {
    all: Vec<(Sampler, Choices)>,
    /// Before this time nothing is sampled, if fewer instructions run at once than `span`.
    quiet: u64,
    span: u64,
}

impl Samplers {
    /// The state at the beginning of a trace.
    pub(crate) fn new(period: Option<Period>) -> Samplers {
        Samplers::of(vec![(Sampler::new(period), Choices(1))])
    }

    fn of(all: Vec<(Sampler, Choices)>) -> Samplers {
        let mut samplers = Samplers {
            all,
            quiet: 0,
            span: 0,
        };
        samplers.settle();
        samplers
    }

    /// The states that may hold at `now` by a decoder that went on from here.
    pub(crate) fn guesses(&self, now: u64) -> Samplers {
        let guesses = self
            .all
            .iter()
            .take(1)
            .flat_map(|(sampler, _)| sampler.guesses(now));
        Samplers::of(
            (0..)
                .zip(guesses)
                .map(|(number, guess)| (guess, Choices(1 << number)))
                .collect(),
        )
    }

    /// The one of these guesses, made for `now`, that `known` knows for certain.
    pub(crate) fn choice(&self, known: &Samplers, now: u64) -> Option<Choice> {
        let [(known, _)] = known.all[..] else {
            return None;
        };
        let number = self
            .all
            .iter()
            .position(|(guess, _)| known.is_like(guess, now))?;
        Some(Choice(self.all[number].1.0.trailing_zeros() as u8))
    }

    /// The state when a choice was the right one.
    pub(crate) fn chosen(&self, choice: Choice) -> Samplers {
        let chosen = self
            .all
            .iter()
            .filter(|(_, choices)| choices.contain(choice));
        Samplers::of(chosen.map(|(sampler, _)| (*sampler, Choices(1))).collect())
    }

    /// These samplers where so many instructions ran since the beginning, if samples go by number.
    pub(crate) fn behind(&self, instructions: u64) -> Samplers {
        Samplers::of(
            self.all
                .iter()
                .map(|(sampler, choices)| (sampler.behind(instructions), *choices))
                .collect(),
        )
    }

    /// True if samples go by time.
    pub(crate) fn go_by_time(&self) -> bool {
        matches!(self.all.first(), Some((Sampler::Ticks(_), _)))
    }

    /// True if it is clear at `now` that the next so many instructions are not sampled.
    #[inline]
    pub(crate) fn are_quiet(&self, now: u64, instructions: u64) -> bool {
        instructions < self.span && now.saturating_add(instructions) < self.quiet
    }

    /// Instructions from here to the next sample: at least 1. Samplers choose when a path is passed to them,
    /// once for each path: asking leaves them as they are.
    #[inline]
    pub(crate) fn distance(&self, now: u64) -> u64 {
        let distance = self
            .all
            .iter()
            .map(|&(mut sampler, _)| sampler.distance(now))
            .min();
        distance.unwrap_or(u64::MAX)
    }

    /// So many instructions ran from `start` on, fewer than to the next sample.
    #[inline]
    pub(crate) fn pass(&mut self, start: u64, instructions: u64) {
        for (sampler, _) in &mut self.all {
            sampler.distance(start);
            sampler.pass(instructions);
        }
        self.settle();
    }

    /// Instructions ran from `start` on, in pieces: lists those that are sampled by their numbers.
    pub(crate) fn sample(
        &mut self,
        start: u64,
        pieces: &[u64],
        count: u64,
        sampled: &mut Vec<(u64, Choices)>,
    ) {
        for (sampler, choices) in &mut self.all {
            sampler.sample(start, pieces, count, |number| {
                sampled.push((number, *choices))
            });
        }
        if self.all.len() > 1 {
            sampled.sort_unstable_by_key(|(number, _)| *number);
            sampled.dedup_by(|later, kept| later.0 == kept.0 && kept.1.add(later.1));
        }
        self.settle();
    }

    /// Tracing stopped.
    pub(crate) fn interrupt(&mut self) {
        self.all
            .iter_mut()
            .for_each(|(sampler, _)| sampler.interrupt());
        self.settle();
    }

    /// From where states are the same they stay the same.
    fn settle(&mut self) {
        let mut kept = 0;
        while let Some(&(sampler, _)) = self.all.get(kept) {
            let (all, more) = self.all.split_at_mut(kept + 1);
            more.iter()
                .filter(|same| same.0 == sampler)
                .for_each(|same| _ = all[kept].1.add(same.1));
            let mut number = 0;
            self.all.retain(|other| {
                number += 1;
                number <= kept + 1 || other.0 != sampler
            });
            kept += 1;
        }
        let quiet = self.all.iter().map(|(sampler, _)| sampler.quiet());
        (self.quiet, self.span) = quiet
            .reduce(|one, other| one.min(other))
            .unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of code: when each begins, and its instructions.
    fn runs() -> Vec<(u64, u64)> {
        let mut now = 5000;
        let mut runs = Vec::new();
        for number in 0..400u64 {
            runs.push((now, 1 + number * 7 % 40));
            now += number * 13 % 90;
        }
        runs
    }

    fn sampled(samplers: &mut Samplers, runs: &[(u64, u64)]) -> Vec<(usize, u64, Choices)> {
        let (mut all, mut some) = (Vec::new(), Vec::new());
        for (number, &(start, count)) in runs.iter().enumerate() {
            if number == 200 {
                samplers.interrupt();
            }
            if samplers.are_quiet(start, count) {
                continue;
            }
            if samplers.distance(start) > count {
                samplers.pass(start, count);
                continue;
            }
            some.clear();
            samplers.sample(start, &[count], count, &mut some);
            all.extend(some.iter().map(|&(at, choices)| (number, at, choices)));
        }
        all
    }

    #[test]
    fn the_right_guess_samples_what_is_sampled_without_guessing() {
        for period in [64, 256, 1024] {
            let mut known = Samplers::new(Some(Period::Ticks(period)));
            let runs = runs();
            for cut in [1, 30, 150, 210] {
                let mut certain = known.clone();
                sampled(&mut certain, &runs[..cut]);
                let now = runs[cut].0;
                let mut guessed = known.guesses(now);
                let choice = guessed.choice(&certain, now).unwrap();
                let rest = &runs[cut..];
                let expected = sampled(&mut certain, rest);
                let found = sampled(&mut guessed, rest);
                let found = found
                    .into_iter()
                    .filter(|(_, _, choices)| choices.contain(choice));
                let places = |list: Vec<(usize, u64, Choices)>| -> Vec<_> {
                    list.into_iter()
                        .map(|(number, at, _)| (number, at))
                        .collect()
                };
                assert!(!expected.is_empty());
                assert_eq!(places(found.collect()), places(expected));
                assert_eq!(guessed.chosen(choice), certain);
            }
            known.interrupt();
        }
    }

    #[test]
    fn short_cuts_sample_what_a_sampler_does() {
        for period in [64, 256, 1024] {
            let mut alone = Sampler::new(Some(Period::Ticks(period)));
            let mut expected = Vec::new();
            for (number, &(start, count)) in runs().iter().enumerate() {
                if number == 200 {
                    alone.interrupt();
                }
                alone.sample(start, &[count], count, |at| expected.push((number, at)));
            }
            let found = sampled(&mut Samplers::new(Some(Period::Ticks(period))), &runs());
            assert_eq!(
                found
                    .iter()
                    .map(|&(number, at, _)| (number, at))
                    .collect::<Vec<_>>(),
                expected
            );
        }
    }

    #[test]
    fn what_ran_before_decides_who_is_next_by_number() {
        let mut known = Samplers::new(Some(Period::Instructions(100)));
        let runs = runs();
        let cut = 50;
        let mut certain = known.clone();
        sampled(&mut certain, &runs[..cut]);
        let ran: u64 = runs[..cut].iter().map(|(_, count)| count).sum();
        let predicted = known.guesses(runs[cut].0).behind(ran);
        assert_eq!(predicted, certain);
        assert!(predicted.choice(&certain, runs[cut].0).is_some());
        assert_eq!(known.behind(1).choice(&certain, runs[cut].0), None);
        known = certain;
        assert!(!sampled(&mut known, &runs[cut..]).is_empty());
    }

    #[test]
    fn who_takes_every_instruction_has_one_choice() {
        let every = Samplers::new(Some(Period::Instructions(1)));
        let guesses = every.guesses(77);
        assert_eq!(guesses.choice(&every, 77), Some(Choice(0)));
        assert_eq!(guesses.all.len(), 1);
    }
}
