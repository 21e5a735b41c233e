//! Protobuf messages as text: `name: value`, `name { .. }`, one a line.

use anyhow::{Context, Result, bail};

/// A message: its fields in their order.
#[derive(Debug, Default)]
pub(super) struct Message {
    fields: Vec<(String, Value)>,
}

#[derive(Debug)]
enum Value {
    Plain(String),
    Message(Message),
}

impl Message {
    /// All messages under a name.
    pub(super) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Message> {
        self.fields
            .iter()
            .filter_map(move |(field, value)| match value {
                Value::Message(message) if field == name => Some(message),
                _ => None,
            })
    }

    /// Every plain value below, with the names that lead to it.
    pub(super) fn leaves(&self) -> Vec<(String, String)> {
        let mut leaves = Vec::new();
        self.add_leaves("", &mut leaves);
        leaves
    }

    fn add_leaves(&self, above: &str, leaves: &mut Vec<(String, String)>) {
        for (name, value) in &self.fields {
            let path = if above.is_empty() {
                name.clone()
            } else {
                format!("{above}.{name}")
            };
            match value {
                Value::Plain(text) => leaves.push((path, text.clone())),
                Value::Message(message) => message.add_leaves(&path, leaves),
            }
        }
    }
}

/// Reads a whole text.
pub(super) fn parse(text: &str) -> Result<Message> {
    let mut open = vec![(String::new(), Message::default())];
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        take_line(line, &mut open).with_context(|| format!("line {number}: {line:?}"))?;
    }
    match (open.pop(), open.pop()) {
        (Some((_, message)), None) => Ok(message),
        _ => bail!("the text ends inside a message"),
    }
}

fn take_line(line: &str, open: &mut Vec<(String, Message)>) -> Result<()> {
    if line.is_empty() || line.starts_with('#') {
        return Ok(());
    }
    if line == "}" {
        let (name, message) = open.pop().context("no message is open")?;
        let outer = open.last_mut().context("no message is open")?;
        outer.1.fields.push((name, Value::Message(message)));
    } else if let Some(name) = line.strip_suffix('{') {
        open.push((
            name.trim_end_matches([' ', ':']).to_owned(),
            Message::default(),
        ));
    } else {
        let (name, value) = line.split_once(": ").context("no field")?;
        let message = &mut open.last_mut().context("no message is open")?.1;
        message.fields.push((
            name.to_owned(),
            Value::Plain(value.trim_matches('"').to_owned()),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_below_their_messages() {
        let message =
            parse("events {\n  header {\n    type: 1\n  }\n  name: \"x\"\n}\nother: 2\n").unwrap();
        let events: Vec<_> = message.all("events").collect();
        let leaf = |path: &str, value: &str| (path.to_owned(), value.to_owned());
        assert_eq!(
            events[0].leaves(),
            [leaf("header.type", "1"), leaf("name", "x")]
        );
        assert!(
            parse("events {\n").is_err() && parse("}\n").is_err() && parse("nonsense\n").is_err()
        );
    }
}
