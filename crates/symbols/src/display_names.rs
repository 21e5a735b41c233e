//! The names that a reader has asked for: few of a table's symbols ever ran.

use std::cmp::Ordering;
use std::sync::OnceLock;

/// Names by symbol, each made when it is first asked for; a stretch of symbols takes memory with the first of them.
#[derive(Debug, Default)]
pub(crate) struct DisplayNames {
    stretches: Vec<OnceLock<Stretch>>,
}

type Stretch = Box<[OnceLock<Box<str>>; STRETCH]>;

/// Symbols of a stretch.
const STRETCH: usize = 32;

impl DisplayNames {
    /// None of `count` names yet.
    pub(crate) fn of(count: usize) -> DisplayNames {
        let mut stretches = Vec::new();
        stretches.resize_with(count.div_ceil(STRETCH), OnceLock::new);
        DisplayNames { stretches }
    }

    /// The name of a symbol, made by `show`; `None` for one that is not in the table.
    pub(crate) fn get(&self, index: usize, show: impl FnOnce() -> Box<str>) -> Option<&str> {
        let stretch = self.stretches.get(index / STRETCH)?;
        let names = stretch.get_or_init(|| Box::new([const { OnceLock::new() }; STRETCH]));
        Some(names[index % STRETCH].get_or_init(show))
    }
}

/// The greater name is the one to be shown.
pub(crate) fn compare_display_names(a: &str, b: &str) -> Ordering {
    let underscores = |name: &str| name.bytes().take_while(|&byte| byte == b'_').count();
    underscores(b)
        .cmp(&underscores(a))
        .then_with(|| a.len().cmp(&b.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_once() {
        let shown = DisplayNames::of(STRETCH + 1);
        assert_eq!(shown.get(STRETCH, || "first".into()), Some("first"));
        assert_eq!(shown.get(STRETCH, || "second".into()), Some("first"));
        assert_eq!(shown.get(0, || "other".into()), Some("other"));
        assert_eq!(shown.get(2 * STRETCH, || "none".into()), None);
    }
}
