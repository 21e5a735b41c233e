//! Commands with options over a recording, presentation included: nothing panics, whatever is asked of whatever file.
//!
//! The first byte chooses the command, the second how many options follow, each in two bytes; the rest is the recording.
//! What the commands print goes nowhere: run this with `-close_fd_mask=3`.

#![no_main]

use std::ffi::OsString;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use oxperf_fuzz::{COMMANDS, Command, Input, mutate_records, scratch, symfs};

/// Options of a command line at most.
const MOST: usize = 5;

/// Bytes before the recording.
fn head(bytes: &[u8]) -> usize {
    bytes.get(1).map_or(bytes.len(), |count| {
        (2 + 2 * (usize::from(*count) % (MOST + 1))).min(bytes.len())
    })
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let head = head(&data[..size]);
    match seed % 4 {
        // The recording moves by what its head grows.
        0 => fuzzer_mutate(data, size, max_size),
        1 => {
            fuzzer_mutate(data, head, head);
            size
        }
        _ if max_size > head => {
            head + mutate_records(&mut data[head..], size - head, max_size - head, seed / 4)
        }
        _ => size,
    }
});

/// The whole command line.
fn words(command: &Command, options: &[u8]) -> Vec<String> {
    let folder = scratch().display();
    let input = format!("{folder}/perf.data");
    let mut words = vec!["oxperf".to_owned()];
    words.extend(command.words.iter().map(|word| (*word).to_owned()));
    words.extend(
        options
            .chunks_exact(2)
            .flat_map(|pair| command.option(pair[0], pair[1])),
    );
    if command.reads_names {
        words.push(format!("--symfs={}", symfs().display()));
        words.push(format!("--kallsyms={folder}/kallsyms"));
    }
    match command.input {
        Input::Option => words.extend(["-i".to_owned(), input]),
        Input::Two => words.extend([input.clone(), input]),
    }
    words
}

fuzz_target!(|bytes: &[u8]| {
    let (head, recording) = bytes.split_at(head(bytes));
    let Some((&which, [_, options @ ..])) = head.split_first() else {
        return;
    };
    let folder = scratch();
    std::fs::write(folder.join("perf.data"), recording).expect("a file of one's own");
    let kallsyms = folder.join("kallsyms");
    if !kallsyms.exists() {
        let list =
            b"ffffffff81000000 T _text\nffffffff81000100 T do_thing\nffffffff81001000 T do_other\n";
        std::fs::write(kallsyms, list).expect("a file of one's own");
    }
    let command = &COMMANDS[usize::from(which) % COMMANDS.len()];
    let _ = oxperf::run(words(command, options).into_iter().map(OsString::from));
});
