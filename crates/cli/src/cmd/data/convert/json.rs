//! `data convert --to-json`: every sample as an object.

use std::sync::Arc;

use oxperf_data::Reader;
use oxperf_query::{Query, formatters, unwinder};
use oxperf_resolve::{ChainOptions, Chains, Names};
use oxperf_script::deferred_symbols::SymbolNames;
use oxperf_script::format::perf_json::PerfJsonFormat;

use super::{Conversion, Converted, Request};
use crate::failure::Failure;
use crate::losses::report_chains;
use crate::output::Output;
use crate::symbol_source;

/// Writes the file.
pub(super) fn run(request: &Request<'_>) -> Result<Converted, Failure> {
    let reader: Reader<'_> = request.input.reader()?;
    let symbols = &request.options.symbols;
    let source = Arc::new(symbol_source::open(symbols, request.input, &reader)?);
    let filter = request.times(&reader)?;
    let formatters = formatters(&reader);
    let progress = request.input.progress(false);
    // As perf's: no guests, no samples of hardware trace, and threads end as they were recorded.
    let query = Query {
        jit_logs: Some(&symbols.search_paths),
        progress: Some(&progress),
        ..Query::default()
    };
    let names: Arc<Names<'static>> = Arc::new(Names::new(Arc::clone(&source)));
    let unwinder = unwinder(&symbols.search_paths, &reader);
    let conversion = Conversion {
        input: request.input,
        reader: &reader,
        formatters: &formatters,
        names: SymbolNames {
            names: Arc::clone(&names),
            last: [].into(),
        },
        chains: Chains::new(ChainOptions::default(), unwinder),
        filter,
    };
    let output = Output::new(request.create_file()?);
    let format = PerfJsonFormat::new(names, &formatters);
    let shown = conversion.run(query.start(&reader), format, output)?;
    report_chains(&shown.chain_losses);
    symbol_source::keep(&source);
    symbol_source::report_nameless(source.otherwise());
    Ok(Converted::of(&shown))
}
