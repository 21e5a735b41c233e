//! Records of tracepoints to text, by the event they name.

use std::collections::HashMap;
use std::sync::Arc;

use crate::bytes::{ByteOrder, WordSize};
use crate::field::{FieldKind, FormatField, Value};
use crate::format::EventFormat;
use crate::listing;
use crate::names::{KernelSymbols, NoSymbols};
use crate::print::{PrintFormat, Record};
use crate::printk::PrintkStrings;
use crate::tracing_data::TracingData;

/// Shows records of one event.
#[derive(Debug)]
pub struct Formatter {
    format: EventFormat,
    print: Option<PrintFormat>,
    order: ByteOrder,
    word: WordSize,
    strings: Arc<PrintkStrings>,
}

impl Formatter {
    /// A formatter for records of a 64-bit kernel, which knows no strings by address.
    pub fn new(format: EventFormat, order: ByteOrder) -> Formatter {
        Formatter::with_strings(format, order, WordSize::Eight, Arc::default())
    }

    /// A formatter for records of a kernel with that word, and with its `printk_formats`.
    pub fn with_strings(
        format: EventFormat,
        order: ByteOrder,
        word: WordSize,
        strings: Arc<PrintkStrings>,
    ) -> Formatter {
        let print = PrintFormat::parse(&format, word);
        Formatter {
            format,
            print,
            order,
            word,
            strings,
        }
    }

    /// The event's format.
    pub fn event(&self) -> &EventFormat {
        &self.format
    }

    /// The byte order of its records.
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Returns whether the event's print expression was understood; if not, records are shown as lists of fields.
    pub fn is_understood(&self) -> bool {
        self.print.is_some()
    }

    /// Appends what `perf script` shows of a record's RAW bytes, kernel functions as addresses.
    pub fn format(&self, raw: &[u8], out: &mut Vec<u8>) {
        self.format_named(raw, &NoSymbols, out);
    }

    /// Like [`Formatter::format`], with kernel functions by their name.
    pub fn format_named(&self, raw: &[u8], symbols: &dyn KernelSymbols, out: &mut Vec<u8>) {
        match &self.print {
            Some(print) => print.write(&self.record(raw, symbols), out),
            None => {
                out.extend_from_slice(b"[FAILED TO PARSE]");
                self.list(raw, out);
            }
        }
    }

    /// Appends ` name=value` for each of the event's own fields (`perf report --raw-trace`).
    pub fn list(&self, raw: &[u8], out: &mut Vec<u8>) {
        listing::write(out, &self.format.fields, |field, text| {
            self.write_field(field, raw, text)
        });
    }

    /// Calls `each` with every field of the event's own and its text in a record: a number as the print expression
    /// shows it if it does, the rest as in a list, but with line ends and tabs as they are.
    pub fn each_text(&self, raw: &[u8], mut each: impl FnMut(&FormatField, &str)) {
        let mut text = Vec::new();
        for field in &self.format.fields {
            text.clear();
            self.write_field(field, raw, &mut text);
            each(field, &String::from_utf8_lossy(&text));
        }
    }

    /// Appends a field: a number as the print expression shows it if it does, the rest as its bytes say it.
    pub fn write_field(&self, field: &FormatField, raw: &[u8], out: &mut Vec<u8>) {
        let number = matches!(field.kind, FieldKind::Integer | FieldKind::Pointer);
        if let (true, Some(print)) = (
            number && field.bytes(raw, self.order).is_some(),
            &self.print,
        ) && print.write_field(field, &self.record(raw, &NoSymbols), out)
        {
            return;
        }
        listing::value(out, field, raw, self.order);
    }

    fn record<'a>(&'a self, bytes: &'a [u8], symbols: &'a dyn KernelSymbols) -> Record<'a> {
        Record {
            bytes,
            order: self.order,
            word: self.word,
            strings: &self.strings,
            symbols,
        }
    }

    /// The event's own fields with their values in `raw`; a value is `None` when it lies outside.
    pub fn fields<'a>(
        &'a self,
        raw: &'a [u8],
    ) -> impl Iterator<Item = (&'a FormatField, Option<Value<'a>>)> {
        self.format
            .fields
            .iter()
            .map(move |field| (field, field.value(raw, self.order)))
    }
}

/// Shows records of all events of a recording.
#[derive(Debug, Default)]
pub struct Formatters {
    by_id: HashMap<u64, Named>,
    /// The field that names the event of a record, and in which order.
    event_field: Option<(FormatField, ByteOrder)>,
    broken: usize,
}

#[derive(Debug)]
struct Named {
    system: String,
    formatter: Formatter,
}

