//! The events that `record` opens for each of many texts.
//!
//! A recording has many texts, with a marker event before each: starting a program on a made-up machine takes longer than a
//! text. Where a program gives up at a text, the next recording begins behind it.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;

use super::machine::Machine;

/// Texts of one recording.
const BATCH: usize = 25;
/// The period of the first marker; the others count up.
const FIRST_MARKER: usize = 1_000_000;

/// Returns whether what is opened for a text depends on it alone: a recording has one trace at most.
pub(super) fn is_comparable(text: &str) -> bool {
    !text.contains("intel_pt")
}

/// The events that are opened for each text, a line each.
pub(super) fn of<'t>(
    machine: &Machine,
    program: &Path,
    texts: &[&'t str],
) -> Result<HashMap<&'t str, Vec<String>>> {
    let mut opened = HashMap::new();
    let (mut next, mut size) = (0, BATCH);
    while next < texts.len() {
        let batch = &texts[next..texts.len().min(next + size)];
        let log = machine.record(program, &with_markers(batch))?;
        let mut found = read_log(&log, batch.len());
        let reached = (0..=batch.len())
            .rev()
            .find(|place| found.contains_key(place));
        let done = match reached {
            Some(last) => batch.len().min(last + 1),
            // Not even the first marker: one of the texts spoils all.
            None if batch.len() > 1 => {
                size = 1;
                continue;
            }
            None => 1,
        };
        for (place, text) in batch.iter().enumerate().take(done) {
            opened.insert(*text, found.remove(&place).unwrap_or_default());
        }
        next += done;
        size = BATCH;
    }
    Ok(opened)
}

fn with_markers(texts: &[&str]) -> Vec<String> {
    let marker = |place: usize| format!("task-clock/period={}/", FIRST_MARKER + place);
    let pairs = texts
        .iter()
        .enumerate()
        .flat_map(|(place, text)| [marker(place), (*text).to_owned()]);
    pairs.chain([marker(texts.len())]).collect()
}

/// The events behind each marker. A program may open all of them again when one is refused: what is new in such a pass
/// counts.
fn read_log(log: &str, markers: usize) -> HashMap<usize, Vec<String>> {
    let mut of_marker: HashMap<usize, Events> = HashMap::new();
    let mut current = None;
    for line in log.lines().filter_map(OpenLine::parse) {
        match line.marker(markers) {
            Some(place) if current == Some(place) => {}
            Some(place) => {
                current = Some(place);
                of_marker.entry(place).or_default().begin_pass();
            }
            None => {
                if let Some(events) = current.and_then(|place| of_marker.get_mut(&place)) {
                    events.take(line);
                }
            }
        }
    }
    let lines = of_marker.into_iter();
    lines
        .map(|(place, events)| (place, events.lines()))
        .collect()
}

/// An attempt to open an event, as the log has it.
struct OpenLine {
    /// `#7`: its number in the log.
    id: String,
    /// PMU and attribute.
    attr: String,
    cpu: String,
    /// The number of the leader.
    leader: Option<String>,
    is_open: bool,
}

impl OpenLine {
    /// Reads a line of an event that is to be sampled.
    fn parse(line: &str) -> Option<OpenLine> {
        let (id, rest) = line.strip_prefix("open ")?.split_once(' ')?;
        let (attr, site) = rest.split_once("; pid=")?;
        let (site, answer) = site.split_once(" -> ")?;
        let value = |name: &str| {
            let mut words = site.split(' ');
            words
                .find_map(|word| word.strip_prefix(name))
                .map(str::to_owned)
        };
        let is_probe = attr.contains("sample=- read=-") || value("cpu=")? == "-1";
        (!is_probe).then_some(())?;
        Some(OpenLine {
            id: id.to_owned(),
            attr: cleaned(attr),
            cpu: value("cpu=")?,
            leader: value("group=").filter(|leader| leader != "-"),
            is_open: answer.trim() == "ok",
        })
    }

    /// The place of a marker.
    fn marker(&self, markers: usize) -> Option<usize> {
        let is_clock = self.attr.contains(" type=1 config=0x1 ");
        let mut words = self.attr.split(' ').filter(|_| is_clock);
        let period: usize = words
            .find_map(|word| word.strip_prefix("period="))?
            .parse()
            .ok()?;
        period
            .checked_sub(FIRST_MARKER)
            .filter(|place| *place <= markers)
    }
}

