//! Which tables belong to a CPU: the file that maps identifications to paths.

use regex_lite::RegexBuilder;

/// A pattern of more compiled size than this is refused: patterns come from files.
const MAX_PATTERN_SIZE: usize = 1 << 16;

/// A mapfile: lines `CPU,version,path,type`. The first line is a title, whatever it says; empty lines and those that
/// begin with `#` say nothing.
#[derive(Clone, Debug, Default)]
pub struct Mapfile<'a> {
    rows: Vec<MapRow<'a>>,
}

/// A line of a mapfile. No field holds a comma.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapRow<'a> {
    /// The identifications of CPUs that it is for: a POSIX extended regular expression, a plain PVR among them.
    pub cpu: &'a str,
    /// The version of the tables, for people.
    pub version: &'a str,
    /// The folder or file of the tables, relative to the mapfile.
    pub path: &'a str,
    /// The type of the events: `core`, `uncore`.
    pub kind: &'a str,
    /// The fields behind.
    pub more: &'a str,
    /// Its line, from 1.
    pub line: usize,
}

impl<'a> Mapfile<'a> {
    /// Reads the text, and the numbers of the lines that are no rows.
    pub fn parse(text: &'a str) -> (Mapfile<'a>, Vec<usize>) {
        let (mut rows, mut refused) = (Vec::new(), Vec::new());
        for (number, line) in written_lines(text) {
            match parse_row(line, number) {
                Some(row) => rows.push(row),
                None => refused.push(number),
            }
        }
        (Mapfile { rows }, refused)
    }

    /// All rows.
    pub fn rows(&self) -> &[MapRow<'a>] {
        &self.rows
    }

    /// The rows for a CPU: of each type the first that matches.
    pub fn rows_of(&self, cpu_id: &str) -> Vec<MapRow<'a>> {
        let mut is_for = is_for(cpu_id);
        let rows = self.rows.iter().filter(|row| is_for(row.cpu));
        first_of_each_type(rows.copied())
    }
}

/// The rows for a CPU in the text of a mapfile, as [`Mapfile::rows_of`] has them. Of other lines the first field alone is
/// read.
pub(crate) fn rows_for<'a>(text: &'a str, cpu_id: &str) -> Vec<MapRow<'a>> {
    let mut is_for = is_for(cpu_id);
    let first_field = |line: &'a str| line.split(',').next().unwrap_or_default().trim_end();
    let lines = written_lines(text).filter(|(_, line)| is_for(first_field(line)));
    first_of_each_type(lines.filter_map(|(number, line)| parse_row(line, number)))
}

/// The lines that are to be rows, with their numbers from 1.
fn written_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().map(str::trim).zip(1..).skip(1);
    let lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(line, number)| (number, line))
}

/// Says of a pattern whether it is for the CPU. The rows of one model follow each other and have one pattern.
fn is_for<'p>(cpu_id: &str) -> impl FnMut(&'p str) -> bool {
    let mut before = ("", false);
    move |pattern| {
        if pattern != before.0 {
            before = (pattern, matches(pattern, cpu_id));
        }
        before.1
    }
}

fn first_of_each_type<'a>(rows: impl Iterator<Item = MapRow<'a>>) -> Vec<MapRow<'a>> {
    let mut found: Vec<MapRow<'a>> = Vec::new();
    for row in rows {
        if !found.iter().any(|other| other.is_of_same_type(&row)) {
            found.push(row);
        }
    }
    found
}

impl MapRow<'_> {
    fn is_of_same_type(&self, other: &MapRow<'_>) -> bool {
        (self.kind, self.more) == (other.kind, other.more)
    }
}

fn parse_row(line: &str, number: usize) -> Option<MapRow<'_>> {
    let mut fields = line.splitn(5, ',').map(str::trim);
    let mut next = || fields.next();
    let row = MapRow {
        cpu: next()?,
        version: next()?,
        path: next()?,
        kind: next()?,
        more: next().unwrap_or_default(),
        line: number,
    };
    (!row.cpu.is_empty() && !row.path.is_empty()).then_some(row)
}

/// Returns whether a pattern of a mapfile is for the CPU: the whole identification has to match. An x86 pattern without
/// stepping is for all steppings; an Arm identification is for later variants and revisions of the same part too.
fn matches(pattern: &str, cpu_id: &str) -> bool {
    if let (Some(of_map), Some(of_cpu)) = (midr(pattern), midr(cpu_id)) {
        return is_part_or_later(of_map, of_cpu);
    }
    let cpu_id = if is_full_x86(cpu_id) && !is_full_x86(pattern) {
        cpu_id.rsplit_once('-').map_or(cpu_id, |(model, _)| model)
    } else {
        cpu_id
    };
    begins_alike(pattern, cpu_id) && matches_whole(pattern, cpu_id)
}

