//! Shell patterns over names: `*`, `?`, `[a-z]`, `[!a-z]`.

/// Returns whether the text has a character that makes it a pattern.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Returns whether the whole name matches the pattern.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    // After a star: the pattern behind it, and the next name position to try it at. Only the last star matters.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            retry = Some((p, n + 1));
        } else if n == name.len() && p == pattern.len() {
            return true;
        } else if let Some(length) = name.get(n).and_then(|byte| match_one(&pattern[p..], *byte)) {
            p += length;
            n += 1;
        } else if let Some((after, from)) = retry.filter(|(_, from)| *from <= name.len()) {
            (p, n) = (after, from);
            retry = Some((after, from + 1));
        } else {
            return false;
        }
    }
}

/// The length of the pattern's first element if it matches the byte.
fn match_one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern.first()? {
        b'?' => Some(1),
        b'[' => match_class(pattern, byte),
        literal => (*literal == byte).then_some(1),
    }
}

/// `[abc]`, `[a-c]`, `[!a-c]`; an unclosed bracket stands for itself.
fn match_class(pattern: &[u8], byte: u8) -> Option<usize> {
    // A bracket right at the beginning is a member of the class.
    let close = pattern
        .iter()
        .skip(2)
        .position(|byte| *byte == b']')
        .map(|at| at + 2);
    let Some(close) = close else {
        return (byte == b'[').then_some(1);
    };
    let class = pattern.get(1..close)?;
    let (negated, class) = match class.split_first() {
        Some((b'!', rest)) if !rest.is_empty() => (true, rest),
        _ => (false, class),
    };
    (in_class(class, byte) != negated).then_some(close + 1)
}

fn in_class(class: &[u8], byte: u8) -> bool {
    match class {
        [first, b'-', last, rest @ ..] => (*first..=*last).contains(&byte) || in_class(rest, byte),
        [member, rest @ ..] => *member == byte || in_class(rest, byte),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name) in [
            ("*", ""),
            ("a*c", "abbc"),
            ("sched_*", "sched_switch"),
            ("?x", "ax"),
            ("[a-c]*", "bz"),
            ("a[!b]", "ac"),
            ("*a*b", "xaxab"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("a", "ab"),
            ("a*c", "abb"),
            ("?", ""),
            ("[!b]", "b"),
            ("[b", "b"),
            ("", "a"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn hostile_patterns_end_soon() {
        let stars = "a*".repeat(60) + "b";
        assert!(!matches(&stars, &"a".repeat(200)));
        assert!(matches("[", "["));
    }
}
