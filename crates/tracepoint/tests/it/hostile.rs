//! Whatever the bytes are, nothing panics, runs forever or takes memory that the bytes do not pay for.

use oxperf_tracepoint::{ByteOrder, EventFormat, Formatter, PrintkStrings, TracingData};

/// A small generator with a fixed seed (xorshift), so that a failure comes again.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most)).map(|_| self.next() as u8).collect()
    }
}

const FORMAT: &str = "name: event\nID: 9\nformat:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
    \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
    \tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n\
    \tfield:__rel_loc u64[] list;\toffset:28;\tsize:4;\tsigned:1;\n\
    \tfield:long state;\toffset:32;\tsize:8;\tsigned:1;\n\n\
    print fmt: \"%-16s %*.*s %#010lx %pISpc %*pbl %s%s\", REC->comm, REC->state, 4, __get_str(name), REC->state, \
    __get_rel_dynamic_array(list), 64, REC->comm, (REC->state & (((1 << 3) + 1) | ~0x40UL)) ? \
    __print_flags(REC->state, \"|\", { 1, \"S\" }, { (1UL << 63), \"D\" }) : __print_symbolic(REC->state, {-1, \"x\"}), \
    __print_array(__get_rel_dynamic_array(list), __get_rel_dynamic_array_len(list) / sizeof(u64), sizeof(u64))\n";

/// Bytes that a mutation may write: the language's own, and some that are nobody's.
const TOKENS: &[u8] = b"()[]{}<>%*&|^~!?:,;\"'\\-+0x9UL_aREC->\n\t\0\xff";

fn mutated(random: &mut Random, text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..=random.below(6) {
        let (at, token) = (random.below(text.len()), TOKENS[random.below(TOKENS.len())]);
        match random.below(4) {
            0 => text[at] = token,
            1 => text.insert(at, token),
            2 => drop(text.drain(at..(at + random.below(20)).min(text.len()))),
            _ => {
                let piece = text[at..(at + random.below(40)).min(text.len())].to_vec();
                let to = random.below(text.len());
                text.splice(to..to, piece);
            }
        }
        text.push(b'\n');
    }
    text
}

fn format_some(random: &mut Random, format: EventFormat) {
    let formatter = Formatter::new(
        format,
        if random.below(2) == 0 {
            ByteOrder::Little
        } else {
            ByteOrder::Big
        },
    );
    for _ in 0..4 {
        let mut out = Vec::new();
        let raw = random.bytes(120);
        formatter.format(&raw, &mut out);
        formatter.list(&raw, &mut out);
        assert!(formatter.fields(&raw).count() < 100);
        assert!(out.len() < 1 << 21, "{} bytes of text", out.len());
        let harmless = |byte: &u8| !matches!(byte, 0..=8 | 11..=31 | 127);
        assert!(
            out.iter().all(harmless),
            "{:?}",
            String::from_utf8_lossy(&out)
        );
    }
}

#[test]
fn mutated_formats() {
    let mut random = Random(0x5eed);
    let mut understood = 0;
    for _ in 0..4000 {
        if let Ok(format) = EventFormat::parse(&mutated(&mut random, FORMAT.as_bytes())) {
            understood += 1;
            format_some(&mut random, format);
        }
    }
    assert!(understood > 1000, "only {understood} formats were tried");
}

#[test]
fn random_bytes() {
    let mut random = Random(77);
    for _ in 0..4000 {
        let bytes = random.bytes(300);
        let _ = EventFormat::parse(&bytes);
        let _ = TracingData::decode(&bytes);
        PrintkStrings::parse(&bytes);
        let print = [
            FORMAT
                .split("print fmt")
                .next()
                .unwrap_or_default()
                .as_bytes(),
            b"print fmt:\"%s\",",
            &bytes,
        ];
        if let Ok(format) = EventFormat::parse(&print.concat()) {
            format_some(&mut random, format);
        }
    }
}

#[test]
fn mutated_tracing_data() {
    let mut random = Random(4242);
    let mut bytes =
        b"\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0header_page\0\x04\0\0\0\0\0\0\0page".to_vec();
    bytes.extend(
        b"header_event\0\x05\0\0\0\0\0\0\0event\0\0\0\0\x01\0\0\0sched\0\x01\0\0\0\x04\0\0\0\0\0\0\0name",
    );
    bytes.extend([0; 16]);
    assert!(TracingData::decode(&bytes).is_ok());
    for _ in 0..20_000 {
        let mut bytes = bytes.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            bytes[at] = random.next() as u8;
        }
        let _ = TracingData::decode(&bytes);
    }
}

#[test]
fn deep_and_long_expressions() {
    let head = FORMAT.split("print fmt").next().unwrap_or_default();
    let many = 50_000;
    let expressions = [
        "(".repeat(many),
        "-".repeat(many),
        "(u8)".repeat(many),
        "1?".repeat(many),
        format!("1{}", "+1".repeat(many)),
        format!("{}1{}", "(".repeat(50), ")+1+1+1+1+1+1+1+1+1".repeat(50)),
        format!("REC->list{}", "[0]".repeat(many)),
        format!("__print_flags(1, \"|\"{})", ", { 1, \"a\" }".repeat(many)),
    ];
    for expression in expressions {
        let text = format!("{head}print fmt: \"%d\", {expression}\n");
        format_some(
            &mut Random(1),
            EventFormat::parse(text.as_bytes()).expect("a format"),
        );
    }
}

#[test]
fn a_format_that_repeats_a_record_stays_bounded() {
    let head = FORMAT.split("print fmt").next().unwrap_or_default();
    let text = format!(
        "{head}print fmt: \"{}\"{}\n",
        "%9999999999d%s".repeat(2000),
        ", 1, __print_hex(REC->comm, 100000)".repeat(2000)
    );
    let format = EventFormat::parse(text.as_bytes()).expect("a format");
    let mut out = Vec::new();
    Formatter::new(format, ByteOrder::Little).format(&[1; 60_000], &mut out);
    assert!(out.len() < 2 << 20, "{} bytes of text", out.len());
}
