//! Filters beside what perf 7.2 made of the same texts.

use super::*;

fn symbol(name: &str, occurrence: Occurrence) -> SymbolReference {
    SymbolReference {
        name: name.to_owned(),
        occurrence,
    }
}

/// Two symbols, in each file and in the kernel; the size of `last` is not known.
struct Places;

impl CodePlaces for Places {
    type Error = String;

    fn symbol(&self, _: Option<&str>, symbol: &SymbolReference) -> Result<CodeRange, String> {
        let (start, size) = match symbol.name.as_str() {
            "main" => (0x1500, Some(0xa6)),
            "_start" => (0x15b0, Some(0x22)),
            "last" => (0x2000, None),
            other => return Err(format!("no {other}")),
        };
        Ok(CodeRange { start, size })
    }

    fn everything(&self, file: Option<&str>) -> Result<CodeRange, String> {
        let (start, size) = match file {
            Some(_) => (0, 0xbc338),
            None => (0xffff_ffff_8100_0000, 0x27f8000),
        };
        let size = Some(size);
        Ok(CodeRange { start, size })
    }

    fn real_path(&self, file: &str) -> Result<String, String> {
        Ok(format!("/real/{file}"))
    }
}

fn resolved(text: &str) -> Result<String, String> {
    let filters = parse(text).map_err(|error| format!("{error:?}"))?;
    let texts = filters.iter().map(|filter| filter.resolve(&Places));
    let texts: Result<Vec<_>, _> = texts
        .map(|text| text.map(|text| text.to_string()))
        .collect();
    texts.map_or_else(|error| Err(error.to_string()), |texts| Ok(texts.join(",")))
}

#[test]
fn filters_become_the_kernels_text() {
    let cases = [
        ("", ""),
        ("filter main @loop", "filter 0x1500/0xa6@/real/loop"),
        ("filter main / 0x10 @loop", "filter 0x1500/0x10@/real/loop"),
        ("filter main / 0 @loop", "filter 0x1500/0xa6@/real/loop"),
        ("filter main / _start @l", "filter 0x1500/0xd2@/real/l"),
        ("filter 0x1500 / _start", "filter 0x1500/0xd2"),
        ("start main @loop", "start 0x1500@/real/loop"),
        ("start main / 0x20 @loop", "start 0x1500/0x20@/real/loop"),
        ("start main / 0", "start 0x1500/0xa6"),
        ("stop main", "stop 0x1500"),
        ("tracestop main", "stop 0x1500/0xa6"),
        ("tracestop 5", "stop 0x5/0x0"),
        ("filter *", "filter 0xffffffff81000000/0x27f8000"),
        ("filter * / 5 @ loop", "filter 0x0/0xbc338@/real/loop"),
        ("start * @loop", "start 0x0@/real/loop"),
        ("filter 0x1000", "filter 0x1000/0x0"),
        ("filter 010 / 010", "filter 0x8/0x8"),
        ("start last", "start 0x2000"),
        ("filter last / 5", "filter 0x2000/0x5"),
        ("filter 1/2, stop 3", "filter 0x1/0x2,stop 0x3"),
        ("filter 1/2 filter 3/4", "filter 0x1/0x2,filter 0x3/0x4"),
        ("filter 1filter 2", "filter 0x1/0x0,filter 0x2/0x0"),
        (
            "filter 1@a, ,,filter 2@b,,",
            "filter 0x1/0x0@/real/a,filter 0x2/0x0@/real/b",
        ),
        (
            "filter 0xffffffffffffffff / 0xffffffffffffffff",
            "filter 0xffffffffffffffff/0xffffffffffffffff",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(resolved(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn what_has_no_addresses_is_told() {
    let cases = [
        ("filter main@./loop", "no main@./loop"),
        ("filter main/0x10", "no main/0x10"),
        ("filter 5 / @loop", "no @loop"),
        ("filter 5 / *", "no *"),
        ("filter -5", "no -5"),
        ("filter main, @loop", "no main,"),
        ("filter last", "Cannot determine size of symbol 'last'"),
        (
            "filter main / last",
            "Cannot determine size of symbol 'last'",
        ),
        ("start 5 / last", "Cannot determine size of symbol 'last'"),
        (
            "filter _start / main",
            "Symbol 'main' (0x1500) comes before '_start' (0x15b0)",
        ),
        (
            "filter 0x1600 / main",
            "Symbol 'main' (0x1500) comes before address 0x1600)",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(resolved(text).unwrap_err(), expected, "{text}");
    }
}

#[test]
fn malformed_texts_are_refused() {
    let malformed = [
        " ",
        ",",
        "filter",
        "filter ",
        "filtr main",
        "FILTER 5",
        "filter,1",
        ",filter 1",
        "5 6",
        "filter 5 /",
        "filter main @",
        "filter main @1loop",
        "filter 5/6@,",
        "filter\tmain",
        "filter 09",
        "filter 0xg",
        "filter 12abc",
        "filter 5 #1",
        "filter main #x",
        "filter main #",
        "filter main #-1",
        "filter main #2147483648",
        "filter main * @loop",
    ];
    for text in malformed {
        assert_eq!(parse(text), Err(FilterSyntaxError::Malformed), "{text}");
    }
    for text in [
        "filter 99999999999999999999",
        "filter a #18446744073709551616",
    ] {
        assert_eq!(parse(text), Err(FilterSyntaxError::TooLarge), "{text}");
    }
}

#[test]
fn an_occurrence_is_chosen_by_its_number() {
    let cases = [
        ("dup", Occurrence::Only),
        ("dup #0", Occurrence::Global),
        ("dup #g", Occurrence::Global),
        ("dup #G", Occurrence::Global),
        ("dup #2", Occurrence::Nth(2)),
        ("dup # \t+0x2/5", Occurrence::Nth(2)),
        ("dup  #2147483647", Occurrence::Nth(2_147_483_647)),
    ];
    for (text, occurrence) in cases {
        let filters = parse(&format!("filter {text}")).unwrap();
        let expected = FilterStart::Symbol(symbol("dup", occurrence));
        assert_eq!(filters[0].start, expected, "{text}");
    }
    let filters = parse("filter dup#2").unwrap();
    assert_eq!(
        filters[0].start,
        FilterStart::Symbol(symbol("dup#2", Occurrence::Only))
    );
}

#[test]
fn any_mixture_of_words_is_refused_or_becomes_filters_that_read_alike() {
    const WORDS: [&str; 16] = [
        "filter",
        "start",
        "tracestop",
        "main",
        "*",
        "#",
        "0x",
        "9",
        "/",
        "@",
        ",",
        " ",
        "\t",
        "g",
        "é",
        "18446744073709551615",
    ];
    let (mut state, mut read) = (0x2545_f491_4f6c_dd1d_u64, 0);
    for _ in 0..20_000 {
        let mut text = String::from("filter ");
        for _ in 0..8 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            text += WORDS[(state % 16) as usize];
        }
        for filter in parse(&text).unwrap_or_default() {
            read += 1;
            if let Ok(resolved) = filter.resolve(&Places) {
                let again = parse(&resolved.to_string()).map(|all| all.len());
                assert_eq!(again, Ok(1), "{text}");
            }
        }
    }
    assert!(read > 1000, "{read} filters");
}
