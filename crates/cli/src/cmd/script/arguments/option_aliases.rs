//! Options that stand for fields, trace options and nanoseconds at once.

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_itrace::ItraceOptions;
use oxperf_present::script::{FieldSet, FieldSpec, FieldSpecError};

/// One such option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OptionAlias {
    name: &'static str,
    fields: &'static str,
    itrace: &'static str,
    /// Characters for the names of objects.
    pub(super) object_width: usize,
    help: &'static str,
}

const ALL: [OptionAlias; 3] = [
    OptionAlias {
        name: "insn-trace",
        fields: "+insn,-event,-period",
        itrace: "i0nse",
        object_width: 0,
        help: "Show every instruction of hardware trace with its bytes (raw) or as text (disasm)",
    },
    OptionAlias {
        name: "call-trace",
        fields: "-ip,-addr,-event,-period,+callindent",
        itrace: "cewp",
        object_width: 50,
        help: "Show every call of hardware trace, indented by depth",
    },
    OptionAlias {
        name: "call-ret-trace",
        fields: "-ip,-addr,-event,-period,+callindent,+flags",
        itrace: "crewp",
        object_width: 0,
        help: "Show every call and return of hardware trace, indented by depth",
    },
];

/// The options.
pub(super) fn arguments() -> impl Iterator<Item = Arg> {
    let aliases = ALL.iter().map(|alias| {
        let arg = Arg::new(alias.name).long(alias.name).help(alias.help);
        if alias.name != "insn-trace" {
            return arg.action(ArgAction::SetTrue);
        }
        arg.num_args(0..=1)
            .require_equals(true)
            .default_missing_value("raw")
            .value_parser(["raw", "disasm"])
    });
    let xed = Arg::new("xed").long("xed").action(ArgAction::SetTrue);
    aliases.chain([xed.help("Show instructions as text where their bytes would be; needs no xed")])
}

/// The alias that was given; the last of several.
pub(super) fn given(matches: &ArgMatches) -> Option<OptionAlias> {
    let placed = ALL
        .iter()
        .filter_map(|alias| Some((place(matches, alias.name)?, *alias)));
    placed
        .max_by_key(|(place, _)| *place)
        .map(|(_, alias)| alias)
}

/// Where on the command line an option stands; `None` if it was not given.
fn place(matches: &ArgMatches, name: &str) -> Option<usize> {
    let given = matches.value_source(name) == Some(clap::parser::ValueSource::CommandLine);
    matches.index_of(name).filter(|_| given)
}

/// The fields that are asked for, each option in its turn.
pub(super) fn fields(matches: &ArgMatches) -> Result<FieldSpec, FieldSpecError> {
    let texts = matches
        .get_many::<String>("fields")
        .into_iter()
        .flatten()
        .map(String::as_str);
    let mut asked: Vec<(usize, &str)> = matches
        .indices_of("fields")
        .into_iter()
        .flatten()
        .zip(texts)
        .collect();
    asked.extend(
        ALL.iter()
            .filter_map(|alias| Some((place(matches, alias.name)?, alias.fields))),
    );
    asked.sort_unstable();
    let mut spec = FieldSpec::default();
    asked
        .into_iter()
        .try_for_each(|(_, text)| spec.apply(text))?;
    let in_words = matches.get_flag("xed") || traced_in_words(matches);
    if in_words && spec.any_has(FieldSet::INSN) {
        spec.apply("+disasm,-insn")?;
    }
    Ok(spec)
}

/// Whether `--insn-trace` is to show text.
fn traced_in_words(matches: &ArgMatches) -> bool {
    matches
        .get_one::<String>("insn-trace")
        .is_some_and(|form| form == "disasm")
}

impl OptionAlias {
    /// What is made of the trace.
    pub(super) fn itrace(&self) -> ItraceOptions {
        ItraceOptions::parse(self.itrace).unwrap_or(ItraceOptions::SCRIPT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_present::script::EventClass;

    fn matches(arguments: &[&str]) -> ArgMatches {
        let command = clap::Command::new("script").args(arguments_with_fields());
        command
            .try_get_matches_from([&["script"], arguments].concat())
            .unwrap()
    }

    fn arguments_with_fields() -> Vec<Arg> {
        let fields = Arg::new("fields").short('F').action(ArgAction::Append);
        std::iter::once(fields).chain(arguments()).collect()
    }

    #[test]
    fn each_means_what_it_says() {
        for alias in ALL {
            assert!(ItraceOptions::parse(alias.itrace).is_ok());
            assert!(FieldSpec::default().apply(alias.fields).is_ok());
        }
        assert_eq!(given(&matches(&[])), None);
        assert_eq!(
            given(&matches(&["--call-trace", "--insn-trace=raw"])),
            Some(ALL[0])
        );
    }

    #[test]
    fn fields_count_in_their_order() {
        let before = fields(&matches(&["-F", "ip", "--insn-trace"])).unwrap();
        assert_eq!(
            before.fields(EventClass::Hardware),
            FieldSet::IP | FieldSet::INSN
        );
        let behind = fields(&matches(&["--insn-trace", "-F", "ip"])).unwrap();
        assert_eq!(behind.fields(EventClass::Hardware), FieldSet::IP);
    }

    #[test]
    fn instructions_are_shown_as_text() {
        for arguments in [
            ["-Fip", "--insn-trace=disasm"].as_slice(),
            &["-Fip,insn", "--xed"],
        ] {
            let spec = fields(&matches(arguments)).unwrap();
            assert_eq!(
                spec.fields(EventClass::Hardware),
                FieldSet::IP | FieldSet::DISASM,
                "{arguments:?}"
            );
        }
        let no_code = fields(&matches(&["-Fip", "--xed"])).unwrap();
        assert_eq!(no_code.fields(EventClass::Hardware), FieldSet::IP);
    }
}
