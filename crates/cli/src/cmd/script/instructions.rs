//! Instructions that no trace tells: read from the files that were mapped.

use clap::{Arg, ArgMatches, value_parser};
use oxperf_abi::BranchSampleType;
use oxperf_data::{Container, FeatureId, Reader};
use oxperf_itrace::{CodeBytes, CodeInstruction, Images};
use oxperf_machine::{Machine, ThreadId};
use oxperf_present::dump::Architecture;
use oxperf_present::script::{FieldSet, FieldSpec};
use oxperf_session::{EventTable, SampleEvent, SessionEvent, TracedCode};

use super::printer::Printer;
use crate::cmd::dump;
use crate::failure::Failure;

/// The option.
pub(super) fn argument() -> Arg {
    Arg::new("max-blocks")
        .long("max-blocks")
        .value_name("N")
        .value_parser(value_parser!(usize))
        .help("With -F brstackinsn: show the code between no more than N branches")
}

/// Fields that show what is between the last branches.
pub(super) const BLOCKS: [FieldSet; 3] = [
    FieldSet::BRSTACKINSN,
    FieldSet::BRSTACKINSNLEN,
    FieldSet::BRSTACKDISASM,
];

/// Fields that show a sample's own instruction.
const OWN: [FieldSet; 3] = [FieldSet::INSN, FieldSet::INSNLEN, FieldSet::DISASM];

/// Whether the instruction of any event's samples is shown.
pub(super) fn shows_code(spec: &FieldSpec) -> bool {
    OWN.iter().any(|field| spec.any_has(*field))
}

/// Refuses to show what is between branches where not all branches were recorded; trace tells them all.
///
/// # Errors
/// It is asked for and cannot be shown.
pub(super) fn require_branches(
    spec: &FieldSpec,
    reader: &Reader<'_>,
    events: &EventTable,
) -> Result<(), Failure> {
    let refuse = match reader.container() {
        Container::Stream => Failure::invalid,
        _ => Failure::new,
    };
    if spec.any_has(FieldSet::BRCNTR) {
        return Err(refuse(refusal_of_counters(events)));
    }
    let asked = BLOCKS.iter().any(|field| spec.any_has(*field));
    let all = |event: &SessionEvent| {
        event
            .attr
            .branch_sample_type
            .contains(BranchSampleType::ANY)
    };
    let traced = reader.features().bits().contains(FeatureId::AUXTRACE);
    if !asked || traced || events.events().iter().any(all) {
        return Ok(());
    }
    Err(refuse(
        "Display of branch stack assembler requested, but non all-branch filter set\n\
         Hint: run 'perf record -b ...'",
    ))
}

/// Why what was counted at branches is not shown.
fn refusal_of_counters(events: &EventTable) -> &'static str {
    let counted = |event: &SessionEvent| {
        event
            .attr
            .branch_sample_type
            .contains(BranchSampleType::COUNTERS)
    };
    match events.events().iter().any(counted) {
        true => {
            "What was counted at branches cannot be shown, only whole branch stacks: -F brstack"
        }
        false => {
            "Display of branch counter requested but it's not enabled\n\
             Hint: run 'perf record -j any,counter ...'"
        }
    }
}

/// Reads code where it is asked for, if it is of a processor whose instructions are known.
#[derive(Debug, Default)]
pub(super) struct CodeReader {
    images: Option<Images>,
    /// How many blocks of a sample are shown at most.
    pub(super) most: Option<usize>,
}

impl CodeReader {
    /// Prepares reading, as far as the fields ask for it.
    pub(super) fn new(
        matches: &ArgMatches,
        spec: &FieldSpec,
        reader: &Reader<'_>,
        images: impl FnOnce() -> Images,
    ) -> CodeReader {
        let asked = shows_code(spec) || BLOCKS.iter().any(|field| spec.any_has(*field));
        let known = matches!(dump::architecture(reader), Architecture::X86);
        CodeReader {
            images: (asked && known).then(images),
            most: matches
                .get_one("max-blocks")
                .copied()
                .filter(|most| *most > 0),
        }
    }

    /// At most `length` bytes of a thread's code.
    pub(super) fn read(
        &mut self,
        machine: &Machine,
        thread: ThreadId,
        address: u64,
        length: usize,
    ) -> CodeBytes {
        let images = self.images.as_mut();
        images.map_or_else(CodeBytes::default, |images| {
            images.read(machine, thread, address, length)
        })
    }
}

impl Printer<'_> {
    /// The instruction at the address of a sample, for one that does not say what ran.
    pub(super) fn code_at(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> TracedCode {
        let Some(ip) = event.sample.ip.filter(|ip| *ip != 0) else {
            return TracedCode::default();
        };
        let found = self
            .code
            .read(machine, event.thread, ip, CodeInstruction::LONGEST);
        let Some(first) = CodeInstruction::first_of(&found.bytes, found.width) else {
            return TracedCode::default();
        };
        let mut code = TracedCode {
            width: found.width,
            length: first.length as u8,
            ..TracedCode::default()
        };
        code.bytes
            .iter_mut()
            .zip(&found.bytes)
            .for_each(|(to, from)| *to = *from);
        code
    }
}
