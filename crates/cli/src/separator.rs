//! The text between columns for programs that read them (`-t`).

/// The refusal of points, which stand within numbers.
pub(crate) const NO_POINTS: &str = "'.' is the only non valid --field-separator argument\n";

/// `true` if a separator is refused.
pub(crate) fn is_refused(separator: Option<&str>) -> bool {
    separator.is_some_and(|separator| separator.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::is_refused;

    #[test]
    fn points_separate_nothing() {
        assert_eq!(
            [None, Some(","), Some("."), Some("..")].map(is_refused),
            [false, false, true, true]
        );
    }
}
