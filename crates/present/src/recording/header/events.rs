//! Lines about the events and their groups.

use std::fmt::Write;

use oxperf_data::features::{EventDesc, GroupDesc, GroupEntry, NamedEvent};

use super::{Lines, Page};
use crate::recording::evlist::group_text;
use crate::text::attr_text::{EventNames, attr_fields};
use crate::text::sanitize;

impl Page<'_> {
    pub(super) fn event_desc(&mut self) -> Lines {
        for event in self.get::<EventDesc>()?.events {
            let text = event_text(&event, self.names);
            self.line(format_args!("event : {text}"));
        }
        Ok(())
    }

    pub(super) fn group_desc(&mut self) -> Lines {
        let groups = self.get::<GroupDesc>()?.0;
        let events = self.get::<EventDesc>()?.events;
        for group in groups {
            if let Some(members) = members(&group, &events) {
                let text = group_text(&group, members.iter().map(|event| event.name.as_str()));
                self.line(format_args!("group: {text}"));
            }
        }
        Ok(())
    }
}

fn members<'a>(group: &GroupEntry, events: &'a [NamedEvent]) -> Option<&'a [NamedEvent]> {
    events
        .get(group.leader as usize..)?
        .get(..group.members as usize)
}

fn event_text(event: &NamedEvent, names: &dyn EventNames) -> String {
    let mut text = format!("name = {}, ", sanitize(&event.name));
    if !event.ids.is_empty() {
        let ids: Vec<String> = event.ids.iter().map(|id| id.to_string()).collect();
        let _ = write!(text, ", id = {{ {} }}", ids.join(", "));
    }
    for field in attr_fields(&event.stored.attr, event.stored.size, names) {
        let _ = write!(text, ", {} = {}", field.name, sanitize(&field.value));
    }
    text
}
