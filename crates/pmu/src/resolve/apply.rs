//! Terms of a PMU's event into config words.

use super::event::ResolvedEvent;
use super::sample_terms::{SampleTerms, number, text, value_position};
use crate::SyntaxProblem;
use crate::catalogue::{Alias, Pmu};
use crate::syntax::{EventForm, EventSpec, Term, parse_number, parse_raw};
use crate::sysfs::{BitRanges, ConfigWord};
use oxperf_abi::EventAttr;

/// The event of `pmu` that the terms describe.
pub(super) fn on_pmu(
    pmu: &Pmu<'_>,
    event: &EventSpec,
    terms: &[Term],
) -> Result<ResolvedEvent, SyntaxProblem> {
    let mut target = Target {
        pmu,
        terms,
        event: blank(pmu, event),
    };
    target.event.attr.kind = pmu.kind();
    terms.iter().try_for_each(|term| target.apply(term))?;
    Ok(target.event)
}

/// The event without any config, with those of its terms that every event takes.
pub(super) fn with_sample_terms(
    pmu: &Pmu<'_>,
    event: &EventSpec,
) -> Result<ResolvedEvent, SyntaxProblem> {
    let mut resolved = blank(pmu, event);
    for term in &event.terms {
        if !take_common(&mut resolved, term)? {
            return Err(SyntaxProblem::new(
                term.position,
                format!("unknown term '{}'", term.name),
            ));
        }
    }
    Ok(resolved)
}

fn blank(pmu: &Pmu<'_>, event: &EventSpec) -> ResolvedEvent {
    let plain =
        matches!(event.form, EventForm::Name(_) | EventForm::Raw(_)) && event.terms.is_empty();
    let several = plain && pmu.is_one_of_several_cores();
    let name = if several {
        qualified(pmu, &event.name)
    } else {
        event.name.clone()
    };
    ResolvedEvent {
        cpus: pmu.cpus(),
        ..ResolvedEvent::new(&name, pmu.name())
    }
}

/// `cycles:u` on one of several core PMUs: `cpu_core/cycles/u`.
fn qualified(pmu: &Pmu<'_>, name: &str) -> String {
    let (event, modifiers) = name.split_once(':').unwrap_or((name, ""));
    format!("{}/{event}/{modifiers}", pmu.name())
}

/// Takes in a name or a sampling term; false if the term is neither.
fn take_common(resolved: &mut ResolvedEvent, term: &Term) -> Result<bool, SyntaxProblem> {
    if term.name == "name" {
        resolved.name = text(term)?.to_owned();
        return Ok(true);
    }
    resolved.terms.take(term)
}

struct Target<'a> {
    pmu: &'a Pmu<'a>,
    /// All terms as written: values for the parameters of a named event.
    terms: &'a [Term],
    event: ResolvedEvent,
}

