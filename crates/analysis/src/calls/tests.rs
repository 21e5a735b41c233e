//! Programs of branches, and the calls that they come to.

use super::*;
use totals::Totals;

/// An address of a program's text; 0 stands for none.
fn known(address: u64) -> Option<u64> {
    (address != 0).then_some(address)
}

const BRANCH: SampleFlags = SampleFlags::BRANCH;
const CALL: SampleFlags = BRANCH.with(SampleFlags::CALL);
const RETURN: SampleFlags = BRANCH.with(SampleFlags::RETURN);
const BEGIN: SampleFlags = BRANCH.with(SampleFlags::TRACE_BEGIN);
const SYSCALL: SampleFlags = CALL.with(SampleFlags::SYSCALL).with(SampleFlags::TRACE_END);
const STOP: SampleFlags = BRANCH.with(SampleFlags::ASYNC).with(SampleFlags::TRACE_END);

/// Functions of a hundred bytes: `a` at 100, `b` at 200 and so on to `e`; none above.
struct Alphabet;

impl Functions for Alphabet {
    fn around(&mut self, address: u64) -> Option<Around> {
        let start = address / 100 * 100;
        let function = FunctionId((start / 100) as u32);
        (100..600).contains(&address).then_some(Around {
            function,
            start,
            end: start + 100,
        })
    }

    fn nameless(&mut self, address: u64) -> FunctionId {
        FunctionId(address as u32)
    }
}

fn name(function: FunctionId) -> String {
    match function.0 {
        letter @ 1..=5 => char::from(b'`' + letter as u8).to_string(),
        address => address.to_string(),
    }
}

/// Follows branches of one thread, of which each comes ten instructions and five cycles behind the last, at the time
/// of its number; gives the calls as text: `>name` begins, `name=instructions/own` ends, with a letter for an
/// uncommon beginning or end.
fn follow(steps: &[(SampleFlags, u64, u64)]) -> String {
    follow_stretches(&steps.iter().map(|step| (1, *step)).collect::<Vec<_>>()).0
}

fn follow_stretches(steps: &[(u64, (SampleFlags, u64, u64))]) -> (String, Remarks) {
    let (mut calls, mut text) = (Calls::default(), String::new());
    let mut tell = |event: CallEvent| match event {
        CallEvent::Entered(call) => {
            let how = match call.entry {
                Entry::Called => "",
                Entry::Jumped => "j",
                Entry::Interrupted => "i",
                Entry::Unseen => "?",
            };
            text.push_str(&format!("{how}>{} ", name(call.function)));
        }
        CallEvent::Left(ended) => {
            let how = match ended.end {
                CallEnd::Returned => "",
                CallEnd::Jumped => "j",
                CallEnd::Unwound => "u",
                CallEnd::Lost => "l",
                _ => "o",
            };
            let (function, total, own) = (name(ended.call.function), ended.total, ended.own);
            assert_eq!(total.instructions, 2 * total.cycles);
            text.push_str(&format!(
                "{function}={}/{}{how} ",
                total.instructions, own.instructions
            ));
        }
    };
    for (number, (stretch, (flags, from, to))) in (1u64..).zip(steps) {
        let step = CallStep {
            thread: (ThreadId(1), None),
            queue: 0,
            stretch: *stretch,
            time: Some(PerfTime(number)),
            flags: *flags,
            from: known(*from),
            to: known(*to),
            length: NonZeroU8::new(5),
            instructions: 10 * (number - 1),
            cycles: 5 * (number - 1),
        };
        calls.step(&step, &mut Alphabet, &mut tell);
    }
    calls.finish(&mut Alphabet, &mut tell);
    (text.trim_end().to_owned(), calls.remarks())
}

#[test]
fn calls_nest_and_their_own_instructions_add_up() {
    let steps = [
        (BEGIN, 0, 100),
        (CALL, 110, 200),
        (CALL, 220, 300),
        (RETURN, 330, 225),
        (RETURN, 240, 115),
    ];
    assert_eq!(follow(&steps), "?>a >b >c c=10/10 b=30/20 a=40/10o");
}

#[test]
fn calls_of_the_next_instruction_are_none() {
    assert_eq!(
        follow(&[(BEGIN, 0, 100), (CALL, 110, 115), (BRANCH, 120, 130)]),
        "?>a a=20/20o"
    );
}

#[test]
fn a_function_that_is_jumped_to_returns_for_its_caller() {
    let to_c = [(BEGIN, 0, 100), (CALL, 110, 200), (BRANCH, 220, 300)];
    let returned = [&to_c[..], &[(RETURN, 330, 115)]].concat();
    assert_eq!(follow(&returned), "?>a >b j>c c=10/10 b=20/10 a=30/10o");
    let further = [&to_c[..], &[(BRANCH, 330, 400), (RETURN, 440, 115)]].concat();
    assert_eq!(
        follow(&further),
        "?>a >b j>c c=10/10j j>d d=10/10 b=30/10 a=40/10o"
    );
    let back = [&to_c[..], &[(BRANCH, 330, 230)]].concat();
    assert_eq!(follow(&back), "?>a >b j>c c=10/10j b=20/10o a=30/10o");
}

