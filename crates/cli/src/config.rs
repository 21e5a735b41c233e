//! perf's configuration files: sections in brackets, a `key = value` a line, comments behind `#` or `;`.

/// The value of a key of a section, the last of several; names are the same in either case.
pub(crate) fn value(text: &str, section: &str, key: &str) -> Option<String> {
    let (mut inside, mut found) = (false, None);
    for line in text.lines().map(str::trim) {
        if let Some((name, _)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            inside = name.trim().eq_ignore_ascii_case(section);
        } else if let Some((name, rest)) = line.split_once('=').filter(|_| inside)
            && name.trim().eq_ignore_ascii_case(key)
        {
            found = Some(plain(rest.trim()));
        }
    }
    found
}

/// A value without its quotes and the comment behind it; blanks within it count as one each.
fn plain(written: &str) -> String {
    let (mut text, mut quoted, mut letters) = (String::new(), false, written.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => break,
            '\\' => text.extend(letters.next()),
            _ => text.push(letter),
        }
    }
    match quoted || written.ends_with('"') {
        true => text,
        false => text.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_their_sections() {
        let text =
            "# perf\n[report]\ndir = /a\n[BuildID] ; names\n\tdir = /b c # here\n other = x\n";
        assert_eq!(value(text, "buildid", "dir").as_deref(), Some("/b c"));
        assert_eq!(value(text, "buildid", "group"), None);
        assert_eq!(
            value("[a]\nk=1\nk = \"2 # \\\"3\"", "a", "k").as_deref(),
            Some("2 # \"3")
        );
    }
}
