//! The user part of call chains that samples left open.

use oxperf_wire::kernel::CallchainDeferred;

use crate::text::put;

/// Appends the line above the addresses.
pub(super) fn callchain_deferred(out: &mut Vec<u8>, record: &CallchainDeferred<'_>) {
    put!(out, "DEFERRED CALLCHAIN [cookie: {:x}]\n", record.cookie);
}
