//! Values come as they are written; a fault costs one object.

use super::*;

fn names(text: &str) -> (Vec<String>, Vec<(usize, String)>) {
    let document = read(text);
    let objects = document.lists.iter().flat_map(|(_, objects)| objects);
    let names = objects.map(|object| object.text("n").unwrap_or("?").to_owned());
    let faults = document.faults.iter();
    let faults = faults.map(|fault| (line_at(text, fault.offset), fault.expected.to_string()));
    (names.collect(), faults.collect())
}

#[test]
fn lists_and_objects_with_lists() {
    let text =
        r#"{"Header": {"a": 1}, "Events": [{"n": "x", "m": 0x10}, {"n": "y"}], "_type": "z"}"#;
    let document = read(text);
    assert_eq!((document.lists.len(), &*document.lists[0].0), (1, "Events"));
    assert_eq!(document.root.text("_type"), Some("z"));
    assert_eq!(document.lists[0].1[0].text("m"), Some("0x10"));
    assert_eq!(document.lists[0].1[0].offset, text.find("{\"n\"").unwrap());
    assert_eq!(names(r#"[ ]"#), (vec![], vec![]));
    assert_eq!(names("\u{feff}[{\"n\":\"a\"}]\n").0, ["a"]);
    assert_eq!(
        names(r#"[1, null, {"n":[1,{"b":true}]}, {"n":-5}]"#).0,
        ["?", "-5"]
    );
}

#[test]
fn escapes() {
    let text = r#"[{"n":"a\n\"\\\/\u00e9\ud800é"}]"#;
    assert_eq!(names(text).0, ["a\n\"\\/é\u{fffd}é"]);
}

#[test]
fn a_fault_costs_one_object() {
    let text = "[\n{\"n\": \"a\"},\n{\"n\": \"b\",\n \"m\": },\n{\"n\": \"c\"},\n{\"n\" \"d\"},\n{\"n\": \"e\"}\n]";
    let (names, faults) = names(text);
    assert_eq!(names, ["a", "c", "e"]);
    let expected = [(4, "a value".to_owned()), (6, "':'".to_owned())];
    assert_eq!(faults, expected);
}

#[test]
fn an_end_too_early_is_a_fault() {
    for text in [
        "",
        "x",
        "[",
        "{",
        "[{",
        "[{\"a\":\"b",
        "[{\"a\":\"b\"",
        "{\"a\":[{}",
        "[{}] x",
        "[{\"a\":\"b\\q\"}]",
    ] {
        assert!(!read(text).faults.is_empty(), "{text}");
    }
    let deep = "[".repeat(100_000);
    assert!(!read(&deep).faults.is_empty());
    let unclosed = "[{\"a\":\"".to_owned() + &"},{\"a\":\"".repeat(10_000);
    assert!(read(&unclosed).faults.len() <= MAX_FAULTS);
}
