//! Options of a collector.

use oxperf_resolve::ChainOptions;

/// The parts of samples that a collector keeps, and keeps apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CollectOptions {
    /// Keep call chains.
    pub chains: bool,
    /// A sample without a call chain has its own address as one, with the functions that were inlined there.
    pub chains_of_one: bool,
    /// Most recorded entries of a chain that count, and most that a copy of the stack gives besides.
    pub max_stack: usize,
    /// Of a longer recorded chain the outermost entries count, not the innermost.
    pub keep_outermost: bool,
    /// As [`ChainOptions::stitch`].
    pub stitch: Option<u32>,
    /// Leave out samples of code without a symbol, and such callers.
    pub hide_unresolved: bool,
    /// The samples of different threads that may be merged; the thread is then that of the first.
    pub merge_threads: MergeThreads,
    /// Keep the time and CPU of each sample.
    pub moments: bool,
    /// Also count the samples of each address.
    pub by_address: bool,
    /// Keep different addresses of a symbol apart.
    pub addresses_apart: bool,
    /// Addresses of an object without a symbol are one frame.
    pub merges_unresolved: bool,
    /// Objects of one name are kept apart by their build ids.
    pub builds_apart: bool,
    /// Entries of call chains stand for the functions that were inlined there, too.
    pub inlines: bool,
    /// Keep different source lines apart.
    pub lines: Option<LineText>,
    /// Chains go on with the branches that their samples carry.
    pub history: bool,
    /// Find out the sizes of mappings.
    pub map_sizes: bool,
    /// A sample counts for the cost of its access to memory, at least for one, and not for its period.
    pub by_cost: bool,
    /// Each branch that a sample carries counts, and the sample itself does not.
    pub branches: Option<BranchDetail>,
    /// Keep the code between them apart.
    pub blocks: Option<BlockDetail>,
}

/// The threads whose samples may be merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MergeThreads {
    /// None.
    #[default]
    Never,
    /// Those of threads of one name.
    ByComm,
    /// Those of all threads.
    Always,
}

/// The form of source lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineText {
    /// With the whole path of the file and not its last name alone.
    pub whole_paths: bool,
    /// Addresses without a line have no source, and no text in place of one.
    pub known_only: bool,
}

/// The parts of a branch that keep it apart from others, beside the functions and lines at its ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BranchDetail {
    /// The bits of the flags that do, as [`oxperf_abi::BranchEntry`] names them.
    pub flags: u64,
    /// The addresses of the ends do.
    pub addresses: bool,
}

/// Options of collecting the code between branches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockDetail {
    /// The samples' branches are all that the CPU came by, so that nothing else branched between two of them.
    pub consecutive: bool,
    /// Keep the source lines of both ends.
    pub lines: Option<LineText>,
}

/// Options of naming.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamingOptions {
    /// Also name the functions that were inlined at an address.
    pub(super) inlines: bool,
    /// Also find source lines, as texts of this form.
    pub(super) lines: Option<LineText>,
    /// Different addresses of a symbol have different frames.
    pub(super) addresses_apart: bool,
    /// Leave out addresses without a symbol.
    pub(super) symbols_only: bool,
    /// Those of an object are one frame.
    pub(super) merges_unresolved: bool,
    /// Objects of one name are kept apart by their build ids.
    pub(super) builds_apart: bool,
}

impl CollectOptions {
    pub(super) fn naming(&self) -> NamingOptions {
        NamingOptions {
            inlines: self.inlines && self.chains,
            lines: self.lines,
            addresses_apart: self.addresses_apart,
            symbols_only: self.hide_unresolved,
            merges_unresolved: self.merges_unresolved,
            builds_apart: self.builds_apart,
        }
    }

    /// True if the function that holds an address is all that is kept of it.
    pub(super) fn wants_functions_alone(&self) -> bool {
        let CollectOptions {
            chains,
            by_address,
            addresses_apart,
            lines,
            blocks,
            ..
        } = self;
        !(*chains || *by_address || *addresses_apart || lines.is_some() || blocks.is_some())
    }

    /// True if the function that holds an address is all that is kept of it, in chains too, and of an address without one
    /// the object.
    pub(super) fn merges_addresses(&self) -> bool {
        let CollectOptions {
            inlines,
            merges_unresolved,
            ..
        } = *self;
        let functions = CollectOptions {
            chains: false,
            ..*self
        };
        merges_unresolved && !inlines && functions.wants_functions_alone()
    }

    /// True if samples whose chains nobody asks for can do without: nothing else depends on their chains.
    pub fn allows_two_passes(&self) -> bool {
        let CollectOptions {
            stitch,
            hide_unresolved,
            moments,
            history,
            branches,
            map_sizes,
            ..
        } = self;
        let counts_functions = CollectOptions {
            chains: false,
            ..*self
        }
        .wants_functions_alone();
        let others = *hide_unresolved || *moments || *history || *map_sizes || branches.is_some();
        self.chains && counts_functions && stitch.is_none() && !others
    }

    pub(super) fn chain_options(&self) -> ChainOptions {
        ChainOptions {
            max_stack: self.max_stack,
            keep_outermost: self.keep_outermost,
            stitch: self.stitch,
        }
    }

    /// True if neither call chains, branches nor weights of samples count.
    pub(super) fn needs_prefix_only(&self) -> bool {
        let CollectOptions {
            chains,
            history,
            by_cost,
            branches,
            blocks,
            ..
        } = self;
        let needs_more = *chains || *history || *by_cost || branches.is_some() || blocks.is_some();
        !needs_more
    }
}
