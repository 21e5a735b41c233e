//! Text in columns of a terminal: how many cells it takes, and cutting and filling it to a width.

/// Cells of a terminal that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(cells).sum()
}

/// The text in exactly `room` cells: filled with blanks or cut in its middle.
pub(super) fn pad(text: &str, room: usize) -> String {
    let mut text = shorten(text, room);
    let blanks = room.saturating_sub(width(&text));
    text.extend(std::iter::repeat_n(' ', blanks));
    text
}

/// The text in at most `room` cells. The middle gives way: beginnings name the module, endings the function.
pub(super) fn shorten(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let Some(room) = room.checked_sub(1) else {
        return String::new();
    };
    let head = room / 2;
    let head_end = fitting(
        text.char_indices().map(|(at, c)| (at + c.len_utf8(), c)),
        head,
    );
    let tail_start = fitting(text.char_indices().rev(), room - head).unwrap_or(text.len());
    let head = head_end.and_then(|end| text.get(..end)).unwrap_or_default();
    format!("{head}…{}", text.get(tail_start..).unwrap_or_default())
}

/// The last place that the characters up to it fit into `room` cells.
fn fitting(places: impl Iterator<Item = (usize, char)>, room: usize) -> Option<usize> {
    let mut used = 0;
    let fits = |(_, c): &(usize, char)| {
        used += cells(*c);
        used <= room
    };
    places.take_while(fits).last().map(|(at, _)| at)
}

/// Cells of a character: two for East Asian and pictographic ones, none for marks that join the one before.
fn cells(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f => {
            2
        }
        0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x2_0000..=0x3_fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_gives_way() {
        assert_eq!(shorten("abcdefghij", 10), "abcdefghij");
        assert_eq!(shorten("abcdefghij", 7), "abc…hij");
        assert_eq!(shorten("abcdefghij", 6), "ab…hij");
        assert_eq!(
            (
                shorten("abc", 2).as_str(),
                shorten("abc", 1).as_str(),
                shorten("abc", 0).as_str()
            ),
            ("…c", "…", "")
        );
    }

    #[test]
    fn wide_characters_take_two_cells() {
        assert_eq!(width("日本e\u{301}"), 5);
        assert_eq!(shorten("日本語の関数", 6), "日…数");
        assert_eq!(pad("日本語の関数", 6), "日…数 ");
        assert_eq!(pad("ab", 4), "ab  ");
    }
}
