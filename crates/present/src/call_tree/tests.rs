//! Calls as text and as JSON.

use super::*;
use oxperf_abi::PerfTime;
use oxperf_analysis::calls::FunctionId;
use oxperf_analysis::calls::totals::Totals;
use oxperf_machine::ThreadId;

const CALLER: Caller<'static> = Caller {
    comm: "pro\ngram",
    pid: 7,
    tid: 8,
};

fn ended(entry: Entry, end: CallEnd) -> Ended {
    let call = Call {
        number: 2,
        parent: Some(1),
        depth: 1,
        thread: (ThreadId(1), None),
        function: FunctionId(0),
        recursive: false,
        entry,
        entered: Some(PerfTime(12_000_345_678)),
    };
    let total = Amounts {
        time: 1_234_567,
        instructions: 999,
        cycles: 500,
    };
    let own = Amounts {
        time: 567,
        instructions: 9,
        cycles: 0,
    };
    Ended {
        call,
        end,
        left: Some(PerfTime(12_001_580_245)),
        total,
        own,
        calls: 3,
    }
}

fn text(write: impl Fn(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_call_is_a_line_or_a_block() {
    let call = ended(Entry::Jumped, CallEnd::Lost);
    assert_eq!(
        text(|out| write_leaf(&call, 1, &CALLER, "f\x1b", out)),
        "      12.000345678 pro\\ngram/8                 1234.567         0.567           999           500   1.99    f\\x1b [3 calls]  # jumped to  # end lost\n"
    );
    let blank = " ".repeat(NUMBERS);
    assert_eq!(
        text(|out| write_open(&call.call, 0, &CALLER, "f", out)),
        format!("      12.000345678 pro\\ngram/8           {blank}  f {{  # jumped to\n")
    );
    let close = text(|out| write_close(&call, 60, &CALLER, "f", out));
    assert!(
        close.starts_with("      12.001580245 ") && close.ends_with("[60] } f  # end lost\n"),
        "{close}"
    );
}

#[test]
fn columns_stand_below_their_heads() {
    let head = text(write_head);
    let leaf = text(|out| {
        write_leaf(
            &ended(Entry::Called, CallEnd::Returned),
            0,
            &CALLER,
            "call",
            out,
        )
    });
    assert_eq!(head.find("call"), leaf.find("call"));
    let end_of = |line: &str, what: &str| line.find(what).unwrap() + what.len();
    assert_eq!(end_of(&head, "instructions"), end_of(&leaf, " 999"));
}

#[test]
fn programs_get_an_object_a_line() {
    let function = FunctionText {
        name: "f\"",
        object: "/bin/p",
    };
    let call = ended(Entry::Unseen, CallEnd::Open);
    assert_eq!(
        text(|out| json::write_call(&call, &CALLER, &function, out)),
        concat!(
            r#"{"call":2,"parent":1,"depth":1,"comm":"pro\ngram","pid":7,"tid":8,"function":"f\"","object":"/bin/p","#,
            r#""entered":12000345678,"left":12001580245,"duration":1234567,"self_duration":567,"instructions":999,"#,
            r#""self_instructions":9,"cycles":500,"self_cycles":null,"ipc":1.99,"calls":3,"begin":"unseen","end":"unseen"}"#,
            "\n"
        )
    );
    let mut totals = Totals::default();
    totals.add(&call);
    let total = totals.into_sorted()[0];
    assert_eq!(
        text(|out| json::write_function(&total, &function, false, out)),
        concat!(
            r#"{"function":"f\"","object":"/bin/p","calls":1,"incomplete":1,"duration":null,"self_duration":null,"#,
            r#""shortest":null,"longest":null,"instructions":999,"self_instructions":9,"cycles":500,"self_cycles":null,"ipc":1.99}"#,
            "\n"
        )
    );
}

#[test]
fn what_is_missing_is_told() {
    let remarks = Remarks {
        gaps: 2,
        ..Remarks::default()
    };
    let sum = Summary {
        calls: 5,
        end_unseen: 1,
        remarks,
        ..Summary::default()
    };
    assert_eq!(
        text(|out| write_summary(&sum, out)),
        "# 5 calls, 0 instructions\n# 1 calls may go on behind what the trace shows\n# 2 gaps ended the calls of a thread\n"
    );
}
