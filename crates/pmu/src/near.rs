//! Names that may be meant by one that does not exist.

/// The mistakes that a name of so many letters may have and still be recognized.
fn allowed_mistakes(length: usize) -> usize {
    match length {
        0..=3 => 0,
        4..=5 => 1,
        6..=11 => 2,
        _ => 3,
    }
}

/// The most names that are suggested.
const MOST: usize = 3;
/// No event has a longer name; bounds the work for a hostile one.
const LONGEST: usize = 64;

/// `did you mean A or B?`: the known names that are nearest, if any is near.
pub(crate) fn suggestion<'n>(
    name: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Option<String> {
    let near = nearest(name, known);
    (!near.is_empty()).then(|| format!("did you mean {}?", near.join(" or ")))
}

fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let allowed = allowed_mistakes(name.len());
    if name.len() > LONGEST || allowed == 0 {
        return Vec::new();
    }
    // A name that is known and does not do here is nothing to suggest.
    let others = known.into_iter().filter(|known| *known != name);
    let name = name.to_ascii_lowercase();
    let ranked = others.filter_map(|known| {
        let is_comparable = known.len().abs_diff(name.len()) <= allowed;
        let mistakes = is_comparable.then(|| mistakes(&name, &known.to_ascii_lowercase()))?;
        (mistakes <= allowed).then_some((mistakes, known))
    });
    let mut ranked: Vec<(usize, &str)> = ranked.collect();
    ranked.sort_unstable();
    ranked.dedup();
    let best = ranked.first().map(|(mistakes, _)| *mistakes);
    let near = ranked
        .into_iter()
        .filter(|(mistakes, _)| Some(*mistakes) == best);
    near.map(|(_, known)| known).take(MOST).collect()
}

/// The number of letters that were left out, added, replaced, or that changed places with their neighbour.
fn mistakes(from: &str, to: &str) -> usize {
    let (from, to) = (from.as_bytes(), to.as_bytes());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, wanted) in to.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != wanted);
            let mut cost = replaced.min(last[column + 1] + 1).min(line[column] + 1);
            let is_swapped =
                row > 0 && column > 0 && from[row - 1] == *wanted && *letter == to[column - 1];
            if is_swapped {
                cost = cost.min(before_last[column - 1] + 1);
            }
            line.push(cost);
        }
        before_last = std::mem::replace(&mut last, line);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 6] = [
        "cycles",
        "instructions",
        "branches",
        "cache-misses",
        "cs",
        "L1-dcache-loads",
    ];

    #[test]
    fn mistyped_names() {
        for (name, meant) in [
            ("cyles", "cycles"),
            ("cylces", "cycles"),
            ("Instrutions", "instructions"),
            ("brnches", "branches"),
            ("cache-miss", "cache-misses"),
            ("l1-dcache-load", "L1-dcache-loads"),
        ] {
            assert_eq!(nearest(name, KNOWN), [meant], "{name}");
        }
        assert_eq!(
            suggestion("cyles", KNOWN).as_deref(),
            Some("did you mean cycles?")
        );
    }

    #[test]
    fn names_of_something_else() {
        for name in ["", "cd", "xyz", "no-such-event", &"c".repeat(100)] {
            assert_eq!(suggestion(name, KNOWN), None, "{name}");
        }
    }
}
