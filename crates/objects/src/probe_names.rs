//! The names of probes that a build-id cache keeps beside binaries, as perf writes them.
//!
//! ```text
//! %sdt_libc:setjmp=setjmp                  a marker of the program: group and name, and the definition's own name
//! p:sdt_libc/setjmp /lib/libc.so:0x123     its definition, which is not read here
//! ```
//!
//! A definition is a probe of the kernel: the place in the file, that of the counter by which the program sees that somebody
//! listens, and the arguments in the kernel's notation.

mod argument;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use oxperf_sys::files::open_regular_itself;

use crate::cache::{BuildIdCache, Cached, PROBES};
use crate::elf::{ElfMarker, markers_of_file};
use argument::kernel_argument;

/// Bytes of a file that are read.
const MOST_BYTES: u64 = 16 << 20;

/// A marker that the author of a program put into it (SDT), as a cache knows it. All texts are untrusted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CachedMarker {
    /// `sdt_libc:setjmp`.
    pub name: String,
    /// The identity of the binary, in hexadecimal digits.
    pub identity: String,
    /// The path of the binary.
    pub binary: String,
}

impl BuildIdCache {
    /// The markers of all binaries in the cache, by name and identity; those of one binary once. Files that cannot be read have none.
    pub fn markers(&self) -> Vec<CachedMarker> {
        let of_entry = |entry: Cached| {
            let names = open_regular_itself(&entry.folder.join(PROBES)).ok()?;
            let identity = entry.build_id.to_string();
            let marker = move |name| CachedMarker {
                name,
                binary: entry.name.clone(),
                identity: identity.clone(),
            };
            Some(names_in(names).into_iter().map(marker))
        };
        let entries = self.entries_with_probes().into_iter();
        let mut markers: Vec<_> = entries.filter_map(of_entry).flatten().collect();
        markers.sort();
        markers
    }
}

/// The text of the file beside a binary that is kept as `path`; empty for one without markers.
pub(crate) fn text_beside(binary: &File, path: &str) -> String {
    text(&markers_of_file(binary), path)
}

/// Markers of one name have one entry, with a definition for each place.
fn text(markers: &[ElfMarker], path: &str) -> String {
    let mut entries: Vec<(String, BTreeSet<String>)> = Vec::new();
    let is_nameable = |marker: &&ElfMarker| is_word(&marker.provider) && is_word(&marker.name);
    for marker in markers.iter().filter(is_nameable) {
        let (provider, name) = (&marker.provider, &marker.name);
        let head = format!("%sdt_{provider}:{name}={name}\n");
        let line = definition(marker, path);
        match entries.iter_mut().find(|(known, _)| *known == head) {
            Some((_, lines)) => {
                lines.insert(line);
            }
            None => entries.push((head, BTreeSet::from([line]))),
        }
    }
    let entries = entries.into_iter();
    entries.fold(String::new(), |mut text, (head, lines)| {
        text.push_str(&head);
        text.extend(lines);
        text
    })
}

/// Returns whether a text can be a part of an event's name.
fn is_word(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    !text.is_empty() && text.chars().all(is_letter)
}

fn definition(marker: &ElfMarker, path: &str) -> String {
    let (provider, name) = (&marker.provider, &marker.name);
    let mut line = format!("p:sdt_{provider}/{name} {path}:{:#x}", marker.offset);
    // Writing to memory does not fail.
    if let Some(semaphore) = marker.semaphore {
        let _ = write!(line, "({semaphore:#x})");
    }
    let arguments = marker.arguments.split_whitespace();
    for (number, argument) in arguments.enumerate().filter(|_| marker.is_x86) {
        if let Some(argument) = kernel_argument(argument) {
            let _ = write!(line, " arg{}={argument}", number + 1);
        }
    }
    line.push('\n');
    line
}

/// The markers that a file names.
fn names_in(file: impl Read) -> BTreeSet<String> {
    let lines = BufReader::new(file.take(MOST_BYTES)).split(b'\n');
    let names = lines.map_while(Result::ok).filter_map(|line| {
        let line = String::from_utf8_lossy(&line).into_owned();
        let (name, _) = line.strip_prefix('%')?.split_once('=')?;
        name.contains(':').then(|| name.to_owned())
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::CacheFile;
    use oxperf_abi::BuildId;
    use std::fs;

    #[test]
    fn definitions_are_those_of_perf() {
        let marker = |name: &str, offset, semaphore, arguments: &str| ElfMarker {
            provider: "x".to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            offset,
            semaphore,
            is_x86: true,
        };
        let markers = [
            marker("b", 0x1108, None, "-4@$5 4@%ecx"),
            marker("a", 0x1106, Some(0x3010), ""),
            marker("b", 0x1107, None, "8@-8(%rbp)"),
            marker("b", 0x1107, None, "8@-8(%rbp)"),
            marker("not a name", 0x1106, None, ""),
        ];
        assert_eq!(
            text(&markers, "/bin/x"),
            "%sdt_x:b=b\np:sdt_x/b /bin/x:0x1107 arg1=-8(%bp):u64\n\
             p:sdt_x/b /bin/x:0x1108 arg2=%cx:u32\n\
             %sdt_x:a=a\np:sdt_x/a /bin/x:0x1106(0x3010)\n"
        );
    }

    #[test]
    fn markers_are_in_files_beside_binaries() {
        let root = std::env::temp_dir().join(format!("oxperf-markers-{}", std::process::id()));
        let cache = BuildIdCache::new(root.clone());
        let text = "#user:probe=\np:user/probe /x:0x1\n%sdt_x:b=b\np:sdt_x/b /x:0x2\n%sdt_x:a=a\n%sdt_x:b=b\n%broken\n";
        for (byte, name, text) in [(2, "/bin/x", text), (1, "/bin/y", "%sdt_x:a=a")] {
            let id = BuildId::new(&[byte; 20]).unwrap();
            let contents = &mut &b"code"[..];
            cache
                .add_from(name.as_bytes(), id, CacheFile::Elf, contents)
                .unwrap();
            fs::write(cache.find(id).unwrap().folder.join(PROBES), text).unwrap();
        }
        let markers = cache.markers();
        let shown = markers
            .iter()
            .map(|marker| (&*marker.name, &*marker.binary));
        let expected = [
            ("sdt_x:a", "/bin/y"),
            ("sdt_x:a", "/bin/x"),
            ("sdt_x:b", "/bin/x"),
        ];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert_eq!(markers[0].identity, "01".repeat(20));
        fs::remove_dir_all(root).unwrap();
    }
}
