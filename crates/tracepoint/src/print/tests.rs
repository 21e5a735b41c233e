//! The print language: an expression and the text it gives for one record.

use super::*;
use crate::{ByteOrder, EventFormat, Formatter, KernelFunction, KernelSymbols, PrintkStrings};
use std::sync::Arc;

const FIELDS: &str = "name: event\nID: 9\nformat:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
    \tfield:int minus_5;\toffset:4;\tsize:4;\tsigned:1;\n\
    \tfield:unsigned int word;\toffset:8;\tsize:4;\tsigned:0;\n\
    \tfield:s16 minus_3;\toffset:12;\tsize:2;\tsigned:1;\n\
    \tfield:u8 bytes[6];\toffset:14;\tsize:6;\tsigned:0;\n\
    \tfield:char comm[8];\toffset:20;\tsize:8;\tsigned:0;\n\
    \tfield:__data_loc char[] name;\toffset:28;\tsize:4;\tsigned:0;\n\
    \tfield:__rel_loc u16[] list;\toffset:32;\tsize:4;\tsigned:0;\n\
    \tfield:void * text;\toffset:36;\tsize:8;\tsigned:0;\n\
    \tfield:__data_loc unsigned long[] mask;\toffset:44;\tsize:4;\tsigned:0;\n\
    \tfield:u8 v4[4];\toffset:48;\tsize:4;\tsigned:0;\n\
    \tfield:u8 socket[8];\toffset:52;\tsize:8;\tsigned:0;\n\
    \tfield:u8 v6[16];\toffset:60;\tsize:16;\tsigned:0;\n\n";

