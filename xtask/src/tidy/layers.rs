//! The law of the layers: a crate depends only on crates of a lower layer.

use serde_json::Value;

use super::Findings;

/// Every crate of the product with its layer; ARCHITECTURE.md explains the table.
const LAYERS: &[(&str, u32)] = &[
    ("oxperf-abi", 0),
    ("intel-pt", 0),
    ("oxperf-disasm", 0),
    ("oxperf-tar", 0),
    ("oxperf-dlfilter", 0),
    ("oxperf-http", 0),
    ("oxperf-metric", 0),
    ("oxperf-ordered", 0),
    ("oxperf-workloads", 0),
    ("oxperf-pmu-events", 0),
    ("oxperf-wire", 1),
    ("oxperf-sys", 1),
    ("oxperf-pmu", 1),
    ("oxperf-tracepoint", 1),
    ("oxperf-objects", 2),
    ("oxperf-data", 2),
    ("oxperf-inventory", 2),
    ("oxperf-machine", 2),
    ("oxperf-symbols", 3),
    ("oxperf-unwind", 3),
    ("oxperf-session", 3),
    ("oxperf-capture", 3),
    ("oxperf-itrace", 4),
    ("oxperf-listing", 4),
    ("oxperf-resolve", 4),
    ("oxperf-selftest", 4),
    ("oxperf-profile", 5),
    ("oxperf-analysis", 6),
    ("oxperf-collect", 6),
    ("oxperf-query", 6),
    ("oxperf-calls", 7),
    ("oxperf-columns", 8),
    ("oxperf-present", 7),
    ("oxperf-script", 8),
    ("oxperf-tui", 8),
    ("oxperf", 9),
];

/// Crates for development; they may be used by the tests of any layer, and by nothing else.
const DEVELOPMENT: &[&str] = &["oxperf-testkit", "xtask"];

/// Checks every dependency between crates of the workspace.
pub(super) fn check(metadata: &Value, findings: &mut Findings) {
    for package in members(metadata) {
        let name = text(package, "name");
        if layer(name).is_none() && !DEVELOPMENT.contains(&name) {
            findings.broken(name, "has no place in the table of layers");
        }
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            check_dependency(name, dependency, findings);
        }
    }
}

fn members(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|package| package["source"].is_null())
}

fn check_dependency(name: &str, dependency: &Value, findings: &mut Findings) {
    let on = text(dependency, "name");
    let for_tests = dependency["kind"] == "dev";
    match (layer(name), layer(on)) {
        _ if for_tests && layer(name).is_some() => {}
        _ if DEVELOPMENT.contains(&on) && !DEVELOPMENT.contains(&name) => {
            findings.broken(name, format!("{on} is for tests only"));
        }
        (Some(own), Some(below)) if below >= own => {
            findings.broken(
                name,
                format!("layer {own} must not depend on {on} of layer {below}"),
            );
        }
        (None, Some(below)) if name == "oxperf-testkit" && below > 0 => {
            findings.broken(name, format!("stands on oxperf-abi alone, not on {on}"));
        }
        _ => {}
    }
}

fn layer(name: &str) -> Option<u32> {
    LAYERS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, layer)| *layer)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn broken(name: &str, on: &str, kind: Option<&str>) -> usize {
        let package =
            json!({"name": name, "source": null, "dependencies": [{"name": on, "kind": kind}]});
        let mut findings = Findings::default();
        check(&json!({"packages": [package]}), &mut findings);
        findings.broken.len()
    }

    #[test]
    fn only_lower_layers() {
        assert_eq!(broken("oxperf-wire", "oxperf-abi", None), 0);
        assert_eq!(broken("oxperf-wire", "oxperf-sys", None), 1);
        assert_eq!(broken("oxperf-wire", "oxperf-data", None), 1);
        assert_eq!(broken("oxperf-wire", "oxperf-data", Some("dev")), 0);
    }

    #[test]
    fn the_testkit_is_for_tests_and_stands_on_abi() {
        assert_eq!(broken("oxperf-wire", "oxperf-testkit", Some("dev")), 0);
        assert_eq!(broken("oxperf-wire", "oxperf-testkit", None), 1);
        assert_eq!(broken("oxperf-testkit", "oxperf-wire", None), 1);
    }

    #[test]
    fn a_crate_needs_a_place() {
        assert_eq!(broken("oxperf-new", "serde", None), 1);
    }
}
