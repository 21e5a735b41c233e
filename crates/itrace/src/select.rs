//! The samples that are made of code that ran, for whoever decoded it: which points of the flow, and how they look.

mod block_calls;
mod block_text;
mod flags;
mod line_prefix;
mod point;
mod point_sampler;
mod selector;
mod text_fast_path;

pub(crate) use block_text::BlockTexts;
pub(crate) use flags::{
    BranchFilter, EXIT_OF_GUEST, async_flags, flags_of, state_flags, transfer_flags,
};
pub(crate) use line_prefix::Heads;
pub(crate) use point::Point;
pub(crate) use point_sampler::{Common, Ran, Who, fill, thread_of, unfilled};
pub(crate) use selector::{Taker, Taking};
pub(crate) use text_fast_path::{Scribe, Shown, Written};
