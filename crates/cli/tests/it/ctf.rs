//! `data convert --to-ctf`: the trace as a reader sees that knows nothing but its description, and babeltrace2 if it
//! is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use oxperf_testkit::Recording;

use crate::support::scratch;

/// Converts the recording into a new folder; what the program said.
fn convert(test: &str, options: &[&str]) -> (PathBuf, Output) {
    let folder = scratch(module_path!()).join("ctf").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let recording =
        Recording::parse(&fs::read_to_string(case().join("recording.txt")).unwrap()).unwrap();
    fs::write(folder.join("perf.data"), recording.to_file()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxperf"));
    command
        .args(["data", "convert", "-i", "perf.data", "--to-ctf", "trace"])
        .args(options);
    let output = command.current_dir(&folder).output().unwrap();
    (folder.join("trace"), output)
}

fn case() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ctf")
}

/// Compares with the file of that name, or writes it.
fn check(name: &str, text: &str) {
    let file = case().join(name);
    if std::env::var_os("OXPERF_BLESS").is_some() {
        fs::write(file, text).unwrap();
    } else {
        assert_eq!(text, fs::read_to_string(file).unwrap(), "{name}");
    }
}

#[test]
fn the_description_says_what_is_in_the_streams() {
    let (trace, output) = convert("streams", &["--all"]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata = fs::read_to_string(trace.join("metadata")).unwrap();
    check("expected.metadata", &metadata);
    let classes = reader::classes(&metadata);
    let mut streams: Vec<PathBuf> = fs::read_dir(&trace)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    streams.retain(|path| !path.ends_with("metadata"));
    streams.sort();
    let mut text = String::new();
    for stream in streams {
        text.push_str(&format!(
            "{}\n",
            stream.file_name().unwrap().to_string_lossy()
        ));
        text.push_str(&reader::events(&fs::read(&stream).unwrap(), &classes));
    }
    check("expected.events", &text);
}

#[test]
fn times_by_the_wall_clock() {
    let (trace, _) = convert("wall", &["--tod"]);
    let metadata = fs::read_to_string(trace.join("metadata")).unwrap();
    assert!(
        metadata.contains("offset_s = 1699999999;\n\toffset = 0;"),
        "{metadata}"
    );
}

#[test]
fn a_folder_is_replaced_only_when_asked() {
    let (trace, _) = convert("again", &[]);
    fs::write(trace.join("perf_stream_77"), "old").unwrap();
    fs::write(trace.join("other"), "mine").unwrap();
    let again = |force: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oxperf"));
        command
            .args(["data", "convert", "-i", "perf.data", "--to-ctf", "trace"])
            .args(force);
        command
            .current_dir(trace.parent().unwrap())
            .output()
            .unwrap()
            .status
            .code()
    };
    assert_eq!(again(&[]), Some(255));
    assert!(trace.join("perf_stream_77").exists());
    assert_eq!(again(&["--force"]), Some(0));
    assert!(!trace.join("perf_stream_77").exists() && trace.join("other").exists());
}

#[test]
fn babeltrace_reads_it() {
    let (trace, _) = convert("babeltrace", &["--all"]);
    let Ok(read) = Command::new("babeltrace2").arg(&trace).output() else {
        eprintln!("SKIPPED: babeltrace2 is not installed");
        return;
    };
    let told = String::from_utf8_lossy(&read.stderr);
    let complaints: Vec<_> = told
        .lines()
        .filter(|line| !line.is_empty() && !line.contains("discarded events"))
        .collect();
    assert!(read.status.success() && complaints.is_empty(), "{told}");
    let expected = fs::read_to_string(case().join("expected.events")).unwrap();
    let events = expected
        .lines()
        .filter(|line| line.starts_with(' '))
        .count();
    assert_eq!(
        String::from_utf8_lossy(&read.stdout).lines().count(),
        events
    );
}

/// A reader of such traces.
mod reader {
    use std::collections::HashMap;

