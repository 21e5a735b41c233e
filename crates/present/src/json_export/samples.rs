//! The samples: who, when, where from, and a tracepoint's own fields.

use super::{key, string};
use crate::text::number::{push_hex, push_number};

/// The fields before the call chain. A field that an event does not record is -1.
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

/// The array of samples on its way out: each begins, has its places added, and ends.
#[derive(Debug, Default)]
pub struct Samples {
    written: bool,
    places: bool,
}

impl Samples {
    /// Begins a sample, up to its call chain.
    pub fn begin(&mut self, out: &mut Vec<u8>, head: &SampleHead<'_>) {
        if self.written {
            out.push(b',');
        }
        (self.written, self.places) = (true, false);
        out.extend_from_slice(b"\n\t\t{");
        write_head(out, head);
        out.extend_from_slice(b",\n\t\t\t\"callchain\": [");
    }

    /// Adds a place of the call chain; its name is what [`write_name`] has made, empty without one.
    #[inline]
    pub fn place(&mut self, out: &mut Vec<u8>, ip: u64, name: &[u8]) {
        if self.places {
            out.push(b',');
        }
        self.places = true;
        out.extend_from_slice(b"\n\t\t\t\t{\n\t\t\t\t\t\"ip\": \"0x");
        push_hex(out, ip, 1);
        out.push(b'"');
        out.extend_from_slice(name);
        out.extend_from_slice(b"\n\t\t\t\t}");
    }

    /// Ends a sample with the fields that [`write_trace_field`] has made.
    pub fn end_sample(&mut self, out: &mut Vec<u8>, fields: &[u8]) {
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

/// Writes what a place is called: its symbol, and the object that holds it.
pub fn write_name(out: &mut Vec<u8>, symbol: &str, object: &str) {
    for (name, value) in [("symbol", symbol), ("dso", object)] {
        out.push(b',');
        key(out, 5, name);
        string::write(value, out);
    }
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
        let (mut name, mut field) = (Vec::new(), Vec::new());
        write_name(&mut name, "f\"", "libx.so");
        write_trace_field(&mut field, "pid", "7");
        samples.begin(
            &mut out,
            &SampleHead {
                time: Some(5),
                pid: 1,
                tid: -1,
                cpu: Some(Some(3)),
                comm: "sh",
            },
        );
        samples.place(&mut out, 0xff10, &name);
        samples.place(&mut out, 0, &[]);
        samples.end_sample(&mut out, &field);
        samples.begin(
            &mut out,
            &SampleHead {
                time: None,
                pid: 1,
                tid: 2,
                cpu: None,
                comm: "",
            },
        );
        samples.end_sample(&mut out, &[]);
        samples.end(&mut out);
        let compact = String::from_utf8(out).unwrap().replace(['\n', '\t'], "");
        let expected = r#"{"timestamp": 5,"pid": 1,"tid": -1,"cpu": 3,"comm": "sh","callchain": [{"ip": "0xff10","symbol": "f\"","dso": "libx.so"},{"ip": "0x0"}],"pid": "7"},{"timestamp": -1,"pid": 1,"tid": 2,"comm": "","callchain": []}]}"#;
        assert_eq!(compact, expected);
    }
}
