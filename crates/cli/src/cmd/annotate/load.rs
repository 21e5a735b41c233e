//! From a recording to the samples of the functions that are shown, with as few names as that takes.

use std::sync::Arc;

use oxperf_collect::{BlockDetail, CollectOptions};
use oxperf_data::{Container, Reader};
use oxperf_itrace::ItraceOptions;
use oxperf_machine::{Dso, DsoKind, Objects};
use oxperf_query::Filter;
use oxperf_resolve::{RecordedSymbols, SymbolSource};
use oxperf_symbols::{DebugInfo, SymbolStore, SymbolTable};

use super::functions::keep_asked;
use super::options::AnnotateOptions;
use crate::failure::Failure;
use crate::input::Input;
use crate::load::{LoadOptions, Loaded, load};
use crate::symbol_source;

/// A recording whose functions are shown.
pub(super) struct AnnotatedRecording {
    /// Names of its functions.
    pub(super) names: RecordedSymbols<SymbolStore>,
    /// Samples of the functions that were asked for.
    pub(super) loaded: Loaded,
    /// True if there are any.
    pub(super) has_samples: bool,
}

impl AnnotatedRecording {
    /// Reads the recording; once more with all names, where a function is not found among those of programs.
    pub(super) fn load(
        options: &AnnotateOptions,
        input: &Input,
        reader: &Reader<'_>,
        filter: &Filter,
    ) -> Result<AnnotatedRecording, Failure> {
        let symbols = &options.recording.symbols;
        let of_data = options.data_type.is_some();
        let again = reads_again(reader) && !of_data;
        let names = match &options.symbol {
            Some(function) if again => {
                symbol_source::open_for_function(symbols, input, reader, function)?
            }
            _ => symbol_source::open(symbols, input, reader)?,
        };
        let trace = options.recording.trace.request(ItraceOptions::REPORT)?;
        let collected = CollectOptions {
            by_address: !of_data,
            addresses_apart: of_data,
            blocks: options.compact.then_some(BlockDetail {
                consecutive: true,
                lines: None,
            }),
            ..CollectOptions::default()
        };
        let load_with = |names: &dyn SymbolSource| {
            let options = LoadOptions {
                trace,
                ..LoadOptions::new(symbols, filter, collected)
            };
            load(input, reader, names, options)
        };
        // The kernel's code cannot be shown without an image, and to read its names takes longer than all others.
        let named_alone = options.symbol.is_some() && again;
        let programs_first = named_alone && symbols.vmlinux.is_none();
        let mut loaded = if programs_first {
            load_with(&ProgramsOnly(&names))?
        } else {
            load_with(&names)?
        };
        let has_samples = keep_asked(&mut loaded.profile, options);
        if !named_alone || has_samples {
            return Ok(AnnotatedRecording {
                names,
                loaded,
                has_samples,
            });
        }
        drop((names, loaded));
        let names = symbol_source::open(symbols, input, reader)?;
        let mut loaded = load_with(&names)?;
        let has_samples = keep_asked(&mut loaded.profile, options);
        Ok(AnnotatedRecording {
            names,
            loaded,
            has_samples,
        })
    }
}

/// True if the recording can be read once more, with the names of all.
fn reads_again(reader: &Reader<'_>) -> bool {
    reader.container() != Container::Stream
}

/// Names of everything but the kernel.
struct ProgramsOnly<'a>(&'a dyn SymbolSource);

impl SymbolSource for ProgramsOnly<'_> {
    fn table(&self, dso: &Dso, objects: &Objects) -> Option<Arc<SymbolTable>> {
        let is_kernel = matches!(dso.kind, DsoKind::Kernel | DsoKind::Module);
        if is_kernel {
            None
        } else {
            self.0.table(dso, objects)
        }
    }

    fn source(&self, dso: &Dso, objects: &Objects) -> Option<Arc<DebugInfo>> {
        self.0.source(dso, objects)
    }
}
