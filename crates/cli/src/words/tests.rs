//! Words against the options of made-up commands.

use clap::{Arg, ArgAction, Command};

use super::*;

fn switch(name: &'static str, letter: char) -> Arg {
    Arg::new(name)
        .long(name)
        .short(letter)
        .action(ArgAction::SetTrue)
}

fn value(name: &'static str, letter: char) -> Arg {
    Arg::new(name).long(name).short(letter)
}

fn command() -> Command {
    Command::new("made").args([
        switch("all", 'a'),
        switch("bare", 'b').alias("naked"),
        switch("no-inherit", 'i'),
        value("fields", 'F'),
        value("cpu", 'C'),
        value("max-stack", 's'),
        value("level", 'z').num_args(0..=1).require_equals(true),
        value("graph", 'g').num_args(0..=1),
        Arg::new("barren").long("barren").action(ArgAction::SetTrue),
        Arg::new("file").num_args(0..),
    ])
}

fn above() -> Command {
    Command::new("program").arg(Arg::new("folder").long("folder").global(true))
}

fn reading(words: &[&str]) -> Result<Reading, Mistake> {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    read(&command(), &above(), &words)
}

#[track_caller]
fn run(words: &[&str], expected: &[&str]) {
    let expected = expected.iter().map(OsString::from).collect();
    assert_eq!(reading(words), Ok(Reading::Run(expected)));
}

#[track_caller]
fn refused(words: &[&str], message: &str) {
    assert_eq!(reading(words).unwrap_err().message, message);
}

#[test]
fn values_are_attached_to_letters_or_follow() {
    run(&["-F+flags", "-C0"], &["--fields=+flags", "--cpu=0"]);
    run(
        &["-F", "-x", "--cpu", "--all"],
        &["--fields=-x", "--cpu=--all"],
    );
    run(&["-abF", "x"], &["--all", "--bare", "--fields=x"]);
    run(&["-z3", "-z", "4"], &["--level=3", "--level", "--", "4"]);
    run(&["--level=", "--level"], &["--level=", "--level"]);
    run(
        &["-g", "caller", "-g", "-a"],
        &["--graph=caller", "--graph", "--all"],
    );
    run(&["--folder", "x"], &["--folder=x"]);
    run(&["--naked"], &["--bare"]);
    run(&["-C", " 0, 1"], &["--cpu=0,1"]);
}

#[test]
fn options_and_words_mix_until_two_dashes() {
    run(
        &["one", "-a", "-", "--", "-b"],
        &["--all", "--", "one", "-", "-b"],
    );
}

#[test]
fn names_may_be_abbreviated() {
    run(&["--fi", "x", "--lev=2"], &["--fields=x", "--level=2"]);
    refused(
        &["--f", "x"],
        " Error: Ambiguous option: f (could be --fields or --folder)\n",
    );
}

#[test]
fn the_last_word_about_an_option_counts() {
    run(&["-F", "x", "--no-fields", "-a"], &["--all"]);
    run(&["--all", "--no-all"], &[]);
    run(&["--no-all", "--all"], &["--all"]);
    run(&["-i", "--inherit"], &[]);
    run(&["-i", "--no-no-inherit"], &[]);
    run(&["--no-lev"], &[]);
}

#[test]
fn mistakes_are_named_as_perf_names_them() {
    refused(&["--frobnicate"], "  Error: unknown option `frobnicate'\n");
    refused(&["-aY"], "  Error: unknown switch `Y'\n");
    refused(&["-F"], " Error: switch `F' requires a value");
    refused(&["--fie"], " Error: option `fields' requires a value");
    refused(&["--all=3"], " Error: option `all' takes no value");
    refused(
        &["--ba"],
        " Error: Ambiguous option: ba (could be --bare or --barren)\n",
    );
}

#[test]
fn questions_end_the_reading() {
    assert_eq!(
        reading(&["-ah", "cpu", "x"]),
        Ok(Reading::Usage(vec!["cpu".to_owned(), "x".to_owned()]))
    );
    assert_eq!(reading(&["-a", "--help"]), Ok(Reading::Manual));
    assert_eq!(reading(&["--list-opts"]), Ok(Reading::ListOptions));
}

#[test]
fn numbers_that_are_taken_back_may_be_zero() {
    run(&["--no-max-stack"], &["--max-stack=0"]);
    run(&["-s3", "--no-max-stack", "--no-cpu"], &["--max-stack=0"]);
    run(
        &["--no-max-stack", "-s3"],
        &["--max-stack=0", "--max-stack=3"],
    );
}

#[test]
fn a_statement_that_begins_with_a_comment_is_no_option() {
    let statement = "-- what it shows\nSELECT 1";
    run(&[statement, "-a"], &["--all", "--", statement]);
    run(&[statement], &["--", statement]);
    assert!(reading(&["---all"]).is_err());
}
