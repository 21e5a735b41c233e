//! Outcomes as JUnit XML.

use std::fmt::Write;
use std::path::Path;

use oxperf_selftest::Shortfall;

use super::run::Finished;
use crate::failure::Failure;

/// Writes the file.
pub(super) fn write(path: &Path, finished: &[Finished]) -> Result<(), Failure> {
    std::fs::write(path, text(finished))
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))
}

fn text(finished: &[Finished]) -> String {
    let number = |wanted: fn(&Shortfall) -> bool| {
        let short = finished
            .iter()
            .filter_map(|one| one.outcome.verdict.as_ref().err());
        short.filter(|shortfall| wanted(shortfall)).count()
    };
    let failures = number(|shortfall| matches!(shortfall, Shortfall::Failure(_)));
    let skipped = number(|shortfall| matches!(shortfall, Shortfall::Skip(_)));
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<testsuites>\n  <testsuite name=\"perf-tests\" tests=\"{}\" \
         failures=\"{failures}\" skipped=\"{skipped}\">\n",
        finished.len()
    );
    for one in finished {
        add(&mut xml, one);
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

fn add(xml: &mut String, one: &Finished) {
    // Writing to a text does not fail.
    let _ = writeln!(
        xml,
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.2}\">",
        escaped(one.case.test.name),
        escaped(one.case.name()),
        one.outcome.took.as_secs_f64()
    );
    let _ = match &one.outcome.verdict {
        Ok(()) => Ok(()),
        Err(Shortfall::Skip(reason)) => {
            writeln!(xml, "      <skipped message=\"{}\"/>", escaped(reason))
        }
        Err(Shortfall::Failure(reason)) => writeln!(
            xml,
            "      <failure message=\"FAILED\">\n{}\n{}\n      </failure>",
            escaped(one.outcome.notes.trim_end()),
            escaped(reason)
        ),
    };
    xml.push_str("    </testcase>\n");
}

/// The text as XML takes it: no control character but the end of a line.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push('\n'),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_harmless() {
        assert_eq!(escaped("a<b>&\"c\"\u{1b}"), "a&lt;b&gt;&amp;&quot;c&quot; ");
    }
}
