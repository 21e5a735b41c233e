//! Tracing data to bytes, in version 0.6.

use super::{MARK, TracingData, VERSION};
use crate::bytes::ByteOrder;

impl TracingData {
    /// The section's bytes, in the data's own byte order.
    ///
    /// Texts that are longer than their length field can say are cut there.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer {
            out: MARK.to_vec(),
            order: self.order,
        };
        writer.name(VERSION);
        writer.out.push(u8::from(self.order == ByteOrder::Big));
        writer.out.push(self.word.bytes());
        writer.u32(self.page_size);
        writer.name(b"header_page");
        writer.long_text(&self.header_page);
        writer.name(b"header_event");
        writer.long_text(&self.header_event);
        writer.formats(&self.ftrace);
        writer.u32(self.systems.len() as u32);
        for system in &self.systems {
            writer.name(system.system.as_bytes());
            writer.formats(&system.formats);
        }
        writer.short_text(&self.kallsyms);
        writer.short_text(&self.printk_formats);
        writer.long_text(self.cmdlines.as_deref().unwrap_or_default());
        writer.out
    }
}

struct Writer {
    out: Vec<u8>,
    order: ByteOrder,
}

impl Writer {
    fn u32(&mut self, number: u32) {
        self.out.extend_from_slice(&match self.order {
            ByteOrder::Little => number.to_le_bytes(),
            ByteOrder::Big => number.to_be_bytes(),
        });
    }

    fn u64(&mut self, number: u64) {
        self.out.extend_from_slice(&match self.order {
            ByteOrder::Little => number.to_le_bytes(),
            ByteOrder::Big => number.to_be_bytes(),
        });
    }

    fn name(&mut self, name: &[u8]) {
        self.out.extend_from_slice(name);
        self.out.push(0);
    }

    fn long_text(&mut self, text: &[u8]) {
        self.u64(text.len() as u64);
        self.out.extend_from_slice(text);
    }

    fn short_text(&mut self, text: &[u8]) {
        let text = text.get(..u32::MAX as usize).unwrap_or(text);
        self.u32(text.len() as u32);
        self.out.extend_from_slice(text);
    }

    fn formats(&mut self, formats: &[Vec<u8>]) {
        self.u32(formats.len() as u32);
        formats.iter().for_each(|text| self.long_text(text));
    }
}

#[cfg(test)]
mod tests {
    use crate::{ByteOrder, SystemFormat, TracepointError, TracingData, WordSize};

    fn data(order: ByteOrder, word: WordSize) -> TracingData {
        let system = |name: &str, formats: &[&str]| SystemFormat {
            system: name.to_owned(),
            formats: formats
                .iter()
                .map(|text| text.as_bytes().to_vec())
                .collect(),
        };
        TracingData {
            order,
            word,
            page_size: 4096,
            header_page: b"page".to_vec(),
            header_event: b"event".to_vec(),
            ftrace: vec![b"name: function\nID: 1\n".to_vec()],
            systems: vec![
                system("sched", &["name: a\nID: 2\n", "name: b\nID: 3\n"]),
                system("irq", &[]),
            ],
            kallsyms: Vec::new(),
            printk_formats: b"0x1 : \"x\"\n".to_vec(),
            cmdlines: Some(b"1 init\n".to_vec()),
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        for (order, word) in [
            (ByteOrder::Little, WordSize::Eight),
            (ByteOrder::Big, WordSize::Four),
        ] {
            let written = data(order, word);
            assert_eq!(
                TracingData::decode(&written.encode()).expect("decodes"),
                written
            );
        }
    }

    #[test]
    fn every_cut_is_an_error() {
        let bytes = data(ByteOrder::Little, WordSize::Eight).encode();
        for end in 0..bytes.len() {
            assert!(TracingData::decode(&bytes[..end]).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn hostile_lengths_and_values_are_named() {
        let mut bytes = data(ByteOrder::Little, WordSize::Eight).encode();
        let label = bytes
            .windows(11)
            .position(|window| window == b"header_page")
            .expect("the label");
        bytes[label + 12..label + 20].fill(0xff);
        let error = TracingData::decode(&bytes).expect_err("a length beyond all");
        assert!(
            matches!(
                error,
                TracepointError::Truncated {
                    what: "header_page",
                    ..
                }
            ),
            "{error}"
        );
        bytes[14] = 2;
        let error = TracingData::decode(&bytes).expect_err("no byte order");
        assert!(
            matches!(
                error,
                TracepointError::Value {
                    offset: 14,
                    value: 2,
                    ..
                }
            ),
            "{error}"
        );
    }
}
