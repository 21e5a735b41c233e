//! Cycles that branches record: stretches of code in the place of the table, and instructions in
//! a cycle beside functions.

use std::io::Write;

use clap::{Arg, ArgAction};
use oxperf_abi::{BranchSampleType, SampleType};
use oxperf_analysis::blocks::block_table;
use oxperf_analysis::hist::{HistOptions, histograms};
use oxperf_data::EventEntry;
use oxperf_disasm::Syntax;
use oxperf_machine::Machine;
use oxperf_present::report::{ReportText, blocks};
use oxperf_profile::IpcTable;
use oxperf_profile::{Profile, SymbolId};
use oxperf_query::SymbolOptions;
use oxperf_symbols::SymbolStore;

use crate::disasm_source::{CodeOptions, Sources};
use crate::failure::Failure;

/// The option.
pub(super) fn argument() -> Arg {
    Arg::new("total-cycles").long("total-cycles").action(ArgAction::SetTrue).help(
        "Show the stretches of code between branches that took most cycles; needs branches with their cycles",
    )
}

/// True if samples hold all branches, so that nothing branched between two of one sample.
pub(in crate::cmd) fn are_consecutive(events: &[EventEntry]) -> bool {
    let mut attrs = events.iter().map(|event| &event.stored.attr);
    attrs.any(|attr| {
        attr.sample_type.contains(SampleType::BRANCH_STACK)
            && attr.branch_sample_type.contains(BranchSampleType::ANY)
    })
}

/// Writes a table of stretches for each table of the report.
pub(super) fn write_tables(
    out: &mut dyn Write,
    profile: &Profile,
    hist: &HistOptions,
    text: &ReportText,
) -> Result<(), Failure> {
    for table in histograms(profile, hist) {
        blocks(out, profile, &table, &block_table(profile, &table), text)?;
    }
    Ok(())
}

/// The speed of the functions between recorded branches; those whose code is not to be found are left out.
pub(super) fn paces(
    symbols: &SymbolOptions,
    machine: &Machine,
    store: &SymbolStore,
    profile: &Profile,
) -> IpcTable {
    let mut sources = Sources::new(symbols, machine, store, &CodeOptions::default());
    let mut symbols: Vec<SymbolId> = profile
        .blocks
        .list
        .iter()
        .map(|block| block.symbol)
        .collect();
    symbols.dedup();
    let pace = |id: SymbolId| {
        let symbol = profile.symbols.get(id.index())?;
        let object = profile.dsos.get(symbol.dso.index())?;
        let code = sources.code(&object.long, symbol, Syntax::Att).ok()?;
        Some((id, code.pace(profile.blocks.of(id))))
    };
    symbols.into_iter().filter_map(pace).collect()
}
