//! The samples of an event: what every event can have, then a tracepoint's own fields or the raw data of a program.

use oxperf_abi::{EventAttr, EventType, SampleType, SoftwareId};
use oxperf_tracepoint::{ByteOrder, FieldKind, FormatField, Formatter, Value};
use oxperf_wire::{Endian, Sample, SampleWeight};

use super::EventClass;
use super::layout::{Integer, Kind, put_text};

/// The layout of the samples of one event.
#[derive(Debug)]
pub struct SampleClass<'f> {
    class: EventClass,
    sample_type: SampleType,
    raw: Raw<'f>,
}

/// The kind of the samples' raw data.
#[derive(Debug)]
enum Raw<'f> {
    Unknown,
    /// The bytes of a BPF program.
    Words(ByteOrder),
    Fields(Vec<TraceField<'f>>, ByteOrder),
}

#[derive(Debug)]
struct TraceField<'f> {
    field: &'f FormatField,
    kind: Kind,
}

/// A field that an event can have: any of these bits, its name, its form and its value.
type Common = (SampleType, &'static str, Integer, fn(&Sample<'_>) -> u64);

/// All of them, in their order.
const COMMON: [Common; 9] = [
    (SampleType::IP, "perf_ip", Integer::Hex64, |sample| {
        sample.ip.unwrap_or(0)
    }),
    (SampleType::TID, "perf_tid", Integer::S32, |sample| {
        sample.tid.map_or(0, |tid| tid.0 as u64)
    }),
    (SampleType::TID, "perf_pid", Integer::S32, |sample| {
        sample.pid.map_or(0, |pid| pid.0 as u64)
    }),
    (
        SampleType(SampleType::ID.0 | SampleType::IDENTIFIER.0),
        "perf_id",
        Integer::U64,
        |sample| sample.id.map_or(0, |id| id.0),
    ),
    (
        SampleType::STREAM_ID,
        "perf_stream_id",
        Integer::U64,
        |sample| sample.stream_id.unwrap_or(0),
    ),
    (SampleType::PERIOD, "perf_period", Integer::U64, |sample| {
        sample.period.unwrap_or(0)
    }),
    (
        SampleType(SampleType::WEIGHT.0 | SampleType::WEIGHT_STRUCT.0),
        "perf_weight",
        Integer::U64,
        weight,
    ),
    (
        SampleType::DATA_SRC,
        "perf_data_src",
        Integer::U64,
        |sample| sample.data_src.unwrap_or(0),
    ),
    (
        SampleType::TRANSACTION,
        "perf_transaction",
        Integer::U64,
        |sample| sample.transaction.unwrap_or(0),
    ),
];

fn weight(sample: &Sample<'_>) -> u64 {
    match sample.weight {
        Some(SampleWeight::Whole(weight)) => weight,
        Some(SampleWeight::Parts { var1, .. }) => var1.into(),
        None => 0,
    }
}

impl<'f> SampleClass<'f> {
    /// The layout of an event's samples; a tracepoint has fields of its own if its format is known.
    pub fn new(
        name: &str,
        attr: &EventAttr,
        formatter: Option<&'f Formatter>,
        endian: Endian,
    ) -> SampleClass<'f> {
        let mut class = EventClass::new(name);
        let sample_type = attr.sample_type;
        for (_, name, integer, _) in COMMON.iter().filter(|common| recorded(sample_type, common)) {
            class.add(name, Kind::Integer(*integer));
        }
        if sample_type.contains(SampleType::CALLCHAIN) {
            class.add(
                "perf_callchain",
                Kind::Sequence(Integer::Hex64, "perf_callchain_size".into()),
            );
        }
        let raw = Raw::new(attr, formatter, endian);
        raw.declare(&mut class);
        SampleClass {
            class,
            sample_type,
            raw,
        }
    }

    /// Its declaration.
    pub fn class(&self) -> &EventClass {
        &self.class
    }

    /// Appends the fields of a sample.
    pub fn write(&self, sample: &Sample<'_>, out: &mut Vec<u8>) {
        for (_, _, integer, value) in COMMON
            .iter()
            .filter(|common| recorded(self.sample_type, common))
        {
            integer.put(out, value(sample));
        }
        if self.sample_type.contains(SampleType::CALLCHAIN) {
            put_sequence(
                out,
                Integer::Hex64,
                sample.callchain.iter().flat_map(|words| words.iter()),
            );
        }
        let bytes = sample.raw.unwrap_or_default();
        match &self.raw {
            Raw::Unknown => {}
            Raw::Words(order) => put_sequence(out, Integer::Hex32, elements(bytes, 4, *order)),
            Raw::Fields(fields, order) => write_fields(fields, bytes, *order, out),
        }
    }
}

