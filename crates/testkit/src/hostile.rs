//! Recordings that cost a reader as much as it lets them: each a shape that can be made of any size.
//!
//! A reader is held to two things. What a shape of eight times the size costs is not much more than eight times as much,
//! and what a byte of it costs has a ceiling.

mod counted;
mod kernel;
mod mapped;
mod tasks;

use std::fmt::Write;

use crate::{Image, Recording};

/// A kind of recording that is made of many of something.
#[derive(Clone, Copy, Debug)]
pub struct HostileShape {
    /// Its name: the thing that there is much of.
    pub name: &'static str,
    /// Number that a recording of size 1 has: as many as make about as much work as those of other shapes.
    unit: usize,
    make: fn(&mut Draft, usize),
}

/// A recording of a shape, with the files that it names.
#[derive(Clone, Debug)]
pub struct Hostile {
    /// The bytes of the `perf.data` file.
    pub file: Vec<u8>,
    /// Files that the recording names: the name below the folder it was made for, and its bytes.
    pub others: Vec<(String, Vec<u8>)>,
}

impl HostileShape {
    /// Every shape.
    pub fn all() -> impl Iterator<Item = HostileShape> {
        let parts = [
            mapped::SHAPES,
            tasks::SHAPES,
            kernel::SHAPES,
            counted::SHAPES,
        ];
        parts
            .into_iter()
            .flatten()
            .map(|&(name, unit, make)| HostileShape { name, unit, make })
    }

    /// A recording of the shape, `size` times its smallest; files that it names lie in `folder`.
    ///
    /// # Panics
    /// If the notation of a shape is wrong.
    pub fn make(self, size: usize, folder: &str) -> Hostile {
        let mut draft = Draft::new(folder);
        (self.make)(&mut draft, self.unit * size);
        draft.finish()
    }
}

/// A row of a table of shapes.
type Row = (&'static str, usize, fn(&mut Draft, usize));

/// A recording that is being written.
struct Draft {
    folder: String,
    /// Lines that stand before all others.
    events: String,
    text: String,
    others: Vec<(String, Vec<u8>)>,
    /// The time of the next record.
    time: u64,
}

impl Draft {
    fn new(folder: &str) -> Draft {
        let events =
            "event cycles sample=IP|TID|TIME period=1 flags=sample_id_all|mmap|comm|task ids=1\n";
        let (text, others) = (String::new(), Vec::new());
        Draft {
            folder: folder.to_owned(),
            events: events.to_owned(),
            text,
            others,
            time: 1000,
        }
    }

    /// Adds a line with a trailer, at the next moment.
    fn at_next(&mut self, line: std::fmt::Arguments<'_>) {
        self.time += 10;
        let _ = writeln!(self.text, "{line} | time={}", self.time);
    }

    /// Adds a line that has no trailer.
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.text, "{line}");
    }

    /// Adds a sample in user code.
    fn sample(&mut self, pid: usize, ip: u64) {
        self.time += 10;
        let _ = writeln!(
            self.text,
            "sample mode=user ip={ip:#x} pid={pid} tid={pid} time={}",
            self.time
        );
    }

    /// Adds a sample in the kernel.
    fn kernel_sample(&mut self, ip: u64) {
        self.time += 10;
        let _ = writeln!(
            self.text,
            "sample mode=kernel ip={ip:#x} pid=1 tid=1 time={}",
            self.time
        );
    }

    /// Adds a mapping of code.
    fn mmap(&mut self, pid: usize, start: u64, length: u64, name: &str) {
        self.at_next(format_args!(
            "mmap2 pid={pid} tid={pid} {start:#x}+{length:#x}@0 prot=5 flags=2 \"{name}\""
        ));
    }

    /// Adds a record of a type that the notation has no word for; `body` is followed by the trailer.
    fn raw(&mut self, kind: u32, body: &[u8]) {
        self.time += 10;
        let mut bytes = body.to_vec();
        bytes.resize(body.len().next_multiple_of(8), 0);
        [1, 1]
            .map(i32::to_le_bytes)
            .iter()
            .for_each(|word| bytes.extend(word));
        bytes.extend(self.time.to_le_bytes());
        self.raw_whole(kind, &bytes);
    }

    /// Adds a record that has no trailer.
    fn raw_whole(&mut self, kind: u32, body: &[u8]) {
        let _ = writeln!(self.text, "raw type={kind} body={}", hex(body));
    }

    fn finish(self) -> Hostile {
        let text = self.events + &self.text;
        let file = Recording::parse(&text)
            .unwrap_or_else(|error| panic!("{error}"))
            .to_file();
        Hostile {
            file,
            others: self.others,
        }
    }

    /// Adds a program with functions of these names, one byte each, and says where it lies.
    fn program(&mut self, name: &str, functions: impl ExactSizeIterator<Item = String>) -> String {
        let code = "90".repeat(functions.len());
        let mut text = format!("elf type=exec\ncode .text addr=0x401000 {code}\n");
        for (at, function) in functions.enumerate() {
            let _ = writeln!(text, "symbol {function} at={:#x} size=1", 0x40_1000 + at);
        }
        let image = Image::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        self.others.push((name.to_owned(), image.to_file()));
        format!("{}/{name}", self.folder)
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_grows_with_its_size() {
        let mut names = Vec::new();
        for shape in HostileShape::all() {
            let size = |size| {
                let made = shape.make(size, "/tmp");
                made.file.len()
                    + made
                        .others
                        .iter()
                        .map(|(_, bytes)| bytes.len())
                        .sum::<usize>()
            };
            let (one, four) = (size(1), size(4));
            assert!(
                (2 * one..8 * one).contains(&four),
                "{}: {one} and {four}",
                shape.name
            );
            assert!(
                !names.contains(&shape.name),
                "{} is there twice",
                shape.name
            );
            names.push(shape.name);
        }
        assert!(names.len() >= 30);
    }
}
