//! Events that switch samples on and off: those between count.

use oxperf_session::{EventIndex, EventTable};

use crate::QueryError;

/// The events that switch, by name; `None` is none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SwitchOptions {
    /// Nothing counts before a sample of this event.
    pub on: Option<String>,
    /// Nothing counts from a sample of this event on, until it is switched on again.
    pub off: Option<String>,
    /// The samples that switch count, too.
    pub shows_switches: bool,
}

/// The events that switch, and the state of the switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Switching {
    on: Option<EventIndex>,
    off: Option<EventIndex>,
    shows_switches: bool,
    waits: bool,
}

impl Switching {
    /// Finds the events of the options in a recording.
    ///
    /// # Errors
    /// One of them is not there.
    pub fn new(options: &SwitchOptions, events: &EventTable) -> Result<Switching, QueryError> {
        let on = find(events, "switch-on", options.on.as_deref())?;
        Ok(Switching {
            on,
            off: find(events, "switch-off", options.off.as_deref())?,
            shows_switches: options.shows_switches,
            waits: on.is_some(),
        })
    }

    /// `true` if a sample of an event counts, which may switch.
    pub fn takes(&mut self, event: EventIndex) -> bool {
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

    /// `true` if every sample counts.
    pub fn takes_all(&self) -> bool {
        self.on.is_none() && self.off.is_none()
    }
}

fn find(
    events: &EventTable,
    option: &'static str,
    name: Option<&str>,
) -> Result<Option<EventIndex>, QueryError> {
    let Some(name) = name else {
        return Ok(None);
    };
    let found = events.events().iter().position(|event| event.name == name);
    match found {
        Some(index) => Ok(Some(EventIndex(index))),
        None => Err(QueryError::NoSuchSwitch {
            option,
            name: name.to_owned(),
        }),
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
