//! The page as text. How it behaves in a browser is checked by `xtask/browser/check.sh`.

use oxperf_abi::{Pid, Tid};
use oxperf_analysis::flame::{FlameDso, FlameFrame, FlameKind, FlameNode, FlameWeight};
use oxperf_analysis::timeline::{TimelineCell, TimelineLane, TimelineThread};

use super::*;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'&\u{202e}\u{1b}[0m";

fn event(name: &str) -> ReportEvent<'_> {
    let weight = FlameWeight {
        value: 5,
        samples: 1,
    };
    let tree = FlameTree {
        names: vec![name.into()],
        dsos: vec![FlameDso {
            name: name.into(),
            path: name.into(),
            kernel: false,
        }],
        frames: vec![FlameFrame {
            name: 0,
            dso: Some(0),
            kind: FlameKind::Function,
        }],
        nodes: vec![FlameNode {
            parent: None,
            frame: 0,
            own: weight,
            total: weight,
        }],
        folded: None,
    };
    let timeline = Timeline {
        start: Some(12_000_000_034),
        stretch: 7,
        stretches: 1,
        threads: vec![TimelineThread {
            pid: Pid(1),
            tid: Tid(2),
            name: name.into(),
        }],
        lanes: vec![TimelineLane {
            thread: 0,
            cpu: None,
        }],
        cells: vec![TimelineCell {
            stretch: 0,
            lane: 0,
            node: 0,
            weight,
        }],
    };
    ReportEvent {
        name,
        unit: WeightUnit::Count(name),
        samples: 1,
        tree,
        timeline,
    }
}

fn text(page: &ReportPage<'_>) -> String {
    let mut out = Vec::new();
    page.write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn digests_are_those_of_the_assets() {
    let digests = (html::digest(ASSETS.style), html::digest(SCRIPT));
    assert_eq!(
        (ASSETS.style_digest, ASSETS.script_digest),
        (&*digests.0, &*digests.1)
    );
}

#[test]
fn no_name_reaches_the_markup() {
    let lost = [HOSTILE.to_owned()];
    let events = [event(HOSTILE), event(HOSTILE)];
    let html = text(&ReportPage {
        title: HOSTILE,
        subtitle: HOSTILE,
        lost: &lost,
        events: &events,
    });
    assert_eq!(
        html.matches("</script>").count(),
        6,
        "a head, two blocks an event, and the program"
    );
    assert!(!html.contains("<img"));
    assert!(!html.contains(['\u{202e}', '\u{1b}']));
}

#[test]
fn the_data_is_what_the_page_reads() {
    let events = [event("work")];
    let html = text(&ReportPage {
        title: "t",
        subtitle: "s",
        lost: &[],
        events: &events,
    });
    let expected = concat!(
        r#"id="head">{"events":[{"name":"work","samples":1,"nodes":1,"mean":5,"#,
        r#""unit":{"time":false,"name":"work"},"names":["work"],"#,
        r#""dsos":[{"name":"work","path":"work","kernel":false}],"#,
        r#""frames":{"name":[0],"dso":[1],"kind":[1]},"#,
        r#""timeline":{"start":[12,34],"stretch":7,"stretches":1,"cells":1,"#,
        r#""threads":{"pid":[1],"tid":[2],"name":["work"]},"lanes":{"thread":[0],"cpu":[-1]}}}]}</script>"#,
        "\n",
        r#"<script type="text/plain" id="nodes-0">AAAC</script>"#,
        "\n",
        r#"<script type="text/plain" id="cells-0">AQABAg==</script>"#
    );
    assert!(
        html.contains(expected),
        "{}",
        html.split("id=\"head\"").nth(1).unwrap_or_default()
    );
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere() {
    let html = text(&ReportPage {
        title: "t",
        subtitle: "s",
        lost: &[],
        events: &[],
    });
    assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("@import"));
    assert!(!SCRIPT.contains("innerHTML") && !SCRIPT.contains("</"));
}
