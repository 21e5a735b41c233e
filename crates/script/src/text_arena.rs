//! TextArena that are rendered once and copied from then on, by the number of what they tell.

/// Rendered texts, one after another.
#[derive(Debug, Default)]
pub(crate) struct TextArena {
    text: Vec<u8>,
    /// Where each text begins and ends; empty for one not rendered yet.
    spans: Vec<(usize, usize)>,
}

impl TextArena {
    /// The text with a number that was rendered before; empty for one that was not.
    #[inline]
    pub(crate) fn known(&self, id: u32) -> &[u8] {
        let (start, end) = self.spans.get(id as usize).copied().unwrap_or_default();
        &self.text[start..end]
    }

    /// The text with a number; `render` appends it when it is asked for the first time.
    #[inline]
    pub(crate) fn get(&mut self, id: u32, render: impl FnOnce(&mut Vec<u8>)) -> &[u8] {
        let index = id as usize;
        if self.spans.len() <= index {
            self.spans.resize(index + 1, (0, 0));
        }
        if self.spans[index].1 == 0 {
            let start = self.text.len();
            render(&mut self.text);
            self.spans[index] = (start, self.text.len());
        }
        let (start, end) = self.spans[index];
        &self.text[start..end]
    }
}
