//! Text in pages of one size: it grows without moving, and its memory serves the next text, however long that is.

/// Bytes of a page; the last thing that is written on it may go beyond.
const PAGE: usize = 1 << 20;
/// Room for that.
const MARGIN: usize = 64 << 10;

/// A text.
#[derive(Debug, Default)]
pub(crate) struct TextPages {
    /// The pages so far; the last one is open.
    written: Vec<Vec<u8>>,
    /// Empty ones.
    spare: Vec<Vec<u8>>,
    /// Bytes on the full pages.
    full: usize,
}

/// A place in a text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct TextPosition {
    page: usize,
    offset: usize,
}

impl TextPages {
    /// The page to write on.
    #[inline]
    pub(super) fn open(&mut self) -> &mut Vec<u8> {
        if self.written.last().is_none_or(|page| page.len() >= PAGE) {
            self.turn();
        }
        let last = self.written.len() - 1;
        &mut self.written[last]
    }

    #[cold]
    fn turn(&mut self) {
        self.full += self.written.last().map_or(0, Vec::len);
        let empty = self
            .spare
            .pop()
            .unwrap_or_else(|| Vec::with_capacity(PAGE + MARGIN));
        self.written.push(empty);
    }

    /// Bytes of the text.
    pub(super) fn len(&self) -> usize {
        self.full + self.written.last().map_or(0, Vec::len)
    }

    /// The end of the text.
    pub(crate) fn end(&self) -> TextPosition {
        match self.written.split_last() {
            Some((last, before)) => TextPosition {
                page: before.len(),
                offset: last.len(),
            },
            None => TextPosition::default(),
        }
    }

    /// The text between two places, page by page; none of the pieces is empty.
    pub(crate) fn between(
        &self,
        from: TextPosition,
        to: TextPosition,
    ) -> impl Iterator<Item = &[u8]> {
        let pages = self
            .written
            .iter()
            .enumerate()
            .take(to.page + 1)
            .skip(from.page);
        let pieces = pages.map(move |(number, page)| {
            let start = if number == from.page { from.offset } else { 0 };
            let end = if number == to.page {
                to.offset
            } else {
                page.len()
            };
            page.get(start..end).unwrap_or_default()
        });
        pieces.filter(|piece| !piece.is_empty())
    }

    /// Begins anew on the same pages.
    pub(super) fn clear(&mut self) {
        self.written.iter_mut().for_each(Vec::clear);
        self.spare.append(&mut self.written);
        self.full = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_between_places_over_all_pages() {
        let mut pages = TextPages::default();
        assert_eq!(
            (
                pages.len(),
                pages.between(TextPosition::default(), pages.end()).count()
            ),
            (0, 0)
        );
        let mut positions = vec![pages.end()];
        for letter in b'a'..=b'e' {
            pages
                .open()
                .extend(std::iter::repeat_n(letter, PAGE / 2 + 1));
            positions.push(pages.end());
        }
        assert_eq!(pages.len(), 5 * (PAGE / 2 + 1));
        for (letter, places) in (b'a'..=b'e').zip(positions.windows(2)) {
            let text = pages
                .between(places[0], places[1])
                .collect::<Vec<_>>()
                .concat();
            assert_eq!(text, vec![letter; PAGE / 2 + 1]);
        }
        let whole = pages
            .between(TextPosition::default(), pages.end())
            .map(<[u8]>::len);
        assert_eq!(
            whole.collect::<Vec<_>>(),
            [PAGE + 2, PAGE + 2, PAGE / 2 + 1]
        );

        pages.clear();
        assert_eq!((pages.len(), pages.end()), (0, TextPosition::default()));
        pages.open().push(b'x');
        assert_eq!(
            pages
                .between(TextPosition::default(), pages.end())
                .collect::<Vec<_>>(),
            [b"x"]
        );
    }
}
