//! The language of `-g`: words in any order.

use oxperf_analysis::hist::{CallGraphOptions, Shape};
use oxperf_present::report::{GraphText, GraphValue};
use oxperf_profile::ChainOrder;

/// The request of `-g`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct CallGraphSpec {
    /// The drawing; `None` for no call graph.
    pub(super) shape: Option<Shape>,
    /// The direction; `None` when it was not said.
    pub(super) order: Option<ChainOrder>,
    /// Branches below this percentage are left out.
    pub(super) min_percent: f64,
    /// Most lines of a row.
    pub(super) limit: Option<usize>,
    value: GraphValue,
    /// The meaning of lines.
    pub(super) line: Line,
}

/// The meaning of a line of a call graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Line {
    /// A function.
    Function,
    /// A source line of a function.
    Source,
    /// An address, with its source line.
    Address,
}

impl Default for CallGraphSpec {
    fn default() -> CallGraphSpec {
        CallGraphSpec {
            shape: Some(Shape::Graph),
            order: None,
            min_percent: CallGraphOptions::MIN_PERCENT,
            limit: None,
            value: GraphValue::Percent,
            line: Line::Function,
        }
    }
}

impl CallGraphSpec {
    /// Follows one argument of `-g`.
    ///
    /// # Errors
    /// A word that is not known, as a sentence.
    pub(super) fn apply(&mut self, text: &str) -> Result<(), String> {
        let mut numbers = 0;
        for word in text
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
        {
            match word.parse::<f64>() {
                Ok(number) if number.is_finite() && number >= 0.0 => {
                    numbers += 1;
                    self.apply_number(number, numbers);
                }
                _ => self.apply_word(word)?,
            }
        }
        Ok(())
    }

    /// The first number is the least percentage, the second the most lines.
    fn apply_number(&mut self, number: f64, place: u32) {
        match place {
            1 => self.min_percent = number,
            _ => self.limit = (number >= 1.0).then_some(number as usize),
        }
    }

    fn apply_word(&mut self, word: &str) -> Result<(), String> {
        let is = |full: &str| full.starts_with(word);
        match () {
            () if is("none") => self.shape = None,
            () if is("graph") => self.shape = Some(Shape::Graph),
            () if is("fractal") => self.shape = Some(Shape::Fractal),
            () if is("flat") => self.shape = Some(Shape::Flat),
            () if is("folded") => self.shape = Some(Shape::Folded),
            () if is("caller") => self.order = Some(ChainOrder::Caller),
            () if is("callee") => self.order = Some(ChainOrder::Callee),
            () if is("percent") => self.value = GraphValue::Percent,
            () if is("period") => self.value = GraphValue::Period,
            () if is("count") => self.value = GraphValue::Count,
            () if is("function") => self.line = Line::Function,
            () if is("srcline") => self.line = Line::Source,
            () if is("address") => self.line = Line::Address,
            // What branches say stands behind lines wherever it is known.
            () if is("branch") => {}
            () => return Err(unknown(word)),
        }
        Ok(())
    }

    /// Options for the trees.
    pub(super) fn options(&self, order: ChainOrder) -> Option<CallGraphOptions> {
        let (min_percent, by_address) = (self.min_percent, self.line == Line::Address);
        Some(CallGraphOptions {
            shape: self.shape?,
            order,
            min_percent,
            by_address,
        })
    }

    /// Options for the drawing.
    pub(super) fn text(&self, skip_first: bool, coloured: bool) -> Option<GraphText> {
        let (value, limit, with_source) = (self.value, self.limit, self.line != Line::Function);
        Some(GraphText {
            shape: self.shape?,
            value,
            limit,
            skip_first,
            coloured,
            with_source,
        })
    }
}

fn unknown(word: &str) -> String {
    format!(
        "Error: unknown call graph option '{word}'\nKnown: none graph fractal flat folded caller callee percent period \
         count function srcline address branch, and numbers for the least percentage and the most lines"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> Result<CallGraphSpec, String> {
        let mut spec = CallGraphSpec::default();
        spec.apply(text).map(|()| spec)
    }

    #[test]
    fn words_come_in_any_order() {
        let parsed = spec("caller,2.5,fractal,10,count").unwrap();
        assert_eq!(
            (parsed.shape, parsed.order),
            (Some(Shape::Fractal), Some(ChainOrder::Caller))
        );
        assert_eq!(
            (parsed.min_percent, parsed.limit, parsed.value),
            (2.5, Some(10), GraphValue::Count)
        );
        assert_eq!(spec("none").unwrap().shape, None);
        assert_eq!(
            spec("callee,branch").unwrap().order,
            Some(ChainOrder::Callee)
        );
    }

    #[test]
    fn what_is_not_known_is_named() {
        assert!(spec("graph,sideways").unwrap_err().contains("'sideways'"));
        assert!(spec("nan").is_err());
    }
}
