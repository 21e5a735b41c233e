//! The user part of call chains that samples left open.

use oxperf_wire::kernel::CallchainDeferred;

use super::put;

/// Appends the line above the addresses.
pub fn callchain_deferred(out: &mut Vec<u8>, record: &CallchainDeferred<'_>) {
    put(
        out,
        format_args!("DEFERRED CALLCHAIN [cookie: {:x}]\n", record.cookie),
    );
}