/// Records are far smaller: what a hostile format shows of one over and over ends here.
const LARGEST: usize = 1 << 16;
const LONGEST: usize = 1 << 20;
const MOST_FIELDS: usize = 1000;

fn write_fields(fields: &[TraceField<'_>], raw: &[u8], order: ByteOrder, out: &mut Vec<u8>) {
    let longest = out.len().saturating_add(LONGEST);
    for field in fields {
        field.write(if out.len() < longest { raw } else { &[] }, order, out);
    }
}

fn recorded(sample_type: SampleType, common: &Common) -> bool {
    sample_type.0 & common.0.0 != 0
}

impl<'f> Raw<'f> {
    fn new(attr: &EventAttr, formatter: Option<&'f Formatter>, endian: Endian) -> Raw<'f> {
        let software =
            SoftwareId::from_config(attr.config).filter(|_| attr.kind == EventType::SOFTWARE);
        let has_raw = attr.sample_type.contains(SampleType::RAW);
        match (attr.kind, formatter) {
            (EventType::TRACEPOINT, Some(formatter)) => {
                let fields = formatter
                    .event()
                    .all_fields()
                    .take(MOST_FIELDS)
                    .map(TraceField::new);
                let mut room = LARGEST;
                let fits = |field: &TraceField<'_>| field.take_from(&mut room);
                Raw::Fields(fields.filter(fits).collect(), formatter.order())
            }
            _ if has_raw && software == Some(SoftwareId::BpfOutput) => Raw::Words(match endian {
                Endian::Little => ByteOrder::Little,
                Endian::Big => ByteOrder::Big,
            }),
            _ => Raw::Unknown,
        }
    }

    fn declare(&self, class: &mut EventClass) {
        match self {
            Raw::Unknown => {}
            Raw::Words(_) => {
                class.add("raw_data", Kind::Sequence(Integer::Hex32, "raw_len".into()))
            }
            Raw::Fields(fields, _) => {
                fields
                    .iter()
                    .for_each(|field| class.add(&field.field.name, field.kind.clone()));
            }
        }
    }
}

impl<'f> TraceField<'f> {
    fn new(field: &'f FormatField) -> TraceField<'f> {
        let kind = match field.kind {
            FieldKind::Text | FieldKind::DynamicText(_) => Kind::Text,
            FieldKind::Integer | FieldKind::Pointer if field.size <= 8 => {
                Kind::Integer(integer(field, field.size))
            }
            FieldKind::Integer | FieldKind::Pointer => Kind::Array(Integer::Hex32, field.size),
            FieldKind::Array { element } => {
                Kind::Array(integer(field, element), field.size / whole(element))
            }
            FieldKind::DynamicArray { element, .. } => {
                Kind::Sequence(integer(field, element), format!("{}_size", field.name))
            }
        };
        TraceField { field, kind }
    }

    /// Takes the room of an array of fixed length; whether there is so much left.
    fn take_from(&self, room: &mut usize) -> bool {
        let Kind::Array(_, count) = self.kind else {
            return true;
        };
        let left = room.checked_sub(count);
        *room = left.unwrap_or(*room);
        left.is_some()
    }

    /// Appends its value; what lies outside of the record is 0 or empty.
    fn write(&self, raw: &[u8], order: ByteOrder, out: &mut Vec<u8>) {
        let bytes = || self.field.bytes(raw, order).unwrap_or_default();
        let element = match self.field.kind {
            FieldKind::Array { element } | FieldKind::DynamicArray { element, .. } => {
                whole(element)
            }
            _ => 1,
        };
        let value = |number| {
            if self.field.signed {
                extend(number, element)
            } else {
                number
            }
        };
        match &self.kind {
            Kind::Text => match self.field.value(raw, order) {
                Some(Value::Text(text)) => put_text(out, &String::from_utf8_lossy(text)),
                _ => put_text(out, ""),
            },
            Kind::Integer(integer) => integer.put(out, number(self.field.value(raw, order))),
            Kind::Array(of, count) => {
                let values = elements(bytes(), element, order)
                    .map(value)
                    .chain(std::iter::repeat(0));
                values.take(*count).for_each(|value| of.put(out, value));
            }
            Kind::Sequence(of, _) => {
                put_sequence(out, *of, elements(bytes(), element, order).map(value))
            }
        }
    }
}

/// The form of a number of that many bytes.
fn integer(field: &FormatField, bytes: usize) -> Integer {
    let long = matches!(field.kind, FieldKind::Pointer) || field.declared.contains("long");
    match (field.signed, whole(bytes) == 8) {
        // Unsigned longs are addresses more often than not.
        (false, _) if long => Integer::Hex64,
        (true, true) => Integer::S64,
        (true, false) => Integer::S32,
        (false, true) => Integer::U64,
        (false, false) => Integer::U32,
    }
}

/// The size of elements; what is no number is taken byte by byte.
fn whole(element: usize) -> usize {
    if matches!(element, 1 | 2 | 4 | 8) {
        element
    } else {
        1
    }
}

fn number(value: Option<Value<'_>>) -> u64 {
    match value {
        Some(Value::Unsigned(number) | Value::Pointer(number)) => number,
        Some(Value::Signed(number)) => number as u64,
        _ => 0,
    }
}

/// A number of that many bytes with its sign.
fn extend(number: u64, bytes: usize) -> u64 {
    let unused = 64 - 8 * bytes as u32;
    ((number << unused) as i64 >> unused) as u64
}

/// The numbers that the bytes hold; a last one that is cut off counts with what is there.
fn elements(bytes: &[u8], size: usize, order: ByteOrder) -> impl Iterator<Item = u64> + '_ {
    bytes
        .chunks(size)
        .map(move |chunk| order.unsigned(chunk).unwrap_or(0))
}

fn put_sequence(out: &mut Vec<u8>, of: Integer, values: impl Iterator<Item = u64>) {
    let start = out.len();
    Integer::U32.put(out, 0);
    let mut count = 0u32;
    for value in values {
        of.put(out, value);
        count += 1;
    }
    out[start..start + 4].copy_from_slice(&count.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use oxperf_tracepoint::EventFormat;
    use oxperf_wire::SampleLayout;

    use super::*;

    const FORMAT: &str = "name: x\nID: 1\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:s16 event;\toffset:2;\tsize:2;\tsigned:1;\n\
        \tfield:unsigned long at;\toffset:4;\tsize:8;\tsigned:0;\n\
        \tfield:char name[4];\toffset:12;\tsize:4;\tsigned:0;\n\
        \tfield:__data_loc char[] path;\toffset:16;\tsize:4;\tsigned:0;\n\
        \tfield:s8 pair[2];\toffset:20;\tsize:2;\tsigned:1;\n\
        \tfield:__data_loc u16[] list;\toffset:24;\tsize:4;\tsigned:0;\n\
        \tfield:u8 beyond[70000];\toffset:28;\tsize:70000;\tsigned:0;\n\
        print fmt: \"\"\n";

    fn formatter() -> Formatter {
        Formatter::new(
            EventFormat::parse(FORMAT.as_bytes()).unwrap(),
            ByteOrder::Little,
        )
    }

    fn tracepoint(sample_type: SampleType) -> EventAttr {
        EventAttr {
            kind: EventType::TRACEPOINT,
            sample_type,
            ..EventAttr::default()
        }
    }

    #[test]
    fn a_tracepoint_declares_its_fields() {
        let formatter = formatter();
        let attr = tracepoint(SampleType::IP | SampleType::TID | SampleType::RAW);
        let class = SampleClass::new("a:x", &attr, Some(&formatter), Endian::Little);
        let mut text = String::new();
        class.class().declare(0, &mut text);
        let fields: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("\t\t"))
            .collect();
        let expected = [
            "hex64 perf_ip;",
            "s32 perf_tid;",
            "s32 perf_pid;",
            "u32 common_type;",
            "s32 _event;",
            "hex64 at;",
            "string { encoding = UTF8; } name;",
            "string { encoding = UTF8; } path;",
            "s32 pair[2];",
            "u32 list_size;",
            "u32 list[list_size];",
        ];
        assert_eq!(fields, expected);
    }

    /// The text of a tracepoint's sample with these raw data.
    fn written(raw: &[u8]) -> Vec<u8> {
        let formatter = formatter();
        let attr = tracepoint(SampleType::RAW);
        let class = SampleClass::new("a:x", &attr, Some(&formatter), Endian::Little);
        let mut body = (raw.len() as u32).to_le_bytes().to_vec();
        body.extend_from_slice(raw);
        let sample = SampleLayout::new(&attr)
            .decode_sample(&body, Endian::Little)
            .unwrap();
        let mut out = Vec::new();
        class.write(&sample, &mut out);
        out
    }

    #[test]
    fn values_are_those_of_the_record() {
        let mut raw =
            b"\x01\0\xfe\xff\x10\0\0\0\0\0\0\x80ab\0\0\x1c\0\x03\0\xff\x05\0\0\x1f\0\x04\0"
                .to_vec();
        raw.extend_from_slice(b"/x\0\x01\0\x02\0");
        let mut expected = Vec::new();
        expected.extend_from_slice(b"\x01\0\0\0\xfe\xff\xff\xff\x10\0\0\0\0\0\0\x80ab\0/x\0");
        expected.extend_from_slice(b"\xff\xff\xff\xff\x05\0\0\0\x02\0\0\0\x01\0\0\0\x02\0\0\0");
        assert_eq!(written(&raw), expected);
    }

    #[test]
    fn what_lies_outside_is_zero_or_empty() {
        let empty = [vec![0; 4 + 4 + 8 + 1 + 1], vec![0; 2 * 4 + 4]].concat();
        assert_eq!(written(&[]), empty);
    }

    #[test]
    fn a_name_that_is_shown_over_and_over_ends_somewhere() {
        let field = "\tfield:__data_loc char[] f;\toffset:0;\tsize:4;\tsigned:0;\n".repeat(5000);
        let text = format!("name: x\nID: 1\nformat:\n{field}\nprint fmt: \"\"\n");
        let formatter = Formatter::new(
            EventFormat::parse(text.as_bytes()).unwrap(),
            ByteOrder::Little,
        );
        let attr = tracepoint(SampleType::RAW);
        let class = SampleClass::new("a:x", &attr, Some(&formatter), Endian::Little);
        let raw = [b"\x04\0\x60\xea".to_vec(), vec![b'x'; 60_000]].concat();
        let mut out = Vec::new();
        class.write(
            &Sample {
                raw: Some(&raw),
                ..Sample::default()
            },
            &mut out,
        );
        assert!(
            (LONGEST..LONGEST + 70_000).contains(&out.len()),
            "{}",
            out.len()
        );
    }
}