#[test]
fn outer_functions_go_on_without_returns() {
    let deep = [
        (BEGIN, 0, 100),
        (CALL, 110, 200),
        (CALL, 220, 300),
        (CALL, 330, 400),
    ];
    let longjmp = [&deep[..], &[(BRANCH, 440, 150)]].concat();
    assert_eq!(
        follow(&longjmp),
        "?>a >b >c >d d=10/10u c=20/10u b=30/10u a=40/10o"
    );
    let landing_pad = [&deep[..], &[(RETURN, 440, 250)]].concat();
    assert_eq!(
        follow(&landing_pad),
        "?>a >b >c >d d=10/10u c=20/10u b=30/10o a=40/10o"
    );
    let outer_return = [&deep[..], &[(RETURN, 440, 225)]].concat();
    assert_eq!(
        follow(&outer_return),
        "?>a >b >c >d d=10/10u c=20/10 b=30/10o a=40/10o"
    );
}

#[test]
fn callers_that_nobody_saw_call_appear_when_they_are_returned_to() {
    assert_eq!(
        follow(&[(BEGIN, 0, 150), (RETURN, 190, 250)]),
        "?>a a=10/10 ?>b b=0/0o"
    );
}

#[test]
fn handlers_of_signals_are_calls_in_what_they_interrupt() {
    let steps = [
        (BEGIN, 0, 100),
        (STOP, 120, 0),
        (BEGIN, 0, 300),
        (RETURN, 390, 400),
        (SYSCALL, 410, 0),
        (BEGIN, 0, 120),
    ];
    assert_eq!(follow(&steps), "?>a i>c c=10/10 ?>d d=20/20u a=50/20o");
}

#[test]
fn tracing_goes_on_behind_system_calls() {
    let steps = [
        (BEGIN, 0, 100),
        (CALL, 110, 200),
        (SYSCALL, 210, 0),
        (BEGIN, 0, 215),
        (RETURN, 220, 115),
    ];
    assert_eq!(follow(&steps), "?>a >b b=30/30 a=40/10o");
}

#[test]
fn a_gap_ends_calls_and_what_ran_before_it_is_theirs() {
    let steps = [
        (1, (BEGIN, 0, 100)),
        (1, (CALL, 110, 200)),
        (2, (BEGIN, 0, 350)),
    ];
    let (text, remarks) = follow_stretches(&steps);
    assert_eq!(text, "?>a >b b=10/10l a=20/10l ?>c c=0/0o");
    assert_eq!(
        remarks,
        Remarks {
            gaps: 1,
            ..Remarks::default()
        }
    );
}

#[test]
fn code_without_symbols_begins_where_it_is_called() {
    let steps = [
        (BEGIN, 0, 100),
        (CALL, 110, 700),
        (BRANCH, 720, 740),
        (CALL, 750, 800),
        (RETURN, 810, 755),
    ];
    assert_eq!(
        follow(&steps),
        "?>a >700 >800 800=10/10 700=30/20o a=40/10o"
    );
}

#[test]
fn recursion_counts_once_in_totals() {
    let (mut calls, mut totals) = (Calls::default(), Totals::default());
    let mut tell = |event: CallEvent| {
        if let CallEvent::Left(ended) = event {
            totals.add(&ended);
        }
    };
    let steps = [
        (BEGIN, 0, 100),
        (CALL, 110, 200),
        (CALL, 220, 200),
        (RETURN, 230, 225),
        (RETURN, 240, 115),
    ];
    for (number, (flags, from, to)) in (0u64..).zip(steps) {
        let (thread, time) = ((ThreadId(1), None), Some(PerfTime(number * number)));
        let (instructions, cycles) = (10 * number, 0);
        let step = CallStep {
            thread,
            queue: 0,
            stretch: 1,
            time,
            flags,
            from: known(from),
            to: known(to),
            length: NonZeroU8::new(5),
            instructions,
            cycles,
        };
        calls.step(&step, &mut Alphabet, &mut tell);
    }
    calls.finish(&mut Alphabet, &mut tell);
    let sorted = totals.into_sorted();
    let b = sorted
        .iter()
        .find(|sum| sum.function == FunctionId(2))
        .unwrap();
    assert_eq!(
        (
            b.calls,
            b.incomplete,
            b.total.instructions,
            b.own.instructions
        ),
        (2, 0, 30, 30)
    );
    assert_eq!((b.shortest, b.longest, b.total.time), (5, 15, 15));
    assert_eq!(sorted[0].function, FunctionId(2));
}

#[test]
fn calls_deeper_than_can_be_followed_belong_to_the_deepest() {
    let deepest = Calls::DEEPEST as u64;
    let calls = (0..deepest + 9).map(|_| (CALL, 110, 100));
    let steps = std::iter::once((BEGIN, 0, 100))
        .chain(calls)
        .chain((0..9).map(|_| (RETURN, 130, 115)));
    let (text, remarks) = follow_stretches(&steps.map(|step| (1, step)).collect::<Vec<_>>());
    assert_eq!(remarks.too_deep, 10);
    assert_eq!(text.matches('>').count(), Calls::DEEPEST);
}
