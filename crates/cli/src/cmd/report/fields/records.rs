//! Fields of tracepoints' records as columns: which ones a word means.

use oxperf_abi::EventType;
use oxperf_analysis::hist::{Field, SortKey};
use oxperf_profile::FieldRequest;
use oxperf_tracepoint::{FieldKind, FormatField as RecordField};

use super::{EVERY_FIELD, FieldContext, Fields};

impl Fields {
    /// The fields of tracepoints' records that a word means.
    pub(super) fn record_fields(&mut self, word: &str, names: &FieldContext<'_>) -> Vec<Field> {
        let (name, raw) = match word.split_once('/') {
            Some((name, "raw")) => (name, true),
            Some(_) => return Vec::new(),
            None => (word, names.raw_traces),
        };
        let (event, field) = match name.split_once('.') {
            Some((event, field)) => (Some(event), field),
            None => (None, name),
        };
        let events: Vec<usize> = match event {
            Some(event) => find_event(event, names.event_names).into_iter().collect(),
            None => (0..names.events.len()).collect(),
        };
        let every = field == "*" && event.is_some() || event.is_none() && field == EVERY_FIELD;
        let mut found = Vec::new();
        for event in events {
            let entry = names
                .events
                .get(event)
                .filter(|entry| entry.stored.attr.kind == EventType::TRACEPOINT);
            let format = entry.and_then(|entry| names.formats.get(entry.stored.attr.config));
            let Some(format) = format.map(|formatter| formatter.event()) else {
                continue;
            };
            let matching: Vec<&RecordField> = match every {
                true => format.fields.iter().collect(),
                false => format
                    .all_fields()
                    .filter(|known| known.name == field)
                    .collect(),
            };
            found.extend(
                matching
                    .into_iter()
                    .map(|known| self.record_field(event, known, raw)),
            );
        }
        found
    }

    fn record_field(&mut self, event: usize, field: &RecordField, raw: bool) -> Field {
        let wanted = FieldRequest {
            event,
            name: field.name.clone(),
            raw,
            width: field_width(field),
        };
        let place = self
            .records
            .iter()
            .position(|known| *known == wanted)
            .unwrap_or_else(|| {
                self.records.push(wanted);
                self.records.len() - 1
            });
        Field::Key(SortKey::Field(u16::try_from(place).unwrap_or(u16::MAX)))
    }
}

/// `%N`, a whole name, or a part that one name only has.
fn find_event(wanted: &str, names: &[String]) -> Option<usize> {
    if let Some(number) = wanted.strip_prefix('%') {
        return number
            .parse::<usize>()
            .ok()?
            .checked_sub(1)
            .filter(|&index| index < names.len());
    }
    if wanted.contains(':') {
        return names.iter().position(|name| name == wanted);
    }
    let mut matching = (0..names.len()).filter(|&index| names[index].contains(wanted));
    matching.next().filter(|_| matching.next().is_none())
}

/// The width that a field's column has whatever the records say: numbers as wide as in hexadecimal.
fn field_width(field: &RecordField) -> usize {
    let needed = match field.kind {
        FieldKind::Text | FieldKind::DynamicText(_) => field.size,
        _ => field.size * 2 + "0x".len(),
    };
    needed.max(field.name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_an_events_name_must_mean_one() {
        let names = ["sched:switch".to_owned(), "sched:fork".to_owned()];
        assert_eq!(find_event("fork", &names), Some(1));
        assert_eq!(find_event("sched", &names), None);
        assert_eq!(find_event("%2", &names), Some(1));
        assert_eq!(find_event("sched:switch", &names), Some(0));
    }
}
