//! Terms of a PMU's event into config words.

use super::cpus::wanted_cpus;
use super::event::ResolvedEvent;
use super::legacy;
use super::metric_id::{self, ShownName};
use super::sample_terms::SampleTerms;
use super::unknown_bits::unknown_bits;
use super::value::{number, number_or_one, text, value_position};
use crate::SyntaxProblem;
use crate::catalogue::{Alias, Pmu};
use crate::near;
use crate::syntax::{EventForm, EventSpec, Term, parse_number, parse_raw_term};
use crate::sysfs::{BitRanges, ConfigWord};
use oxperf_abi::{EventAttr, EventType};

/// The event of `pmu` that the terms describe.
pub(super) fn on_pmu(
    pmu: &Pmu<'_>,
    event: &EventSpec<'_>,
    terms: &[Term<'_>],
) -> Result<ResolvedEvent, SyntaxProblem> {
    let mut target = Target {
        pmu,
        terms,
        event: blank(pmu, event),
        is_named: false,
    };
    target.event.attr.kind = pmu.kind();
    target.apply_all()?;
    let mut resolved = target.event;
    resolved.unknown_bits = unknown_bits(pmu, &resolved.attr);
    Ok(resolved)
}

/// The event without any config, with those of its terms that every event takes.
pub(super) fn with_sample_terms(
    pmu: &Pmu<'_>,
    event: &EventSpec<'_>,
) -> Result<ResolvedEvent, SyntaxProblem> {
    let mut resolved = blank(pmu, event);
    for term in &event.terms {
        if !take_common(&mut resolved, pmu, term)? {
            return Err(SyntaxProblem::new(
                term.position,
                format!("unknown term '{}'", term.name),
            ));
        }
    }
    Ok(resolved)
}

fn blank(pmu: &Pmu<'_>, event: &EventSpec<'_>) -> ResolvedEvent {
    let shown = metric_id::name_without(event).unwrap_or_else(|| as_written(event));
    let several = shown.is_alone && pmu.is_one_of_several_cores();
    let name = if several {
        qualified(pmu, &shown.text)
    } else {
        shown.text
    };
    let cpus = pmu.cpus();
    ResolvedEvent {
        of_system: cpus.is_some() && !pmu.is_core(),
        cpus,
        ..ResolvedEvent::new(name, pmu.shared_name())
    }
}

fn as_written(event: &EventSpec<'_>) -> ShownName {
    let is_plain = matches!(event.form, EventForm::Name(_) | EventForm::Raw(_));
    ShownName {
        text: event.name.to_owned(),
        is_alone: is_plain && event.terms.is_empty(),
    }
}

/// `cycles:u` on one of several core PMUs: `cpu_core/cycles/u`.
fn qualified(pmu: &Pmu<'_>, name: &str) -> String {
    let (event, modifiers) = name.split_once(':').unwrap_or((name, ""));
    format!("{}/{event}/{modifiers}", pmu.name())
}

/// Takes in a name, CPUs or a sampling term; false if the term is none of these.
pub(super) fn take_common(
    resolved: &mut ResolvedEvent,
    pmu: &Pmu<'_>,
    term: &Term<'_>,
) -> Result<bool, SyntaxProblem> {
    match term.name {
        "name" => {
            text(term)?.clone_into(&mut resolved.name);
            resolved.is_name_given = true;
        }
        "cpu" => resolved.want_cpus(wanted_cpus(pmu, term)?),
        // What belongs to the driver of a PMU is set through its files, which a sampled event does not need.
        name if name.starts_with('@') => {}
        _ => return resolved.terms.take(term),
    }
    Ok(true)
}

/// A term that gives a whole config word.
#[derive(Clone, Copy)]
enum Whole {
    /// By the word's name.
    Word(ConfigWord),
    /// `legacy-hardware-config` and its like.
    Legacy,
    /// As a generic event.
    Generic(EventType, u64),
    /// As a raw code.
    Raw(u64),
}

struct Target<'a> {
    pmu: &'a Pmu<'a>,
    /// All terms as written: values for the parameters of a named event.
    terms: &'a [Term<'a>],
    event: ResolvedEvent,
    /// A term was the name of an event.
    is_named: bool,
}

