//! Rows of samples and stacks.

use oxperf_columns::stack_id::StackHash;

use super::{Lines, RECORDING, Wanted, make};

#[test]
fn stacks_of_the_same_names_are_one() {
    let lines = make(RECORDING, &Wanted::ALL, Lines::default());
    let named = "vfs_read\x1f[kernel.kallsyms]\x1edo_syscall_64\x1f[kernel.kallsyms]\x1e[reader]\x1freader\x1e";
    let nameless = "[reader]\x1freader\x1e[reader]\x1freader\x1e";
    let nowhere = "[unknown]\x1f[unknown]\x1e";
    let ids = [named, nameless, nowhere].map(|text| StackHash::of(text.as_bytes()).id.0);
    let expected = [
        format!(
            "stack_id={} symbol=vfs_read dso=[kernel.kallsyms] mode=kernel depth=3 symbols=vfs_read;do_syscall_64;[reader] dsos=[kernel.kallsyms];[kernel.kallsyms];reader",
            ids[0]
        ),
        format!(
            "stack_id={} symbol=[reader] dso=reader mode=user depth=2 symbols=[reader];[reader] dsos=reader;reader",
            ids[1]
        ),
        format!(
            "stack_id={} symbol=[unknown] dso=[unknown] mode=NULL depth=1 symbols=[unknown] dsos=[unknown]",
            ids[2]
        ),
    ];
    assert_eq!(lines.of("stacks"), expected);
    let samples: Vec<&str> = lines
        .of("samples")
        .into_iter()
        .map(|line| line.split_once("comm=").unwrap().1)
        .collect();
    let [named, nameless, nowhere] = ids;
    let expected = [
        format!("reader pid=7 tid=7 cpu=0 mode=kernel period=1 stack_id={named}"),
        format!("reader pid=7 tid=7 cpu=1 mode=kernel period=2 stack_id={named}"),
        format!("reader pid=7 tid=7 cpu=1 mode=user period=4 stack_id={nameless}"),
        format!("reader pid=7 tid=7 cpu=1 mode=user period=8 stack_id={nowhere}"),
    ];
    assert_eq!(samples, expected);
}

#[test]
fn a_recording_has_a_row_with_its_losses() {
    let recording = format!("{RECORDING}lost id=1 lost=5\n");
    let lines = make(&recording, &Wanted::ALL, Lines::default());
    let rows = lines.of("recordings");
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(
        rows[0].contains(" samples=4 lost_samples=0 lost_records=5 "),
        "{rows:?}"
    );
    assert_eq!(lines.of("events").len(), 1);
    let threads = lines.of("threads");
    assert!(
        threads
            .iter()
            .any(|row| row.contains("tid=7") && row.contains("comm=reader exe=/bin/reader")),
        "{threads:?}"
    );
}

#[test]
fn what_nobody_wants_is_not_made() {
    let lines = make(RECORDING, &Wanted::LEAVES, Lines::default());
    let expected = [
        "period=1 symbol=vfs_read",
        "period=2 symbol=vfs_read",
        "period=4 symbol=[reader]",
        "period=8 symbol=[unknown]",
    ];
    assert_eq!(lines.of("profile"), expected);
    assert!(lines.of("stacks").is_empty());
}

#[test]
fn addresses_stay_apart_where_they_are_named_elsewhere() {
    let mut wanted = Wanted::ALL;
    wanted.stacks = wanted.stacks.map(|mut stacks| {
        stacks.addresses = true;
        stacks
    });
    let lines = make(RECORDING, &wanted, Lines::default());
    let stacks = lines.of("stacks");
    assert_eq!(stacks.len(), 4, "{stacks:?}");
    assert!(
        stacks[2].ends_with("build_ids=; offsets=768;256"),
        "{stacks:?}"
    );
    let maps = lines.of("maps");
    assert!(
        maps.iter()
            .any(|row| row.contains("start=4194304 end=4198400 pgoff=0")
                && row.ends_with("path=/bin/reader")),
        "{maps:?}"
    );
    assert!(lines.of("samples")[2].ends_with(" ip=4195072"));
}

#[test]
fn samples_of_other_events_are_left_out() {
    let recording = "
event cycles sample=IP|TID|TIME|PERIOD|IDENTIFIER flags=sample_id_all ids=1
event page-faults sample=IP|TID|TIME|PERIOD|IDENTIFIER flags=sample_id_all ids=2
comm pid=7 tid=7 reader
sample mode=user ip=0x400300 pid=7 tid=7 time=300 period=4 id=1
sample mode=user ip=0x400300 pid=7 tid=7 time=400 period=8 id=2
";
    let periods = |event| {
        let wanted = Wanted {
            event,
            ..Wanted::LEAVES
        };
        let lines = make(recording, &wanted, Lines::default());
        lines.of("profile").join(", ")
    };
    let [cycles, faults] =
        ["period=4", "period=8"].map(|period| format!("{period} symbol=[unknown]"));
    assert_eq!(periods(None), format!("{cycles}, {faults}"));
    assert_eq!(periods(Some("page-faults")), faults);
}
