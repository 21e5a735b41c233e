//! The samples: who, when, where from, and a tracepoint's own fields.

use super::{key, line, string};
use crate::script::{push_hex, push_number};

/// What stands before the call chain. What an event does not record is -1.
#[derive(Clone, Copy, Debug)]
pub struct SampleHead<'a> {
    /// Time, ns.
    pub time: Option<u64>,
    /// Process.
    pub pid: i32,
    /// Thread.
    pub tid: i32,
    /// CPU; the outer `None` leaves it out because no event of the recording has it.
    pub cpu: Option<Option<u32>>,
    /// Thread name.
    pub comm: &'a str,
}

/// The array of samples on its way out.
#[derive(Debug, Default)]
pub struct Samples {
    written: bool,
}

impl Samples {
    /// Writes one sample. The frames are those of [`write_frame`], the fields those of [`write_trace_field`].
    pub fn add<'f>(
        &mut self,
        out: &mut Vec<u8>,
        head: &SampleHead<'_>,
        frames: impl Iterator<Item = &'f [u8]>,
        fields: &[u8],
    ) {
        if self.written {
            out.push(b',');
        }
        self.written = true;
        out.extend_from_slice(b"\n\t\t{");
        write_head(out, head);
        out.extend_from_slice(b",\n\t\t\t\"callchain\": [");
        for (place, frame) in frames.enumerate() {
            if place > 0 {
                out.push(b',');
            }
            out.extend_from_slice(frame);
        }
        out.extend_from_slice(b"\n\t\t\t]");
        out.extend_from_slice(fields);
        out.extend_from_slice(b"\n\t\t}");
    }

    /// Ends the array and the whole object.
    pub fn end(self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\n\t]\n}\n");
    }
}

fn write_head(out: &mut Vec<u8>, head: &SampleHead<'_>) {
    out.extend_from_slice(b"\n\t\t\t\"timestamp\": ");
    push_signed(out, head.time.map_or(-1, |time| time as i64));
    out.extend_from_slice(b",\n\t\t\t\"pid\": ");
    push_signed(out, head.pid.into());
    out.extend_from_slice(b",\n\t\t\t\"tid\": ");
    push_signed(out, head.tid.into());
    if let Some(cpu) = head.cpu {
        out.extend_from_slice(b",\n\t\t\t\"cpu\": ");
        push_signed(out, cpu.map_or(-1, |cpu| i64::from(cpu as i32)));
    }
    out.extend_from_slice(b",\n\t\t\t\"comm\": ");
    string::write(head.comm, out);
}

fn push_signed(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    push_number(out, value.unsigned_abs(), 1, b' ');
}

/// Writes one place of a call chain: its address, and what it is called with the object that holds it.
pub fn write_frame(out: &mut Vec<u8>, ip: u64, symbol: Option<(&str, &str)>) {
    line(out, 4);
    out.push(b'{');
    key(out, 5, "ip");
    out.extend_from_slice(b"\"0x");
    push_hex(out, ip, 1);
    out.push(b'"');
    if let Some((symbol, object)) = symbol {
        for (name, value) in [("symbol", symbol), ("dso", object)] {
            out.push(b',');
            key(out, 5, name);
            string::write(value, out);
        }
    }
    line(out, 4);
    out.push(b'}');
}

/// Writes a tracepoint's field: every value is a text.
pub fn write_trace_field(out: &mut Vec<u8>, name: &str, value: &str) {
    out.push(b',');
    key(out, 3, name);
    string::write(value, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_samples() {
        let (mut out, mut samples) = (Vec::new(), Samples::default());
        let (mut place, mut nameless, mut field) = (Vec::new(), Vec::new(), Vec::new());
        write_frame(&mut place, 0xff10, Some(("f\"", "libx.so")));
        write_frame(&mut nameless, 0, None);
        write_trace_field(&mut field, "pid", "7");
        let head = SampleHead { time: Some(5), pid: 1, tid: -1, cpu: Some(Some(3)), comm: "sh" };
        samples.add(&mut out, &head, [&place[..], &nameless[..]].into_iter(), &field);
        let head = SampleHead { time: None, pid: 1, tid: 2, cpu: None, comm: "" };
        samples.add(&mut out, &head, std::iter::empty(), &[]);
        samples.end(&mut out);
        let compact = String::from_utf8(out).unwrap().replace(['\n', '\t'], "");
        let expected = r#"{"timestamp": 5,"pid": 1,"tid": -1,"cpu": 3,"comm": "sh","callchain": [{"ip": "0xff10","symbol": "f\"","dso": "libx.so"},{"ip": "0x0"}],"pid": "7"},{"timestamp": -1,"pid": 1,"tid": 2,"comm": "","callchain": []}]}"#;
        assert_eq!(compact, expected);
    }
}
