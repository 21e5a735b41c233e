//! The rules of folders of tables, each with a folder made for it.

use super::*;
use crate::EventTables;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(files: &[(&str, &str)]) -> Scratch {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("oxperf-tables-{}-{number}", std::process::id());
        let scratch = Scratch(std::env::temp_dir().join(name));
        for (path, text) in files {
            let path = scratch.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        scratch
    }

    fn tables(&self, cpu_id: &str) -> EventTables {
        EventTables::of_cpu(cpu_id).with_folder(TableFolder::open(&self.0).unwrap())
    }

    /// Name, PMU, terms and topic of each event.
    fn shown(&self, cpu_id: &str) -> Vec<String> {
        let tables = self.tables(cpu_id);
        let events = tables.events();
        let lines = events.map(|e| format!("{} {} {} {}", e.name, e.pmu, e.terms, e.topic));
        lines.collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const POWER8: &str = r#"[
  {
    "EventCode": "0x100f2",
    "EventName": "PM_1PLUS_PPC_CMPL",
    "BriefDescription": "1 or more ppc insts finished",
    "PublicDescription": "1 or more ppc insts finished (completed)."
  }
]
"#;

#[test]
fn power8_of_the_kernels_description() {
    let scratch = Scratch::new(&[
        (
            "arch/powerpc/mapfile.csv",
            "PVR,Version,JSON/file/pathname,Type\n\n# Power8 entries\n004b0000,1,power8,core\n004b0100,1,power8,core\n",
        ),
        ("arch/powerpc/power8/pipeline.json", POWER8),
    ]);
    for cpu in ["004b0000", "004b0100"] {
        let tables = scratch.tables(cpu);
        let event = tables.event("cpu", "pm_1plus_ppc_cmpl").unwrap();
        assert_eq!((event.terms, event.topic), ("event=0x100f2", "pipeline"));
        assert_eq!(event.brief, Some("1 or more ppc insts finished"));
        assert_eq!(event.long, Some("1 or more ppc insts finished (completed)"));
    }
    assert_eq!(scratch.tables("004b0200").events().count(), 0);
}

fn event(name: &str) -> String {
    format!(r#"[{{"EventName": "{name}", "EventCode": "0x1"}}]"#)
}

#[test]
fn files_that_end_in_json_alone_are_read_and_name_the_topic() {
    let scratch = Scratch::new(&[
        ("mapfile.csv", "\nx,1,one,core\n"),
        ("one/floating-point.json", &event("A")),
        ("one/b.json.txt", &event("B")),
        ("one/README", "not a table"),
        ("one/json", "not a table"),
        ("one/below/c.json", &event("C")),
        ("two/d.json", &event("D")),
    ]);
    assert_eq!(scratch.shown("x"), ["a cpu event=1 floating point"]);
    assert_eq!(scratch.tables("x").problems().count(), 0);
}

#[test]
fn a_mapfile_is_known_by_the_beginning_of_its_name() {
    let scratch = Scratch::new(&[
        (
            "mapfile.csv.new",
            "title, whatever,it,says,\nx,1,one,core\n",
        ),
        ("one/a.json", &event("a")),
    ]);
    assert_eq!(scratch.shown("x"), ["a cpu event=1 a"]);
    let none = Scratch::new(&[("my-mapfile.csv", "\nx,1,one,core\n"), ("one/a.json", "[]")]);
    let error = TableFolder::open(&none.0).unwrap_err();
    assert!(matches!(error, TablesError::NoTables { .. }), "{error}");
}

#[test]
fn the_first_line_is_ignored_and_the_rest_is_not() {
    let files = [("one/a.json", event("a")), ("two/b.json", event("b"))];
    let map = "x,1,one,core\n#x,1,one,core\n\ny,1\nx,1,two,core\n";
    let scratch = Scratch::new(&[
        ("mapfile.csv", map),
        (files[0].0, &files[0].1),
        (files[1].0, &files[1].1),
    ]);
    let tables = scratch.tables("x");
    assert!(tables.event("cpu", "b").is_some() && tables.event("cpu", "a").is_none());
    let problem = tables.problems().next().unwrap().to_string();
    assert!(
        problem.ends_with("mapfile.csv:4: expected CPU,version,path,type"),
        "{problem}"
    );
}

#[test]
fn core_and_uncore_rows_can_name_two_folders_or_one() {
    let uncore = r#"[{"EventName": "U", "EventCode": "2", "Unit": "CBO", "PerPkg": "1"}]"#;
    let scratch = Scratch::new(&[
        (
            "mapfile.csv",
            "\nx-[12],1,one,core\nx-[12],1,two,uncore\ny,1,one,core\ny,1,one,uncore\n",
        ),
        ("one/a.json", &event("a")),
        ("two/u.json", uncore),
    ]);
    assert_eq!(
        scratch.shown("x-2"),
        ["a cpu event=1 a", "u uncore_cbox event=2 u"]
    );
    assert_eq!(scratch.shown("y"), ["a cpu event=1 a"]);
}

#[test]
fn a_path_stays_below_its_mapfile() {
    let scratch = Scratch::new(&[
        ("x86/mapfile.csv", "\nx,1,../other,core\n"),
        ("other/a.json", &event("a")),
    ]);
    let tables = scratch.tables("x");
    assert_eq!(tables.events().count(), 0);
    assert_eq!(tables.problems().count(), 1);
}

#[test]
fn standard_events_stand_beside_the_mapfile() {
    let scratch = Scratch::new(&[
        ("arm64/mapfile.csv", "\n0x00000000410fd0c0,v1,arm/n1,core\n"),
        (
            "arm64/common.json",
            r#"[{"EventCode": "0x40", "EventName": "L1D_CACHE_RD", "BriefDescription": "Reads."}]"#,
        ),
        (
            "arm64/arm/n1/cache.json",
            r#"[{"ArchStdEvent": "l1d_cache_rd"}, {"ArchStdEvent": "NONE"}]"#,
        ),
        (
            "arm64/arm/cmn/sys/cmn.json",
            r#"[{"EventName": "hn", "EventidCode": "0x5", "Unit": "arm_cmn", "Compat": "434.*;43c01"}]"#,
        ),
    ]);
    let tables = scratch.tables("0x00000000413fd0c1");
    let event = tables.event("cpu", "l1d_cache_rd").unwrap();
    assert_eq!(
        (event.terms, event.topic, event.brief),
        ("event=0x40", "cache", Some("Reads"))
    );
    let problem = tables.problems().next().unwrap();
    assert_eq!(problem.line, Some(1));
    assert!(problem.expected.contains("'NONE'"));
    let event = tables.event("arm_cmn", "hn").unwrap();
    assert_eq!(
        (event.terms, event.compat),
        ("eventid=5", Some("434.*;43c01"))
    );
}

#[test]
fn of_two_copies_the_last_wins_in_a_folder_and_the_first_of_several_sources() {
    let files = [
        ("mapfile.csv", "\nGenuineIntel-6-5E,1,one,core\n"),
        (
            "one/a.json",
            r#"[{"EventName": "arith.divider_active", "EventCode": "1"}, {"EventName": "x", "EventCode": "1"},
                {"EventName": "X", "EventCode": "2"}]"#,
        ),
        (
            "one/b.json",
            r#"[{"EventName": "x", "EventCode": "3", "BriefDescription": "New"}]"#,
        ),
    ];
    let scratch = Scratch::new(&files);
    let folder = TableFolder::open(&scratch.0).unwrap();
    let tables = EventTables::of_cpu("GenuineIntel-6-5E-3")
        .with_folder(folder)
        .with_builtin();
    assert_eq!(tables.event("cpu", "x").unwrap().terms, "event=3");
    assert_eq!(
        tables.event("cpu", "arith.divider_active").unwrap().terms,
        "event=1"
    );
    assert_eq!(
        tables.event("cpu", "inst_retired.any").unwrap().topic,
        "pipeline"
    );
    let copies = tables
        .events()
        .filter(|event| event.name == "arith.divider_active");
    assert_eq!(copies.count(), 1);
}

#[test]
fn bad_files_are_named_and_the_rest_is_used() {
    let text = "[\n{\"EventName\": \"a\", \"EventCode\": \"1\"},\n{\"EventName\": \"b\", \"EventCode\": \"one\"},\n\
                {\"EventName\": \"c\" \"EventCode\": \"1\"},\n{\"EventName\": \"d\", \"EventCode\": \"4\"}\n]";
    let scratch = Scratch::new(&[
        ("mapfile.csv", "\nx,1,one,core\n"),
        ("one/a.json", text),
        ("one/z.json", &event("z")),
    ]);
    assert_eq!(
        scratch.shown("x"),
        ["a cpu event=1 a", "d cpu event=4 a", "z cpu event=1 z"]
    );
    let tables = scratch.tables("x");
    tables.events().count();
    let problems: Vec<String> = tables
        .problems()
        .map(|problem| format!("{}: {}", problem.line.unwrap(), problem.expected))
        .collect();
    assert_eq!(
        problems,
        ["4: ',' or '}'", "3: a number as EventCode, not 'one'"]
    );
}

#[test]
fn groups_of_metrics_have_descriptions() {
    let scratch = Scratch::new(&[
        ("mapfile.csv", "\nx,1,one,core\n"),
        (
            "one/metricgroups.json",
            r#"{"Flops": "Grouping of metrics", "Odd": 3}"#,
        ),
        (
            "one/x-metrics.json",
            r#"[{"MetricName": "ratio", "MetricExpr": "a / b", "MetricGroup": "Flops;Two", "ScaleUnit": "100%",
                "MetricThreshold": "ratio > 0.1", "MetricConstraint": "NO_GROUP_EVENTS", "BriefDescription": "A ratio."}]"#,
        ),
    ]);
    let tables = scratch.tables("x");
    assert_eq!(
        tables.metric_groups().collect::<Vec<_>>(),
        [("Flops", "Grouping of metrics")]
    );
    let metric = tables.metrics().next().unwrap();
    assert_eq!(
        (metric.name, metric.groups, metric.expression),
        ("ratio", "Flops;Two", "a / b")
    );
    assert_eq!(metric.scale_unit.unwrap().scale(), 100.0);
    assert_eq!(
        (metric.threshold, metric.brief),
        (Some("ratio > 0.1"), Some("A ratio"))
    );
    assert_eq!(metric.constraint, Some("NO_GROUP_EVENTS"));
}
