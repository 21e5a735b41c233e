//! The samples that are made of code that ran, for whoever decoded it: the points of the flow, and how they look.

mod block_calls;
mod block_text;
mod flags;
mod line_prefix;
mod point;
mod point_sampler;
mod selector;
mod text_fast_path;
mod visit_slots;

pub(crate) use block_text::{BlockTextCache, LineWriter, NamedAddress, PathState};
pub(crate) use flags::{
    BranchFilter, EXIT_OF_GUEST, async_flags, class_flags, state_flags, transfer_flags,
};
pub(crate) use line_prefix::{FirstLine, LinePrefix};
pub(crate) use point::{Point, known};
pub(crate) use point_sampler::{SampleOwner, SampleSettings, ShownInstruction, empty_sample};
pub(crate) use selector::{SampleSelector, SelectOptions};
pub(crate) use text_fast_path::{TextFastPath, TextSelection, TextSynth};