    /// A kind of event: its name, and type, name and length of each field.
    pub(super) struct Class {
        name: String,
        fields: Vec<(String, String, Option<String>)>,
    }

    /// The kinds of events in their order.
    pub(super) fn classes(metadata: &str) -> Vec<Class> {
        metadata.split("event {").skip(1).map(class).collect()
    }

    fn class(text: &str) -> Class {
        let name = text
            .split("name = \"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap()
            .to_owned();
        let lines = text
            .lines()
            .filter_map(|line| line.strip_prefix("\t\t")?.strip_suffix(';'));
        let field = |line: &str| {
            let (kind, name) = line.rsplit_once(' ').unwrap();
            let (name, length) = match name.split_once('[') {
                Some((name, length)) => (name, Some(length.trim_end_matches(']').to_owned())),
                None => (name, None),
            };
            (kind.to_owned(), name.to_owned(), length)
        };
        Class {
            name,
            fields: lines.map(field).collect(),
        }
    }

    struct Bytes<'a>(&'a [u8]);

    impl Bytes<'_> {
        fn number(&mut self, size: usize) -> u64 {
            let (bytes, rest) = self.0.split_at(size);
            self.0 = rest;
            bytes
                .iter()
                .rev()
                .fold(0, |number, byte| number << 8 | u64::from(*byte))
        }

        fn value(&mut self, kind: &str) -> String {
            match kind {
                "u32" => self.number(4).to_string(),
                "s32" => (self.number(4) as u32 as i32).to_string(),
                "u64" => self.number(8).to_string(),
                "s64" => (self.number(8) as i64).to_string(),
                "hex32" => format!("{:#x}", self.number(4)),
                "hex64" => format!("{:#x}", self.number(8)),
                "string { encoding = UTF8; }" => self.text(),
                other => panic!("no type is called {other}"),
            }
        }

        fn text(&mut self) -> String {
            let end = self
                .0
                .iter()
                .position(|byte| *byte == 0)
                .expect("a text ends");
            let text = std::str::from_utf8(&self.0[..end])
                .expect("UTF-8")
                .to_owned();
            self.0 = &self.0[end + 1..];
            text
        }
    }

    /// A line for each packet and, indented, for each event.
    pub(super) fn events(stream: &[u8], classes: &[Class]) -> String {
        let (mut bytes, mut text) = (Bytes(stream), String::new());
        while !bytes.0.is_empty() {
            let before = bytes.0.len();
            assert_eq!((bytes.number(4), bytes.number(4)), (0xc1fc1fc1, 0));
            let [begin, end, content, size, lost] = [(); 5].map(|()| bytes.number(8));
            assert_eq!(content, size);
            text.push_str(&format!(
                "packet {begin} to {end}, {lost} lost, CPU {}\n",
                bytes.number(4)
            ));
            let mut last = begin;
            while ((before - bytes.0.len()) as u64) < size / 8 {
                let (class, time) = (&classes[bytes.number(4) as usize], bytes.number(8));
                assert!((last..=end).contains(&time));
                last = time;
                text.push_str(&format!(
                    "  {time} {}{}\n",
                    class.name,
                    fields(&mut bytes, class)
                ));
            }
            assert_eq!(last, end);
        }
        text
    }

    fn fields(bytes: &mut Bytes<'_>, class: &Class) -> String {
        let (mut known, mut text) = (HashMap::new(), String::new());
        for (kind, name, length) in &class.fields {
            let count = length
                .as_ref()
                .map(|length| length.parse().unwrap_or_else(|_| known[length.as_str()]));
            let value = match count {
                Some(count) => format!(
                    "{:?}",
                    (0..count).map(|_| bytes.value(kind)).collect::<Vec<_>>()
                ),
                None => bytes.value(kind),
            };
            known.insert(name.as_str(), value.parse::<u64>().unwrap_or(0));
            text.push_str(&format!(" {name}={value}"));
        }
        text
    }
}