impl Target<'_> {
    fn apply(&mut self, term: &Term) -> Result<(), SyntaxProblem> {
        if let Some(word) = ConfigWord::named(&term.name) {
            *word_of(&mut self.event.attr, word) = number(term)?;
        } else if let Some(ranges) = self.pmu.format(&term.name) {
            self.set_format(
                &term.name,
                &ranges,
                format_value(term, &ranges)?,
                value_position(term),
            )?;
        } else if !take_common(&mut self.event, term)? {
            self.apply_event_name(term)?;
        }
        Ok(())
    }

    /// A term without value that is an event of this PMU, or a raw code.
    fn apply_event_name(&mut self, term: &Term) -> Result<(), SyntaxProblem> {
        if term.value.is_some() {
            return Err(self.unknown(term));
        }
        let raw_digits = term.name.replacen("r0x", "r", 1);
        if let Some(alias) = self.pmu.alias(&term.name) {
            self.apply_alias(&alias, term)
        } else if let Some((kind, config)) = self.pmu.generic(&term.name) {
            self.event.attr.kind = kind;
            self.event.attr.config |= config;
            self.event.set_unit_of_clock();
            Ok(())
        } else if let Some(config) = parse_raw(&raw_digits) {
            self.event.attr.config = config;
            Ok(())
        } else {
            Err(self.unknown(term))
        }
    }

    fn apply_alias(&mut self, alias: &Alias, term: &Term) -> Result<(), SyntaxProblem> {
        self.event.unit.clone_from(&alias.unit);
        self.event.scale = alias.scale;
        self.event.per_package = alias.per_package;
        alias
            .terms
            .trim()
            .split(',')
            .try_for_each(|part| self.apply_alias_term(part.trim(), term))
    }

    /// One `name=value` of the kernel's own text; `?` stands for a value that the user's terms must give.
    fn apply_alias_term(&mut self, part: &str, term: &Term) -> Result<(), SyntaxProblem> {
        let wrong = || {
            SyntaxProblem::new(
                term.position,
                format!("cannot read '{part}' of event '{}'", term.name),
            )
        };
        let (name, value) = part.split_once('=').unwrap_or((part, "1"));
        let value = match value {
            "?" => self.parameter(name, term)?,
            value => parse_number(value).ok_or_else(wrong)?,
        };
        if name == "period" {
            self.event.table_period = Some(value);
            return Ok(());
        }
        if let Some(word) = ConfigWord::named(name) {
            *word_of(&mut self.event.attr, word) = value;
            return Ok(());
        }
        let ranges = self.pmu.format(name).ok_or_else(wrong)?;
        self.set_format(name, &ranges, value, term.position)
    }

    fn parameter(&self, name: &str, term: &Term) -> Result<u64, SyntaxProblem> {
        let missing = || {
            SyntaxProblem::new(
                term.position,
                format!("event '{}' needs a value for '{name}'", term.name),
            )
        };
        let given = self
            .terms
            .iter()
            .find(|term| term.name == name && term.value.is_some());
        number(given.ok_or_else(missing)?)
    }

    /// Adds a value to the bits of a format. Bits that an earlier term set stay set, as in perf: `ldlat=30` given
    /// beside an event that says `ldlat=3` makes 31.
    fn set_format(
        &mut self,
        name: &str,
        ranges: &BitRanges,
        value: u64,
        position: usize,
    ) -> Result<(), SyntaxProblem> {
        let too_big = || {
            let maximum = ranges.maximum();
            SyntaxProblem::new(
                position,
                format!("value too big for format ({name}), maximum is {maximum}"),
            )
        };
        *word_of(&mut self.event.attr, ranges.word) |= ranges.pack(value).ok_or_else(too_big)?;
        Ok(())
    }

    fn unknown(&self, term: &Term) -> SyntaxProblem {
        const WORDS: [&str; 6] = ["config", "config1", "config2", "config3", "config4", "name"];
        let formats = self.pmu.formats();
        let names = formats
            .iter()
            .map(String::as_str)
            .chain(WORDS)
            .chain(SampleTerms::NAMES);
        SyntaxProblem::new(
            term.position,
            format!("unknown term '{}' for pmu '{}'", term.name, self.pmu.name()),
        )
        .with_help(format!(
            "valid terms: {}",
            names.collect::<Vec<_>>().join(",")
        ))
    }
}

/// A format's value; a bare name means 1 where only 1 fits.
fn format_value(term: &Term, ranges: &BitRanges) -> Result<u64, SyntaxProblem> {
    match term.value {
        Some(_) => number(term),
        None if ranges.maximum() == 1 => Ok(1),
        None => Err(SyntaxProblem::new(
            term.position,
            "no value assigned for term",
        )),
    }
}

fn word_of(attr: &mut EventAttr, word: ConfigWord) -> &mut u64 {
    match word {
        ConfigWord::Config => &mut attr.config,
        ConfigWord::Config1 => &mut attr.config1,
        ConfigWord::Config2 => &mut attr.config2,
        ConfigWord::Config3 => &mut attr.config3,
        ConfigWord::Config4 => &mut attr.config4,
    }
}
