//! The text of located addresses, each rendered once: it depends on the address and its mapping alone.

use oxperf_resolve::FrameId;

/// Rendered texts, one after another, found by frame.
#[derive(Debug, Default)]
pub(crate) struct FrameTexts {
    text: Vec<u8>,
    /// Where each frame's text begins and ends; empty for one not rendered yet.
    spans: Vec<(usize, usize)>,
}

impl FrameTexts {
    /// The text of a frame; `render` appends it when it is asked for the first time.
    #[inline]
    pub(crate) fn get(&mut self, id: FrameId, render: impl FnOnce(&mut Vec<u8>)) -> &[u8] {
        let span = self.ensure(id, render);
        &self.text[span.0..span.1]
    }

    /// The text of a frame that was rendered before; empty for one that was not.
    #[inline]
    pub(crate) fn known(&self, id: FrameId) -> &[u8] {
        let (start, end) = self.spans.get(id.0 as usize).copied().unwrap_or_default();
        &self.text[start..end]
    }

    /// Renders a frame if that has not been done.
    #[inline]
    pub(crate) fn ensure(&mut self, id: FrameId, render: impl FnOnce(&mut Vec<u8>)) -> (usize, usize) {
        let index = id.0 as usize;
        if self.spans.len() <= index {
            self.spans.resize(index + 1, (0, 0));
        }
        if self.spans[index].1 == 0 {
            let start = self.text.len();
            render(&mut self.text);
            self.spans[index] = (start, self.text.len());
        }
        self.spans[index]
    }
}
