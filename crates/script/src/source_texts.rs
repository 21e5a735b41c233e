//! Source files, read when a line of them is first shown.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use oxperf_machine::ThreadId;
use oxperf_objects::Contents;
use oxperf_symbols::SourceLine;

/// The files that lines were asked of.
#[derive(Debug, Default)]
pub(crate) struct SourceTexts {
    files: HashMap<Arc<str>, Option<SourceText>>,
    /// The line that each thread showed last.
    last: HashMap<ThreadId, (Arc<str>, u32)>,
}

#[derive(Debug)]
struct SourceText {
    contents: Contents,
    /// The offset of each line's first byte.
    starts: Vec<usize>,
}

impl SourceTexts {
    /// The text of a line, unless the thread showed that line last.
    pub(crate) fn next(&mut self, thread: ThreadId, line: &SourceLine) -> Option<&[u8]> {
        let shown = self
            .last
            .get(&thread)
            .is_some_and(|(file, number)| *file == line.file && *number == line.line);
        if shown || self.line(&line.file, line.line).is_none() {
            return None;
        }
        self.last
            .insert(thread, (Arc::clone(&line.file), line.line));
        self.line(&line.file, line.line)
    }

    /// A line of a file, counted from 1, without its end; `None` where there is no such file or line.
    fn line(&mut self, file: &Arc<str>, line: u32) -> Option<&[u8]> {
        let open = || {
            let contents = Contents::open(Path::new(&**file)).ok()?;
            let ends = contents
                .iter()
                .enumerate()
                .filter(|(_, byte)| **byte == b'\n');
            let starts = std::iter::once(0)
                .chain(ends.map(|(at, _)| at + 1))
                .collect();
            Some(SourceText { contents, starts })
        };
        let text = self
            .files
            .entry(Arc::clone(file))
            .or_insert_with(open)
            .as_ref()?;
        let start = *text.starts.get((line as usize).checked_sub(1)?)?;
        let end = text
            .starts
            .get(line as usize)
            .map_or(text.contents.len(), |next| next - 1);
        text.contents.get(start..end)
    }
}
