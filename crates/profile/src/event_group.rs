//! Events that are shown together.

use crate::{EventGroup, Profile};

impl Profile {
    /// Makes one group of all events: that of the first, if it has one.
    pub fn join_events(&mut self) {
        let first = self.events.first().and_then(|event| event.group.clone());
        let joined = first.unwrap_or(EventGroup {
            leader: 0,
            name: None,
            joined: true,
        });
        for event in &mut self.events {
            event.group = Some(joined.clone());
        }
    }
}