impl Target<'_> {
    /// Whole config words first, then the terms that fill bits of them: their order among each other alone counts.
    fn apply_all(&mut self) -> Result<(), SyntaxProblem> {
        let mut parts = Vec::new();
        for term in self.terms {
            match self.whole(term) {
                Some(whole) => self.apply_whole(term, whole)?,
                None => parts.push(term),
            }
        }
        parts.into_iter().try_for_each(|term| self.apply_part(term))
    }

    /// The whole config word that a term gives: by its name, as a generic event, or as a raw code.
    fn whole(&self, term: &Term<'_>) -> Option<Whole> {
        if let Some(word) = ConfigWord::named(term.name) {
            return Some(Whole::Word(word));
        }
        if self.pmu.format(term.name).is_some() {
            return None;
        }
        if legacy::is_term(term) {
            return Some(Whole::Legacy);
        }
        let generic = self.generic(term);
        let generic = generic.map(|(kind, config)| Whole::Generic(kind, config));
        generic.or_else(|| self.raw(term).map(Whole::Raw))
    }

    fn apply_whole(&mut self, term: &Term<'_>, whole: Whole) -> Result<(), SyntaxProblem> {
        let attr = &mut self.event.attr;
        match whole {
            Whole::Word(word) => {
                *word_of(attr, word) = number_or_one(term)?;
                self.name_bits(word, u64::MAX);
            }
            Whole::Legacy => (attr.kind, attr.config) = legacy::event(self.pmu, term)?,
            Whole::Raw(config) => {
                attr.config = config;
                self.name_bits(ConfigWord::Config, u64::MAX);
            }
            Whole::Generic(kind, config) => {
                self.name_once(term)?;
                (self.event.attr.kind, self.event.attr.config) = (kind, config);
                self.event.set_unit_of_clock();
            }
        }
        Ok(())
    }

    fn apply_part(&mut self, term: &Term<'_>) -> Result<(), SyntaxProblem> {
        if let Some(ranges) = self.pmu.format(term.name) {
            let value = format_value(term, ranges)?;
            self.set_format(term.name, ranges, value, value_position(term))
        } else if take_common(&mut self.event, self.pmu, term)? {
            Ok(())
        } else {
            self.apply_event_name(term)
        }
    }

    /// The generic event of a term without value, unless the PMU has one of its own of that name.
    fn generic(&self, term: &Term<'_>) -> Option<(EventType, u64)> {
        let name = term.value.is_none().then_some(term.name)?;
        self.pmu
            .generic(name)
            .filter(|_| self.pmu.alias(name).is_none())
    }

    /// The code of a term `rHEX` or `r0xHEX`.
    fn raw(&self, term: &Term<'_>) -> Option<u64> {
        let name = term.value.is_none().then_some(term.name)?;
        parse_raw_term(name).filter(|_| self.pmu.alias(name).is_none())
    }

    /// A term without value that is an event of this PMU.
    fn apply_event_name(&mut self, term: &Term<'_>) -> Result<(), SyntaxProblem> {
        let alias = self.pmu.alias(term.name).filter(|_| term.value.is_none());
        let alias = alias.ok_or_else(|| self.unknown(term))?;
        self.name_once(term)?;
        self.apply_alias(&alias, term)
    }

    /// An event has one name among its terms: units and scales of two would differ.
    fn name_once(&mut self, term: &Term<'_>) -> Result<(), SyntaxProblem> {
        if std::mem::replace(&mut self.is_named, true) {
            let message = "Attempt to set event's scale twice";
            return Err(SyntaxProblem::new(term.position, message));
        }
        Ok(())
    }

    fn apply_alias(&mut self, alias: &Alias, term: &Term<'_>) -> Result<(), SyntaxProblem> {
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
    fn apply_alias_term(&mut self, part: &str, term: &Term<'_>) -> Result<(), SyntaxProblem> {
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
        self.set_format(name, ranges, value, term.position)
    }

    fn parameter(&self, name: &str, term: &Term<'_>) -> Result<u64, SyntaxProblem> {
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
        self.name_bits(ranges.word, ranges.bits());
        Ok(())
    }

    /// Notes that a term names these bits of a config word.
    fn name_bits(&mut self, word: ConfigWord, bits: u64) {
        if word == ConfigWord::Config {
            self.event.named_bits |= bits;
        }
    }

    fn unknown(&self, term: &Term<'_>) -> SyntaxProblem {
        const WORDS: [&str; 9] = [
            "config",
            "config1",
            "config2",
            "config3",
            "config4",
            "name",
            "cpu",
            "legacy-hardware-config",
            "legacy-cache-config",
        ];
        let formats = self.pmu.format_names();
        let names = formats.chain(WORDS).chain(SampleTerms::NAMES);
        let names: Vec<&str> = names.collect();
        let near = near::suggestion(
            term.name,
            names.iter().copied().chain(self.pmu.event_names()),
        );
        let valid = format!("valid terms: {}", names.join(","));
        let help: Vec<String> = std::iter::once(valid).chain(near).collect();
        let message = format!("unknown term '{}' for pmu '{}'", term.name, self.pmu.name());
        SyntaxProblem::new(term.position, message).with_help(help.join("\n"))
    }
}

/// A format's value; a bare name means 1 where only 1 fits.
fn format_value(term: &Term<'_>, ranges: &BitRanges) -> Result<u64, SyntaxProblem> {
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