/// Returns whether the identifier of a PMU is one of those of [`TableEvent::compat`](crate::TableEvent::compat): patterns
/// between semicolons, each for a whole identifier.
pub fn is_identifier(compat: &str, identifier: &str) -> bool {
    let mut patterns = compat.split(';').filter(|pattern| !pattern.is_empty());
    patterns.any(|pattern| matches_whole(pattern, identifier))
}

/// Vendor, family, model and stepping.
fn is_full_x86(cpu_id: &str) -> bool {
    cpu_id.bytes().filter(|byte| *byte == b'-').count() == 3
}

/// A quick no for most rows: the letters before the first special one stand in every text that matches, and one of a
/// set of letters behind them.
fn begins_alike(pattern: &str, cpu_id: &str) -> bool {
    const SPECIAL: &[u8] = b"[(.*+?{|\\^$";
    let (pattern, cpu_id) = (pattern.as_bytes(), cpu_id.as_bytes());
    if has_alternatives(pattern) {
        return true;
    }
    let special = pattern.iter().position(|byte| SPECIAL.contains(byte));
    let Some(at) = special else {
        return pattern == cpu_id;
    };
    // The letter before a repetition may be missing.
    let sure = match pattern[at] {
        b'[' | b'(' => at,
        _ => at.saturating_sub(1),
    };
    let begins = cpu_id.starts_with(&pattern[..sure]);
    begins && may_follow(&pattern[sure..], &cpu_id[sure..])
}

/// Returns whether a text may stand where a pattern begins with a plain set: `[0-9A]`, or with plain alternatives:
/// `(9|A0)`. Says yes of any other pattern, and of a set that may be missing.
fn may_follow(pattern: &[u8], text: &[u8]) -> bool {
    let closing = match pattern.first() {
        Some(b'[') => b']',
        Some(b'(') => b')',
        _ => return true,
    };
    let Some(end) = pattern.iter().position(|byte| *byte == closing) else {
        return true;
    };
    let (inner, behind) = (&pattern[1..end], &pattern[end + 1..]);
    if matches!(behind.first(), Some(b'*' | b'?' | b'{')) || text.is_empty() {
        return true;
    }
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric();
    match closing {
        b']' => !inner.iter().all(is_plain) || inner.contains(&text[0]),
        _ => {
            let mut alternatives = inner.split(|byte| *byte == b'|');
            let is_read = inner.iter().all(|byte| is_plain(byte) || *byte == b'|');
            !is_read || alternatives.any(|alternative| text.starts_with(alternative))
        }
    }
}

/// Returns whether the whole pattern has alternatives, and not only a part of it in parentheses.
fn has_alternatives(pattern: &[u8]) -> bool {
    let mut depth = 0_i32;
    pattern.iter().any(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        *byte == b'|' && depth <= 0
    })
}

fn matches_whole(pattern: &str, cpu_id: &str) -> bool {
    RegexBuilder::new(&format!("^(?:{pattern})$"))
        .size_limit(MAX_PATTERN_SIZE)
        .build()
        .is_ok_and(|expression| expression.is_match(cpu_id))
}

/// The main id register of an Arm CPU, written as `0x` and 16 digits.
pub(crate) fn midr(text: &str) -> Option<u64> {
    let digits = text
        .strip_prefix("0x")
        .filter(|digits| digits.len() == 16)?;
    u64::from_str_radix(digits, 16).ok()
}