impl Formatters {
    /// The formatters of all events in a recording's tracing data.
    pub fn new(data: &TracingData) -> Formatters {
        let strings = Arc::new(PrintkStrings::parse(&data.printk_formats));
        let mut formatters = Formatters::default();
        for (system, text) in data
            .ftrace
            .iter()
            .map(|text| ("ftrace", text))
            .chain(data.events())
        {
            formatters.add(system, text, data, &strings);
        }
        formatters
    }

    fn add(&mut self, system: &str, text: &[u8], data: &TracingData, strings: &Arc<PrintkStrings>) {
        let Ok(format) = EventFormat::parse(text) else {
            self.broken += 1;
            return;
        };
        if self.event_field.is_none() {
            self.event_field = format
                .field("common_type")
                .map(|field| (field.clone(), data.order));
        }
        let id = format.id;
        let formatter = Formatter::with_strings(format, data.order, data.word, Arc::clone(strings));
        self.by_id.insert(
            id,
            Named {
                system: system.to_owned(),
                formatter,
            },
        );
    }

    /// Number of the recording's format texts that could not be read.
    pub fn broken(&self) -> usize {
        self.broken
    }

    /// The formatter of the event with that id (`attr.config`).
    pub fn get(&self, id: u64) -> Option<&Formatter> {
        self.by_id.get(&id).map(|named| &named.formatter)
    }

    /// `system:event` of the event with that id.
    pub fn name(&self, id: u64) -> Option<String> {
        self.by_id
            .get(&id)
            .map(|named| format!("{}:{}", named.system, named.formatter.format.name))
    }

    /// The id that a record says it is of.
    pub fn event_of(&self, raw: &[u8]) -> Option<u64> {
        let (field, order) = self.event_field.as_ref()?;
        match field.value(raw, *order)? {
            Value::Unsigned(id) => Some(id),
            Value::Signed(id) => u64::try_from(id).ok(),
            _ => None,
        }
    }

    /// Appends what `perf script` shows of a record, by the event the record itself names.
    pub fn format(&self, raw: &[u8], symbols: &dyn KernelSymbols, out: &mut Vec<u8>) {
        match self.event_of(raw).and_then(|id| self.get(id)) {
            Some(formatter) => formatter.format_named(raw, symbols, out),
            None => out.extend_from_slice(b"[UNKNOWN EVENT]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatter(print: &str) -> Formatter {
        let text = format!(
            "name: x\nID: 1\n\
            \tfield:int cpu;\toffset:0;\tsize:2;\tsigned:1;\n\
            \tfield:unsigned long at;\toffset:2;\tsize:2;\tsigned:0;\n\
            \tfield:char what[4];\toffset:4;\tsize:4;\tsigned:0;\n\n\
            print fmt: {print}\n"
        );
        Formatter::new(
            EventFormat::parse(text.as_bytes()).expect("a format"),
            ByteOrder::Little,
        )
    }

    fn texts(print: &str, raw: &[u8]) -> Vec<String> {
        let formatter = formatter(print);
        let mut texts = Vec::new();
        formatter.each_text(raw, |field, text| {
            texts.push(format!("{}={text}", field.name))
        });
        texts
    }

    #[test]
    fn numbers_look_as_in_the_print_expression() {
        let raw = b"\x07\0\x0a\0a\nb\0";
        let plain = ["cpu=7", "at=0xa", "what=a\nb"];
        assert_eq!(texts("\"\"", raw), plain);
        assert_eq!(texts("\"%d %s\", REC->cpu + 1, REC->what", raw), plain);
        let shown = r#""[%03d] at=%lx 0x%04lx", REC->cpu, (unsigned long)REC->at, REC->at"#;
        assert_eq!(texts(shown, raw), ["cpu=007", "at=a", "what=a\nb"]);
        assert_eq!(
            texts(r#""0x%04lx %pS", REC->at, REC->cpu"#, raw),
            ["cpu=7", "at=0x000a", "what=a\nb"]
        );
    }

    #[test]
    fn numbers_of_a_list_look_so_too() {
        let mut list = Vec::new();
        formatter(r#""[%03d] at=%lx", REC->cpu, REC->at"#).list(b"\x07\0\x0a\0a\nb\0", &mut list);
        assert_eq!(String::from_utf8_lossy(&list), r" cpu=007 at=a what=a\nb");
    }

    #[test]
    fn what_lies_outside_has_no_text() {
        assert_eq!(texts("\"%d\", REC->cpu", b"\x07"), ["cpu=", "at=", "what="]);
    }
}
