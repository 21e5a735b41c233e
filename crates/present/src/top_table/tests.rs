//! Tables as they are printed.

use super::*;

fn row(samples: u64, comm: &str, dso: &str, level: char, symbol: &str) -> HotRow {
    let (comm, dso, symbol) = (comm.into(), dso.into(), symbol.into());
    HotRow {
        samples,
        value: samples * 10,
        comm,
        dso,
        level,
        symbol,
    }
}

fn rows() -> Vec<HotRow> {
    vec![
        row(
            1500,
            "rustc",
            "librustc_driver-4f8d2c1e9a.so",
            '.',
            "<rustc_middle::ty::Ty as core::iter::Iterator>::next",
        ),
        row(
            480,
            "opt cgu.0",
            "[kernel.kallsyms]",
            'k',
            "clear_page_erms",
        ),
        row(9, "ld", "libc.so.6", '.', "malloc"),
        row(1, "\x1b[31m", "a\nb", '.', "\u{202e}evil"),
    ]
}

fn text(table: &HotTable<'_>, style: &HotStyle) -> String {
    let mut out = Vec::new();
    table.write(style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn table(rows: &[HotRow]) -> HotTable<'_> {
    HotTable {
        event: "cpu-clock",
        samples: 2000,
        value: 20000,
        rows,
        others: None,
        lost: &[],
        next: &[],
    }
}

#[test]
fn a_file_gets_whole_names() {
    let rows = rows();
    let expected = "\
Hottest functions by their own time: 2,000 samples of cpu-clock

Overhead  Samples  Command    Object                         Symbol
  75.00%    1,500  rustc      librustc_driver-4f8d2c1e9a.so  [.] <rustc_middle::ty::Ty as core::iter::Iterator>::next
  24.00%      480  opt cgu.0  [kernel.kallsyms]              [k] clear_page_erms
   0.45%        9  ld         libc.so.6                      [.] malloc
   0.05%        1  \\x1b[31m   a\\nb                           [.] \\u{202e}evil
";
    assert_eq!(text(&table(&rows), &HotStyle::PLAIN), expected);
}

#[test]
fn eighty_columns_cut_names_in_their_middle() {
    let rows = rows();
    let style = HotStyle {
        width: Some(80),
        ..HotStyle::PLAIN
    };
    let expected = "\
Overhead  Samples  Command    Object          Symbol
  75.00%    1,500  rustc      librus…1e9a.so  [.] <rustc_middle:…Iterator>::next
";
    let text = text(&table(&rows), &style);
    let lines: Vec<&str> = text.lines().skip(2).take(2).collect();
    assert_eq!(lines.join("\n") + "\n", expected);
    assert!(text.lines().all(|line| width(line) <= 80), "{text}");
}

#[test]
fn any_width_is_survived() {
    let rows = rows();
    for width in 0..130 {
        let style = HotStyle {
            width: Some(width),
            colour: false,
            bars: true,
        };
        let text = text(&table(&rows), &style);
        let fits = |line: &str| width < 64 || columns::width(line) <= width;
        assert!(text.lines().skip(2).all(fits), "{width}:\n{text}");
    }
}

#[test]
fn what_is_missing_and_what_comes_next_stand_below() {
    let rows = rows();
    let lost = ["12 events lost\x07".to_owned()];
    let next = [
        NextStep {
            command: "oxperf report",
            shows: "every function and its callers",
        },
        NextStep {
            command: "xdg-open flamegraph.html",
            shows: "the same as a picture",
        },
    ];
    let others = Some(HotOthers {
        functions: 1234,
        value: 100,
    });
    let text = text(
        &HotTable {
            others,
            lost: &lost,
            next: &next,
            ..table(&rows)
        },
        &HotStyle::PLAIN,
    );
    let expected = "   0.50%  in 1,234 more functions

What is missing:
  12 events lost\\x07

Look further:
  oxperf report             every function and its callers
  xdg-open flamegraph.html  the same as a picture
";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn bars_and_colours_are_for_terminals() {
    let rows = rows();
    let style = HotStyle {
        width: Some(120),
        colour: true,
        bars: true,
    };
    let text = text(&table(&rows), &style);
    assert!(
        text.contains("\x1b[31m  75.00%\x1b[0m ██████████  "),
        "{text}"
    );
    assert!(
        text.contains("\x1b[31m  24.00%\x1b[0m ███▎        "),
        "{text}"
    );
    assert!(text.contains("   0.45% "), "{text}");
}

#[test]
fn no_samples_is_said_in_words() {
    let text = text(
        &HotTable {
            samples: 0,
            value: 0,
            ..table(&[])
        },
        &HotStyle::PLAIN,
    );
    assert!(
        text.starts_with(
            "Hottest functions by their own time: 0 samples of cpu-clock\n\nNo samples:"
        ),
        "{text}"
    );
}
