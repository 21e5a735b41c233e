//! The branches that each sample tells: `branch_type=`.

use super::value::{text, value_position};
use crate::SyntaxProblem;
use crate::syntax::Term;
use oxperf_abi::BranchSampleType;

/// The branches that the term's words name, beside those that were asked for `before`. Privilege levels alone mean any
/// branch there.
pub(super) fn with(
    before: Option<BranchSampleType>,
    term: &Term<'_>,
) -> Result<BranchSampleType, SyntaxProblem> {
    let asked = BranchSampleType::named_filters(text(term)?).map_err(|_| unknown(term))?;
    let levels = BranchSampleType::USER | BranchSampleType::KERNEL | BranchSampleType::HV;
    let all = before.unwrap_or(BranchSampleType::EMPTY) | asked;
    Ok(if levels.contains(all) {
        all | BranchSampleType::ANY
    } else {
        all
    })
}

fn unknown(term: &Term<'_>) -> SyntaxProblem {
    let names: Vec<&str> = BranchSampleType::filter_names().collect();
    SyntaxProblem::new(value_position(term), "invalid branch sample type")
        .with_help(format!("valid words: {}", names.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::TermValue;

    fn asked(words: &str) -> Option<BranchSampleType> {
        let value = TermValue {
            text: words,
            position: 0,
        };
        let term = Term {
            name: "branch_type",
            position: 0,
            value: Some(value),
        };
        with(None, &term).ok()
    }

    #[test]
    fn levels_alone_mean_any_branch() {
        let (any, user) = (BranchSampleType::ANY, BranchSampleType::USER);
        assert_eq!(asked("u"), Some(any | user));
        assert_eq!(asked("any,u"), Some(any | user));
        assert_eq!(asked("any_call"), Some(BranchSampleType::ANY_CALL));
        assert_eq!(asked("no_flags"), Some(BranchSampleType::NO_FLAGS));
        assert_eq!(asked("foo"), None);
    }
}