/// A record of those fields, in little-endian bytes.
fn record() -> Vec<u8> {
    let mut bytes = vec![9, 0, 0, 0];
    bytes.extend((-5i32).to_le_bytes());
    bytes.extend(0xfffffff0u32.to_le_bytes());
    bytes.extend((-3i16).to_le_bytes());
    bytes.extend([0xde, 0xad, 0xbe, 0xef, 1, 2]);
    bytes.extend(b"hello\0\0\0");
    bytes.extend((76u32 | 7 << 16).to_le_bytes());
    bytes.extend(((83 - 36u32) | (4 << 16)).to_le_bytes());
    bytes.extend(0xffff_8000_0000_1000u64.to_le_bytes());
    bytes.extend((87u32 | 16 << 16).to_le_bytes());
    bytes.extend([10, 0, 0, 1]);
    bytes.extend([2, 0, 0x1f, 0x90, 127, 0, 0, 1]);
    bytes.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    bytes.extend(b"a\x1b[1m\n\0");
    bytes.extend([1, 0, 0xff, 0xff]);
    bytes.extend([0xf1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

struct OneSymbol;

impl KernelSymbols for OneSymbol {
    fn symbol(&self, address: u64) -> Option<KernelFunction<'_>> {
        let offset = address.checked_sub(0xffff_8000_0000_0ff0)?;
        Some(KernelFunction {
            name: "do_it",
            module: None,
            offset,
        })
    }
}

fn formatter(print: &str) -> Formatter {
    let text = format!("{FIELDS}print fmt: {print}\n");
    let format = EventFormat::parse(text.as_bytes()).expect("a format");
    let strings = PrintkStrings::parse(b"0xffff800000001000 : \"a string\"\n");
    Formatter::with_strings(
        format,
        ByteOrder::Little,
        WordSize::Eight,
        Arc::new(strings),
    )
}

#[track_caller]
fn check(print: &str, expected: &str) {
    let formatter = formatter(print);
    assert!(formatter.is_understood(), "{print}");
    let mut out = Vec::new();
    formatter.format_named(&record(), &OneSymbol, &mut out);
    assert_eq!(String::from_utf8_lossy(&out), expected, "{print}");
}

#[test]
fn numbers_are_cut_to_their_directive() {
    check(
        r#""%d %u %x", REC->minus_5, REC->minus_5, REC->minus_5"#,
        "-5 4294967291 fffffffb",
    );
    check(r#""%ld %lx", REC->minus_5, REC->minus_5"#, "-5 fffffffb");
    check(
        r#""%d %hx %hhu", REC->minus_3, REC->word, REC->word"#,
        "-3 fff0 240",
    );
    check(
        r#""%llu", (unsigned long long)REC->minus_5"#,
        "18446744073709551611",
    );
    check(r#""%c%c", 'a', REC->comm[1]"#, "ae");
}

#[test]
fn flags_width_and_precision_lay_out() {
    check(
        r#""%5d|%-5d|%05d|%+d|% d|%.3d|%5.3d", 42, 42, 42, 42, 42, 42, 42"#,
        "   42|42   |00042|+42| 42|042|  042",
    );
    check(
        r#""%#x %#o %#010x %X", 42, 42, 255, 255"#,
        "0x2a 052 0x000000ff FF",
    );
    check(
        r#""%*d|%-*d|%*d|%.*s", 4, 1, 4, 1, -4, 1, 2, REC->comm"#,
        "   1|1   |1   |he",
    );
    check(
        r#""%7s|%-7s|%.2s|%4c|", REC->comm, REC->comm, REC->comm, 'x'"#,
        "  hello|hello  |he|   x|",
    );
}

#[test]
fn arithmetic_is_that_of_c() {
    check(
        r#""%d %d %d", 10 - 3 - 2, 2 + 3 * 4, 5 & 3 | 8 ^ 1"#,
        "5 14 9",
    );
    check(r#""%d %d %d", -7 / 2, -7 % 4, -8 >> 1"#, "-3 -3 -4");
    check(r#""%d %d %d", 1 / 0, 1 % 0, !5"#, "0 0 0");
    check(r#""%d %d", REC->minus_5 < 0, REC->word < 0"#, "1 0");
    check(r#""%d", REC->word > -1"#, "0");
    check(r#""%llx %llx", ~REC->word, ~0ULL"#, "f ffffffffffffffff");
    check(r#""%llx", (REC->word << 4)"#, "ffffff00");
    check(
        r#""%u:%u", ((unsigned int) ((REC->word) >> 20)), ((unsigned int) ((REC->word) & ((1U << 20) - 1)))"#,
        "4095:1048560",
    );
    check(r#""%d %d", 1 ? 2 : 0 ? 4 : 5, (0 ? 4 : 5)"#, "2 5");
    check(r#""%d", sizeof(u32) + sizeof(REC->comm)"#, "12");
    check(r#""%d", __builtin_expect(!!(REC->word), 1)"#, "1");
}

#[test]
fn texts_come_from_every_place() {
    check(r#""%s %s", REC->comm, __get_str(list)"#, "hello \\x01");
    check(r#""%s", REC->word ? "yes" : "no""#, "yes");
    check(r#""a" "b %s" "c", "x" "y""#, "ab xyc");
    check(r#""%s", REC->text"#, "a string");
    check(r#""[%s]", REC->missing"#, "[]");
    check(r#""plain %%""#, "plain %");
}

#[test]
fn control_characters_are_harmless() {
    check(r#""%s", __get_str(name)"#, "a\\x1b[1m\\n");
    check("\"\u{1b}[1m %c\", 27", "\\x1b[1m \\x1b");
    check(r#""one\ntwo""#, "one\ntwo");
    check(
        "\"%s\", __print_flags(3, \"\u{b}\", {1, \"a\u{1b}\"}, {2, \"b\"})",
        "a\\x1b\\x0bb",
    );
    check("\"%s\", __print_symbolic(1, {1, \"a\u{1b}\"})", "a\\x1b");
}

#[test]
fn numbers_have_names() {
    check(r#""%s", __print_flags(3, "|", {1, "a"}, {2, "b"})"#, "a|b");
    check(
        r#""%s", __print_flags(REC->word, "|", {1, "a"}, {0x10, "c"})"#,
        "c|0xffffffe0",
    );
    check(
        r#""[%s]", __print_flags(0, "|", {1, "a"}, {UNKNOWN, "b"})"#,
        "[]",
    );
    let timer = r#""%u %s", 0xf80001 & 0x0003FFFF, __print_flags(0xf80001 & (0x00040000 | 0x00080000 | 0x00100000), "|", { 0x00040000, "M" }, { 0x00080000, "D" }, { 0x00100000, "P" })"#;
    check(timer, "1 D|P");
    check(
        r#""%s", __print_flags(0x80000000, "|", {1 << 31, "top"})"#,
        "top",
    );
    check(
        r#""%s %s", __print_symbolic(REC->minus_5, {-5, "five"}), __print_symbolic(7, {1, "a"})"#,
        "five 0x7",
    );
    check(
        r#""%s", __print_symbolic(REC->minus_5, {-1, ((void *)0)})"#,
        "0xfffffffb",
    );
    check(r#""%5s|", __print_symbolic(1, {1, "abc"})"#, "  abc|");
    check(
        r#""%s", __print_symbolic(9, {HI_SOFTIRQ, "HI"}, {RCU_SOFTIRQ, "RCU"})"#,
        "RCU",
    );
}

#[test]
fn arrays_are_shown() {
    check(
        r#""%s %s", __print_hex(REC->bytes, 3), __print_hex_str(REC->bytes, 3)"#,
        "de ad be deadbe",
    );
    check(
        r#""%s", __print_array(__get_rel_dynamic_array(list), 2, 2)"#,
        "{0x1,0xffff}",
    );
    check(
        r#""%s", __print_array(REC->bytes, 1000000000000, 8)"#,
        &every_eight_bytes(),
    );
    check(
        r#""%d %d", __get_rel_dynamic_array_len(list), ((u16 *)__get_rel_dynamic_array(list))[1]"#,
        "4 65535",
    );
    check(
        r#""%d %d %d", REC->bytes[1], REC->bytes[99], *(u8 *)__get_dynamic_array(name)"#,
        "173 0 97",
    );
    check(
        r#""%s %s", __get_bitmask(mask), __get_cpumask(mask)"#,
        "00000000,00000001,00000000,000000f1 0,4-7,64",
    );
}

/// The rest of the record from `bytes` on, as an array.
fn every_eight_bytes() -> String {
    let record = record();
    let numbers = record[14..]
        .chunks_exact(8)
        .map(|chunk| u64::from_le_bytes(chunk.try_into().expect("8 bytes")));
    format!(
        "{{{}}}",
        numbers
            .map(|number| format!("{number:#x}"))
            .collect::<Vec<_>>()
            .join(",")
    )
}

#[test]
fn pointers_have_many_forms() {
    check(r#""%p %p", REC->text, 0"#, "0xffff800000001000 (nil)");
    check(
        r#""%pS %ps %pS", REC->text, REC->text, 16"#,
        "do_it+0x10 do_it 0x10",
    );
    check(
        r#""%pM %pm %pMR", REC->bytes, REC->bytes, REC->bytes"#,
        "de:ad:be:ef:01:02 deadbeef0102 02:01:ef:be:ad:de",
    );
    check(
        r#""%pI4 %pi4 %pI4", REC->v4, REC->v4, REC->bytes"#,
        "10.0.0.1 010.000.000.001 INVALIDIPv4",
    );
    check(
        r#""%pI6c %pI6", REC->v6, REC->v6"#,
        "2001:db8::1 2001:0db8:0000:0000:0000:0000:0000:0001",
    );
    check(r#""%pISpc", REC->socket"#, "127.0.0.1:8080");
    check(r#""%pU", REC->v6"#, "20010db8-0000-0000-0000-000000000001");
    check(
        r#""%*pbl %*phC", 16, REC->bytes, 3, REC->bytes"#,
        "1-4,6-8,10-11,13,15 de:ad:be",
    );
}

#[test]
fn helpers_compute() {
    check(
        r#""%llu.%09llu", __print_ns_to_secs(1500000000), __print_ns_without_secs(1500000000)"#,
        "1.500000000",
    );
    check(r#""%x %x", ntohs(0x1234), be32_to_cpu(1)"#, "3412 1000000");
}

#[test]
fn what_is_not_understood_becomes_a_list() {
    for print in [
        r#""%d""#,
        r#""%d", helper(1)"#,
        r#""%d", ({ int x = 1; x; })"#,
        r#""%d", (1"#,
        r#""%d", 1,"#,
        "5",
    ] {
        let formatter = formatter(print);
        assert!(!formatter.is_understood(), "{print}");
        let mut out = Vec::new();
        formatter.format(&record(), &mut out);
        let expected = "[FAILED TO PARSE] minus_5=-5 word=4294967280 minus_3=-3 bytes=ARRAY[de, ad, be, ef, 01, 02] comm=hello";
        assert!(
            String::from_utf8_lossy(&out).starts_with(expected),
            "{print}"
        );
    }
}

#[test]
fn a_short_record_reads_as_zeros() {
    let mut out = Vec::new();
    let print = r#""%d %s %s %pM", REC->word, REC->comm, __get_str(name), REC->bytes"#;
    formatter(print).format(&record()[..6], &mut out);
    assert_eq!(out, b"0   INVALIDMAC");
}

#[test]
fn big_endian_records_read_the_same() {
    let text =
        format!("{FIELDS}print fmt: \"%d %x %x\", REC->minus_5, REC->word, ntohs(REC->word)\n");
    let format = EventFormat::parse(text.as_bytes()).expect("a format");
    let record = [0, 9, 0, 0, 0xff, 0xff, 0xff, 0xfb, 0, 0, 0x12, 0x34];
    let mut out = Vec::new();
    Formatter::new(format, ByteOrder::Big).format(&record, &mut out);
    assert_eq!(out, b"-5 1234 1234");
}
