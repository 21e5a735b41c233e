//! `--switch-on` and `--switch-off`: events between which samples count.

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_session::{EventIndex, EventTable};

use crate::failure::Failure;

/// The options.
pub(crate) fn arguments() -> [Arg; 3] {
    let event = |name: &'static str, help| Arg::new(name).long(name).value_name("EVENT").help(help);
    [
        event("switch-on", "Show nothing before a sample of this event"),
        event(
            "switch-off",
            "Show nothing from a sample of this event on, until it is switched on again",
        ),
        Arg::new("show-on-off-events")
            .long("show-on-off-events")
            .action(ArgAction::SetTrue)
            .help("Show the samples that switch, too"),
    ]
}

/// Which events switch, and whether samples count now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Switching {
    on: Option<EventIndex>,
    off: Option<EventIndex>,
    shows_switches: bool,
    waits: bool,
}

impl Switching {
    /// Takes the options for a recording's events; of a command without them nothing switches.
    pub(crate) fn from_matches(
        matches: &ArgMatches,
        events: &EventTable,
    ) -> Result<Switching, Failure> {
        let Ok(Some(&shows_switches)) = matches.try_get_one::<bool>("show-on-off-events") else {
            return Ok(Switching::default());
        };
        let find = |option: &str| {
            let Some(name) = matches.get_one::<String>(option) else {
                return Ok(None);
            };
            let found = events.events().iter().position(|event| event.name == *name);
            found.map(|index| Some(EventIndex(index))).ok_or_else(|| {
                Failure::not_found(format!(
                    "ERROR: {option} event not found ({name})\nHINT:  use 'perf evlist' to see the available event names"
                ))
            })
        };
        let on = find("switch-on")?;
        Ok(Switching {
            on,
            off: find("switch-off")?,
            shows_switches,
            waits: on.is_some(),
        })
    }

    /// Whether a sample of an event counts, which may switch.
    pub(crate) fn takes(&mut self, event: EventIndex) -> bool {
        if self.on.is_some() && self.waits {
            let switches = self.on == Some(event);
            self.waits = !switches;
            return switches && self.shows_switches;
        }
        if self.off.is_none() || self.waits || self.off != Some(event) {
            // As in perf, what was switched off counts again where nothing can switch it on.
            return true;
        }
        self.waits = true;
        self.shows_switches
    }

    /// Whether every sample counts.
    pub(crate) fn takes_all(&self) -> bool {
        self.on.is_none() && self.off.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_count_from_one_event_to_another() {
        let (on, off, other) = (EventIndex(0), EventIndex(1), EventIndex(2));
        let events = [other, on, other, off, other, on, other];
        let all = |shows_switches| {
            let mut switching = Switching {
                on: Some(on),
                off: Some(off),
                shows_switches,
                waits: true,
            };
            events.map(|event| switching.takes(event))
        };
        assert_eq!(all(false), [false, false, true, false, false, false, true]);
        assert_eq!(all(true), [false, true, true, true, false, true, true]);
    }
}
