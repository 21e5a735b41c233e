//! What a program asked of the kernel, in a form that two programs have in common.

use std::collections::{BTreeMap, BTreeSet};

/// The log without probes, events numbered by the order in which they were opened. The size of an attribute is left out:
/// ours is no longer than what is set needs, so that older kernels take it.
pub(in crate::sweep) fn comparable(log: &str) -> String {
    let lines: Vec<Vec<&str>> = log.lines().map(|line| line.split(' ').collect()).collect();
    let probes = probes(&lines);
    let mut numbers: BTreeMap<&str, String> = BTreeMap::new();
    let mut text = String::new();
    for words in &lines {
        let [verb, event, ..] = words[..] else {
            continue;
        };
        let is_probe = verb == "open" && (probes.contains(event) || words.contains(&"size=0"));
        if is_probe || matches!(verb, "close" | "fcntl") {
            continue;
        }
        if verb == "open" {
            numbers.insert(event, format!("#{}", numbers.len() + 1));
        }
        let words: Vec<String> = words
            .iter()
            .filter(|word| !word.starts_with("size="))
            .map(|word| renumbered(word, &numbers))
            .collect();
        text.push_str(&words.join(" "));
        text.push('\n');
    }
    text
}

/// The events that were closed as soon as they were open, to find out whether they can be.
fn probes<'a>(lines: &[Vec<&'a str>]) -> BTreeSet<&'a str> {
    let pairs = lines.iter().zip(lines.iter().skip(1));
    let closed = pairs.filter_map(|(before, line)| match (&before[..], &line[..]) {
        (["open", opened, ..], ["close", closed, ..]) if opened == closed => Some(*closed),
        _ => None,
    });
    closed.collect()
}

fn renumbered(word: &str, numbers: &BTreeMap<&str, String>) -> String {
    if let Some(number) = numbers.get(word) {
        return number.clone();
    }
    let leader = word
        .strip_prefix("group=")
        .and_then(|leader| numbers.get(leader));
    leader.map_or_else(|| word.to_owned(), |number| format!("group={number}"))
}

#[cfg(test)]
mod tests {
    use super::comparable;

    #[test]
    fn probes_are_left_out_and_the_rest_is_numbered_anew() {
        let log = "open #1 cpu size=64 group=-\nclose #1 unused\nopen #2 cpu size=64 group=-\n\
                   open #3 cpu size=64 group=#2\nioctl #3 ENABLE\nopen #4 cpu size=0 -> EINVAL\nclose #2 unused\n";
        assert_eq!(
            comparable(log),
            "open #1 cpu group=-\nopen #2 cpu group=#1\nioctl #2 ENABLE\n"
        );
    }
}
