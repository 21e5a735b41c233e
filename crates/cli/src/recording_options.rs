//! The recording that a command reads, and how it reads it: the option groups that commands have in common, as values.

use oxperf_itrace::{Cores, ItraceOptions};
use oxperf_query::{FilterOptions, SwitchOptions, SymbolOptions};

use crate::failure::Failure;
use crate::input::InputOptions;

/// The option groups that commands have in common; a group that a command does not have is as if nothing was given.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordingOptions {
    /// The recording.
    pub(crate) input: InputOptions,
    /// The samples that count.
    pub(crate) filter: FilterOptions,
    /// The events between which they count.
    pub(crate) switching: SwitchOptions,
    /// The sources of names and code.
    pub(crate) symbols: SymbolOptions,
    /// The samples that are made of hardware trace.
    pub(crate) trace: TraceArguments,
    /// Call chains are completed by the calls that the CPU kept at the sample before.
    pub(crate) stitch_lbr: bool,
    /// No warnings are written.
    pub(crate) quiet: bool,
}

/// `--itrace` and its companions, as they were given.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TraceArguments {
    /// The letters of `--itrace`.
    pub(crate) letters: Option<String>,
    /// No trace is decoded.
    pub(crate) off: bool,
    /// The number of cores for it; `None` is all.
    pub(crate) cores: Option<u16>,
    /// Last branches are marked as predicted wrongly: `intel-pt.mispred-all`.
    pub(crate) mispredicted: bool,
    /// Bytes of a log of errors: `itrace.debug-log-buffer-size`.
    pub(crate) log_kept: Option<usize>,
}

/// The samples that are made of hardware trace, and the cores for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TraceRequest {
    /// The samples.
    pub(crate) itrace: ItraceOptions,
    /// The cores that trace is decoded on.
    pub(crate) cores: Cores,
}

impl TraceArguments {
    /// The samples that were asked for, else those that the command makes of its own; `None` where no trace is decoded.
    pub(crate) fn request(&self, own: ItraceOptions) -> Result<Option<TraceRequest>, Failure> {
        let parsed = self.letters.as_deref().map(ItraceOptions::parse);
        let parsed = parsed.transpose();
        let parsed = parsed.map_err(|error| Failure::bad_option(error.to_string()))?;
        let cores = self
            .cores
            .map_or_else(Cores::all, |count| Cores::new(usize::from(count)));
        let mut itrace = parsed.unwrap_or(own);
        itrace.stacks.mispredicted = self.mispredicted;
        itrace.log.kept = self.log_kept;
        Ok((!self.off).then_some(TraceRequest { itrace, cores }))
    }
}