/// Returns whether the CPU is the part of the map, in its variant and revision or a later one.
fn is_part_or_later(of_map: u64, of_cpu: u64) -> bool {
    const VARIANT: u64 = 0xf << 20;
    const REVISION: u64 = 0xf;
    const VERSION: u64 = VARIANT | REVISION;
    of_map & !VERSION == of_cpu & !VERSION && of_cpu & VERSION >= of_map & VERSION
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL_LIKE: &str = "\
Family-model,Version,Filename,EventType
# a comment

GenuineIntel-6-55-[01234],v1.37,skylakex,core
GenuineIntel-6-55-[56789ABCDEF],v1.25,cascadelakex,core
GenuineIntel-6-(97|9A),v1.40,alderlake,core
AuthenticAMD-25-([245][[:xdigit:]]|[[:xdigit:]]),v1,amdzen3,core
AuthenticAMD-25-[[:xdigit:]]+,v1,amdzen4,core
004b0000,1,power8,core
004b0201,1,power8,core
004e[[:xdigit:]]{4},1,power9,core
0x00000000410fd0c0,v1,arm/neoverse-n1,core
";

    fn paths(cpu_id: &str) -> Vec<&str> {
        let (map, refused) = Mapfile::parse(KERNEL_LIKE);
        assert_eq!(refused, []);
        let rows = map.rows_of(cpu_id);
        assert_eq!(rows_for(KERNEL_LIKE, cpu_id), rows);
        rows.iter().map(|row| row.path).collect()
    }

    #[test]
    fn the_first_row_that_matches_the_whole_identification() {
        for (cpu_id, path) in [
            ("GenuineIntel-6-55-4", "skylakex"),
            ("GenuineIntel-6-55-7", "cascadelakex"),
            ("GenuineIntel-6-97-2", "alderlake"),
            ("GenuineIntel-6-9A-13", "alderlake"),
            ("AuthenticAMD-25-1-1", "amdzen3"),
            ("AuthenticAMD-25-11-1", "amdzen4"),
            ("004b0000", "power8"),
            ("004b0201", "power8"),
            ("004e1202", "power9"),
            ("0x00000000413fd0c1", "arm/neoverse-n1"),
        ] {
            assert_eq!(paths(cpu_id), [path], "{cpu_id}");
        }
        for cpu_id in [
            "",
            "GenuineIntel-6-55",
            "GenuineIntel-6-978-2",
            "AuthenticAMD-25-x-1",
            "004b0100",
            "004e12020",
            "0x00000000413fd0d1",
        ] {
            assert_eq!(paths(cpu_id), [""; 0], "{cpu_id}");
        }
    }

    #[test]
    fn the_first_line_is_a_title_whatever_it_says() {
        let (map, _) = Mapfile::parse("a,1,b,core\nc,1,d,core\n");
        assert_eq!(map.rows().len(), 1);
        let (map, _) = Mapfile::parse("\nc,1,d,core\n");
        assert_eq!(map.rows()[0].cpu, "c");
        assert!(Mapfile::parse("").0.rows().is_empty());
    }

    #[test]
    fn each_type_has_its_first_row() {
        let text = "\nx,1,one,core\nx,1,two,uncore\nx,1,three,core\n";
        let rows = Mapfile::parse(text).0.rows_of("x");
        let found: Vec<_> = rows.iter().map(|row| (row.path, row.kind)).collect();
        assert_eq!(found, [("one", "core"), ("two", "uncore")]);
    }

    #[test]
    fn lines_that_are_no_rows_are_named() {
        let (map, refused) = Mapfile::parse("\nx,1\n,1,a,core\ny,2,b,core\n");
        assert_eq!((map.rows().len(), refused), (1, vec![2, 3]));
    }

    #[test]
    fn patterns_are_not_trusted() {
        assert!(!matches("(", "("));
        assert!(!matches("a{999}{999}{999}", "a"));
        assert!(
            matches("a|b", "b") && matches("ab(c)|x(y)", "xy"),
            "no common beginning"
        );
        assert!(
            matches("ab*", "a"),
            "the letter before a star may be missing"
        );
        assert!(!matches("é", "x") && matches("é", "é"));
    }

    #[test]
    fn the_quick_no_is_right() {
        let patterns = [
            "x-6-(1C|26|27)",
            "x-6-[5]E",
            "x-6-[56]E?",
            "x-6-[5]?E",
            "x-6-(5|6)*E",
            "x-6-(|5)E",
            "x-6-[[:xdigit:]]E",
            "x-6-[4-6]E",
            "x-6-[^4]E",
            "x-6-(5(E|F)|6)",
            "x-6-5?E",
            "x-6-5E",
            "x-6-5E$",
            "x-6-.E",
            "x-6-[5",
            "x|x-6-5E",
        ];
        for pattern in patterns {
            for cpu_id in ["x-6-5E", "x-6-E", "x-6-", "x-6", "x-6-55E", "x-6-1C", ""] {
                let is_match = matches_whole(pattern, cpu_id);
                assert!(
                    begins_alike(pattern, cpu_id) || !is_match,
                    "{pattern} {cpu_id}"
                );
            }
        }
        assert!(!begins_alike("x-6-(1C|26|27)", "x-6-5E"));
        assert!(!begins_alike("x-6-(57|85)", "x-6-5E"));
        assert!(!begins_alike("x-6-[46]E", "x-6-5E"));
    }

    #[test]
    fn arm_versions() {
        let pattern = "0x00000000411fd0c2";
        assert!(matches(pattern, "0x00000000411fd0c2"));
        assert!(matches(pattern, "0x00000000412fd0c0"), "a later variant");
        assert!(
            !matches(pattern, "0x00000000411fd0c1"),
            "an earlier revision"
        );
    }
}
