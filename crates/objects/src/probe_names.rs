//! The names of probes that a build-id cache keeps beside binaries, as perf writes them.
//!
//! ```text
//! %sdt_libc:setjmp=setjmp                  a marker of the program: group and name, and the definition's own name
//! p:sdt_libc/setjmp /lib/libc.so:0x123     its definition, which is not read here
//! ```

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};

use oxperf_sys::files::open_regular_itself;

use crate::cache::{BuildIdCache, Cached, PROBES};

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
        let entries = self.entries().into_iter();
        let mut markers: Vec<_> = entries.filter_map(of_entry).flatten().collect();
        markers.sort();
        markers
    }
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
