//! Files of other tools hold what `report` shows: the totals of each event, and tables whose columns are of one length.

use std::path::Path;
use std::process::Command;

use oxperf_testkit::otlp::OtlpRequest;

use crate::support::lossy;

fn run(arguments: &[&str]) -> String {
    lossy(&run_on("inlined", arguments))
}

fn run_on(golden: &str, arguments: &[&str]) -> Vec<u8> {
    let golden = Path::new("tests/golden").join(golden);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(&golden);
    let recording = std::fs::read_to_string(folder.join("recording.txt")).unwrap();
    let recording = oxperf_testkit::Recording::parse(&recording)
        .unwrap()
        .to_file();
    let name = [
        &*golden.to_string_lossy().replace('/', "-"),
        &arguments.join("-"),
    ]
    .join("-");
    let file = crate::support::scratch(module_path!()).join(format!("{name}.data"));
    std::fs::write(&file, recording).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(arguments)
        .arg("-i")
        .arg(&file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", lossy(&output.stderr));
    output.stdout
}

/// The first number of this key.
fn number(json: &str, key: &str) -> u64 {
    let (_, rest) = json
        .split_once(&format!("\"{key}\":"))
        .unwrap_or_else(|| panic!("{key} in {json}"));
    let digits: String = rest
        .trim_start()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().unwrap()
}

#[test]
fn totals_are_those_of_report() {
    let json = run(&["report", "--json"]);
    let number = |key| number(&json, key);
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

/// Recordings of several kinds: without chains, times or names, with guests, losses, another byte order.
const GOLDENS: [&str; 12] = [
    "inlined",
    "big-endian",
    "build-ids",
    "chains",
    "deferred",
    "guests",
    "kernel-lines",
    "losses",
    "memory",
    "sideband",
    "threads",
    "two-events",
];

/// Keeps the rules of OpenTelemetry's profiles; the sums are those of `report`.
#[test]
fn profiles_of_opentelemetry_keep_the_rules() {
    for golden in GOLDENS {
        let bytes = run_on(golden, &["export", "--format", "otlp"]);
        let request = OtlpRequest::decode(&bytes).unwrap();
        assert_eq!(request.faults(), [""; 0], "{golden}");
        let json = lossy(&run_on(golden, &["report", "--json"]));
        let first = request.profiles().next().unwrap();
        let values = first.samples.iter().flat_map(|sample| &sample.values);
        let counts = first
            .samples
            .iter()
            .map(|sample| sample.values.len() as u64);
        assert_eq!(
            (counts.sum::<u64>(), values.sum::<i64>()),
            (
                number(&json, "samples"),
                number(&json, "period").cast_signed()
            ),
            "{golden}"
        );
    }
}
