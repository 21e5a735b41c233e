//! Options of `stat` that are refused, and how.

use super::arguments::parse_words;

/// The message and exit code with which words are refused.
fn refused(words: &[&str]) -> (String, i32) {
    let problem = parse_words(words).expect_err("refused");
    (problem.message.trim_end().to_owned(), problem.code)
}

#[test]
fn options_that_exclude_each_other_are_refused_in_perfs_words() {
    let cases = [
        (&["-x", ",", "-B"][..], "-B option not supported with -x"),
        (&["--table"], "--table is only supported with -r"),
        (
            &["--interval-count", "2"],
            "interval-count option should be used together with interval-print.",
        ),
        (
            &["-I", "100", "--timeout", "100"],
            "timeout option is not supported with interval-print.",
        ),
        (&["--timeout", "5"], "timeout must be >= 10ms."),
        (&["-r", "-1"], "Run count must be a positive number"),
        (&["-p", "abc"], "Problems finding threads of monitor"),
        (
            &["--per-core", "true"],
            "both cgroup and no-aggregation modes only available in system-wide mode",
        ),
    ];
    for (words, message) in cases {
        let words = [&["-e", "task-clock"], words].concat();
        assert_eq!(refused(&words), (message.to_owned(), 22), "{words:?}");
    }
}