/// An attribute without what depends on the other events and on the age of the kernel's interface.
fn cleaned(attr: &str) -> String {
    let without = |list: &str, names: &[&str]| {
        let kept = list.split('|').filter(|name| !names.contains(name));
        kept.collect::<Vec<_>>().join("|")
    };
    let words = attr.split(' ').filter_map(|word| {
        if let Some(fields) = word.strip_prefix("sample=") {
            return Some(format!("sample={}", without(fields, &["ID", "IDENTIFIER"])));
        }
        if let Some(fields) = word.strip_prefix("read=") {
            return Some(format!("read={}", without(fields, &["LOST"])));
        }
        (!word.starts_with("size=")).then(|| word.to_owned())
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The events of one text.
#[derive(Default)]
struct Events {
    events: Vec<Event>,
    /// The event of each number in the log.
    of_id: HashMap<String, usize>,
    /// The first event of the present pass.
    pass: usize,
    is_repeated: bool,
}

struct Event {
    attr: String,
    leader: Option<usize>,
    is_member: bool,
    is_open: bool,
    cpus: Vec<String>,
}

impl Events {
    fn begin_pass(&mut self) {
        self.is_repeated = !self.events.is_empty();
        self.pass = self.events.len();
    }

    fn take(&mut self, line: OpenLine) {
        let leader = line
            .leader
            .as_ref()
            .and_then(|id| self.of_id.get(id))
            .copied();
        let is_same = |event: &Event| {
            event.attr == line.attr
                && event.is_member == line.leader.is_some()
                && event.is_open == line.is_open
        };
        let last = self
            .events
            .len()
            .checked_sub(1)
            .filter(|last| *last >= self.pass);
        let place = match last.filter(|last| is_same(&self.events[*last])) {
            Some(last) => {
                self.events[last].cpus.push(line.cpu);
                last
            }
            None => {
                let known = self.events[..self.pass]
                    .iter()
                    .position(|event| event.attr == line.attr);
                match known.filter(|_| self.is_repeated) {
                    Some(known) => known,
                    None => {
                        self.events.push(Event {
                            attr: line.attr.clone(),
                            leader,
                            is_member: line.leader.is_some(),
                            is_open: line.is_open,
                            cpus: vec![line.cpu],
                        });
                        self.events.len() - 1
                    }
                }
            }
        };
        self.of_id.insert(line.id, place);
    }

    /// A line for each event: its attribute, its leader, and the CPUs where it is open. Events that are refused have no
    /// order: a program may come back to what follows them.
    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.events.iter().map(|event| self.line(event)).collect();
        if self.events.iter().any(|event| !event.is_open) {
            lines.sort();
        }
        lines
    }

    fn line(&self, event: &Event) -> String {
        // The breakpoints of a CPU are few, and others may have them.
        if event.attr.contains(" type=5 ") {
            return event.attr.clone();
        }
        let leader = match event.leader.and_then(|leader| self.events.get(leader)) {
            Some(leader) => {
                let words: Vec<&str> = leader.attr.split(' ').take(3).collect();
                format!(" leader=({})", words.join(" "))
            }
            None => String::new(),
        };
        let place = if event.is_open {
            format!("cpus={}", event.cpus.join(","))
        } else {
            "refused".to_owned()
        };
        format!("{}{leader} {place}", event.attr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
open #1 software type=1 config=0x1 size=64 period=1000000 sample=IP|ID read=ID|LOST bits: disabled; pid=task0 cpu=0 group=- flags=0x8 -> ok
open #2 cpu type=4 config=0x3c size=64 freq=4000 sample=IP|ID read=ID|LOST bits: disabled; pid=task0 cpu=0 group=- flags=0x8 -> ok
open #3 cpu type=4 config=0x3c size=64 freq=4000 sample=IP|ID read=ID|LOST bits: disabled; pid=task0 cpu=1 group=- flags=0x8 -> ok
open #4 cpu type=4 config=0xc0 size=64 freq=4000 sample=IP|ID read=ID|LOST bits: inherit; pid=task0 cpu=0 group=#2 flags=0x8 -> EINVAL
open #5 cpu type=4 config=0xc0 size=64 sample=- read=- bits: disabled; pid=0 cpu=-1 group=- flags=0 -> ok
open #6 software type=1 config=0x1 size=64 period=1000001 sample=IP|ID read=ID|LOST bits: disabled; pid=task0 cpu=0 group=- flags=0x8 -> ok
";

    #[test]
    fn events_stand_behind_their_marker() {
        let found = read_log(LOG, 1);
        let expected = [
            "cpu type=4 config=0x3c freq=4000 sample=IP read=ID bits: disabled cpus=0,1",
            "cpu type=4 config=0xc0 freq=4000 sample=IP read=ID bits: inherit leader=(cpu type=4 config=0x3c) refused",
        ];
        assert_eq!(found[&0], expected);
        assert_eq!(found[&1], [""; 0]);
    }

    #[test]
    fn a_second_pass_repeats_nothing() {
        let again = LOG.replace('#', "#1");
        assert_eq!(read_log(&(LOG.to_owned() + &again), 1), read_log(LOG, 1));
    }
}
