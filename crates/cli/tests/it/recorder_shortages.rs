//! Little memory, few files, a full disk, other namespaces: messages, and nothing lost in silence.

use crate::recorder::{Folder, OXPERF, assert_said, is_root, said, skip};

#[test]
fn little_of_everything_ends_with_a_message() {
    let folder = Folder::new("limits");
    if !folder.records() {
        return;
    }
    for limits in [
        "-n 64",
        "-n 10",
        "-n 5",
        "-v 200000",
        "-v 60000",
        "-f 8",
        "-l 0",
    ] {
        let output = folder.shell(&format!(
            "ulimit {limits}; exec \"$0\" record -N -F 1000 -e task-clock:u -o l.data -- sh -c 'i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done'"
        ));
        let code = output.status.code();
        assert!(
            matches!(code, Some(0 | 127 | 255)),
            "{limits}: {:?} {}",
            output.status,
            said(&output)
        );
        assert!(code == Some(0) || !said(&output).is_empty(), "{limits}");
        assert!(
            !said(&output).contains("panicked"),
            "{limits}: {}",
            said(&output)
        );
    }
    let cut =
        folder.shell("ulimit -f 1; exec \"$0\" record -N -e task-clock:u -o l.data -- sleep 1");
    assert_eq!(cut.status.code(), Some(255));
    assert_said(&cut, "File too large");
}

#[test]
fn a_full_disk_keeps_what_was_written() {
    let folder = Folder::new("full");
    if !folder.records() || !is_root() {
        return;
    }
    let script = "mount -t tmpfs -o size=128k none . && cd \"$PWD\" || exit 99
        \"$0\" record -N -F max -e cpu-clock -o f.data -- sh -c 'i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done'
        echo $?; \"$0\" script -i f.data -F ip,event | grep -c clock";
    let output = folder.run("unshare", &["-m", "sh", "-c", script, OXPERF]);
    if output.status.code() == Some(99) {
        skip(&output);
        return;
    }
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.starts_with("255\n"), "{shown} {}", said(&output));
    assert_said(&output, "No space left on device. The file holds");
    assert!(
        shown.lines().nth(1).is_some_and(|count| count != "0"),
        "{shown}"
    );
}

#[test]
fn other_namespaces_and_clocks() {
    let folder = Folder::new("spaces");
    if !folder.records() {
        return;
    }
    let record = [
        "record",
        "-N",
        "-e",
        "task-clock:u",
        "-o",
        "s.data",
        "--",
        "sh",
        "-c",
        "exit 3",
    ];
    let user = ["-U", "-r"].as_slice();
    let process = ["-p", "-f", "--mount-proc"].as_slice();
    // Steady clocks that are a year ahead of those of the host.
    let time = [
        "-T",
        "--monotonic",
        "31536000",
        "--boottime",
        "31536000",
        "-f",
    ]
    .as_slice();
    for space in [user, process, time] {
        let allowed = folder.run("unshare", &[space, &["true"]].concat());
        if !allowed.status.success() {
            skip(&allowed);
            continue;
        }
        let output = folder.run("unshare", &[space, &[OXPERF], &record].concat());
        assert_eq!(
            output.status.code(),
            Some(3),
            "{space:?}: {}",
            said(&output)
        );
        assert!(
            folder
                .run(OXPERF, &["data", "check", "-i", "s.data"])
                .status
                .success()
        );
    }
}
