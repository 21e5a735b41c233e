//! Source lines as text.

use crate::text::number::{push_hex, push_number};

/// Appends a file and a line: the file's last name alone, or its whole path.
pub fn push_line(out: &mut Vec<u8>, file: &str, line: u32, whole_path: bool) {
    let name = file.rsplit_once('/').map_or(file, |(_, name)| name);
    out.extend_from_slice(if whole_path { file } else { name }.as_bytes());
    out.push(b':');
    push_number(out, u64::from(line), 1, b' ');
}

/// Appends what stands for the line of an address whose source is not known.
pub fn push_unknown(out: &mut Vec<u8>, dso: &str, address: u64) {
    out.extend_from_slice(dso.as_bytes());
    out.push(b'[');
    push_hex(out, address, 1);
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_known_and_unknown() {
        let text = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            write(&mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(&|out| push_line(out, "/a/b.c", 12, false)), "b.c:12");
        assert_eq!(text(&|out| push_line(out, "/a/b.c", 0, true)), "/a/b.c:0");
        assert_eq!(text(&|out| push_unknown(out, "x.so", 0x1f)), "x.so[1f]");
    }
}
