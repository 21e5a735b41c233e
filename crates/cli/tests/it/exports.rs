//! Files of other tools hold what `report` shows: the totals of each event, and tables whose columns are of one length.

use std::path::Path;
use std::process::Command;

use crate::support::lossy;

fn run(arguments: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/inlined");
    let recording = std::fs::read_to_string(folder.join("recording.txt")).unwrap();
    let recording = oxperf_testkit::Recording::parse(&recording)
        .unwrap()
        .to_file();
    let file =
        crate::support::scratch(module_path!()).join(format!("{}.data", arguments.join("-")));
    std::fs::write(&file, recording).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(arguments)
        .arg("-i")
        .arg(&file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", lossy(&output.stderr));
    lossy(&output.stdout)
}

#[test]
fn totals_are_those_of_report() {
    let json = run(&["report", "--json"]);
    let number = |key: &str| -> u64 {
        let (_, rest) = json
            .split_once(&format!("\"{key}\":"))
            .unwrap_or_else(|| panic!("{key} in {json}"));
        let digits: String = rest
            .trim_start()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        digits.parse().unwrap()
    };
    let callgrind = run(&["export", "--format", "callgrind"]);
    let totals = callgrind.lines().last().unwrap();
    assert_eq!(
        totals,
        format!("totals: {} {}", number("samples"), number("period"))
    );
    // Lines of costs that follow `calls=` are of what was called; the others are of functions themselves.
    let mut own = 0;
    let mut lines = callgrind.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("calls=") {
            lines.next();
        } else if line.starts_with("0x") {
            own += line.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
        }
    }
    assert_eq!(own, number("period"));
}
