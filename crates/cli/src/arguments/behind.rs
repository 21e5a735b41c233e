//! The values of options that are about the events before them on the command line.

use clap::ArgMatches;

/// The value of an option that is about the events before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BehindEvents {
    /// The option.
    pub(crate) option: &'static str,
    /// The value.
    pub(crate) text: String,
    /// The number of texts of events before it.
    pub(crate) events_before: usize,
    /// Its place among all words.
    pub(crate) place: usize,
}

/// The values of an option, each with the number of texts of events before it.
pub(crate) fn behind_events(matches: &ArgMatches, option: &'static str) -> Vec<BehindEvents> {
    let texts = matches.get_many::<String>(option).into_iter().flatten();
    let places = |name: &str| matches.indices_of(name).into_iter().flatten();
    let events_before = |place: usize| places("event").filter(|event| *event < place).count();
    let value = |(text, place): (&String, usize)| BehindEvents {
        option,
        text: text.clone(),
        events_before: events_before(place),
        place,
    };
    texts.zip(places(option)).map(value).collect()
}
