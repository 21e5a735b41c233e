//! The page as text. How it behaves in a browser is checked by `xtask/browser/check.sh`.

use oxperf_analysis::flame::{FlameDso, FlameFrame, FlameKind, FlameNode, FlameWeight, Folded};

use super::*;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'&\u{202e}\u{1b}[0m";

fn text(page: &FlamePage<'_>) -> String {
    let mut out = Vec::new();
    page.write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn hostile_tree() -> FlameTree {
    let weight = FlameWeight {
        value: 5,
        samples: 1,
    };
    FlameTree {
        names: vec![HOSTILE.into()],
        dsos: vec![FlameDso {
            name: HOSTILE.into(),
            path: HOSTILE.into(),
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
    }
}

fn page(tree: &FlameTree) -> FlamePage<'_> {
    FlamePage {
        title: "t",
        subtitle: "s",
        unit: WeightUnit::Nanoseconds,
        lost: &[],
        tree,
    }
}

#[test]
fn digests_are_those_of_the_assets() {
    assert_eq!(
        (ASSETS.style_digest, ASSETS.script_digest),
        (&*html::digest(ASSETS.style), &*html::digest(SCRIPT))
    );
}

#[test]
fn no_name_reaches_the_markup() {
    let lost = [HOSTILE.to_owned()];
    let tree = hostile_tree();
    let unit = WeightUnit::Count(HOSTILE);
    let html = text(&FlamePage {
        title: HOSTILE,
        subtitle: HOSTILE,
        unit,
        lost: &lost,
        tree: &tree,
    });
    assert_eq!(
        html.matches("</script>").count(),
        3,
        "two blocks of data and the program"
    );
    assert!(!html.contains("<img"));
    assert!(!html.contains(['\u{202e}', '\u{1b}']));
    assert!(html.contains(
        "<h1><bdi>&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;\\u{202e}\\x1b[0m"
    ));
}

#[test]
fn a_title_is_not_taken_for_a_mark() {
    let tree = FlameTree::default();
    let html = text(&FlamePage {
        title: "<!--@script-->",
        ..page(&tree)
    });
    assert!(html.contains("<title>&lt;!--@script--&gt;</title>"));
    assert_eq!(html.matches("<script>").count(), 1);
}

#[test]
fn the_data_is_what_the_page_reads() {
    let mut tree = hostile_tree();
    tree.names = vec!["work".into()];
    tree.dsos = vec![FlameDso {
        name: "app".into(),
        path: "/bin/app".into(),
        kernel: true,
    }];
    tree.folded = Some(Folded {
        nodes: 2,
        limit: 3,
        weight: FlameWeight {
            value: 4,
            samples: 1,
        },
    });
    let expected = concat!(
        r#"id="head">{"nodes":1,"mean":5,"unit":{"time":true,"name":"ns"},"#,
        r#""folded":{"nodes":2,"limit":3,"value":4},"names":["work"],"#,
        r#""dsos":[{"name":"app","path":"/bin/app","kernel":true}],"#,
        r#""frames":{"name":[0],"dso":[1],"kind":[1]}}</script>"#,
        "\n",
        r#"<script type="text/plain" id="nodes">AAAC</script>"#
    );
    let html = text(&page(&tree));
    assert!(
        html.contains(expected),
        "{}",
        html.split("id=\"head\"").nth(1).unwrap_or_default()
    );
}

#[test]
fn what_was_lost_stands_above_the_graph() {
    let (tree, lost) = (FlameTree::default(), ["3 events lost".to_owned()]);
    assert!(
        text(&FlamePage {
            lost: &lost,
            ..page(&tree)
        })
        .contains("<li><bdi>3 events lost</bdi></li>")
    );
    assert!(!text(&page(&tree)).contains("note lost"));
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere() {
    let html = text(&page(&FlameTree::default()));
    assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("@import"));
    assert!(!SCRIPT.contains("innerHTML") && !SCRIPT.contains("</"));
}
