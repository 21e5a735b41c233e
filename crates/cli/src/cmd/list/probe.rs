//! The kernel, asked whether it counts an event here.

use oxperf_abi::{AttrFlags, EventAttr, EventType};
use oxperf_inventory::SupportProbe;
use oxperf_sys::{EventTask, Kernel as _, OpenRequest, RealKernel};

/// The running kernel.
pub(super) struct Kernel;

impl SupportProbe for Kernel {
    /// What may be counted in user space only, or in no guest, is counted, too.
    fn is_supported(&self, kind: EventType, config: u64) -> bool {
        let restrictions = [
            AttrFlags::EMPTY,
            AttrFlags::EXCLUDE_KERNEL,
            AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_GUEST,
        ];
        restrictions.into_iter().any(|restriction| {
            let attr = EventAttr {
                kind,
                config,
                flags: AttrFlags::DISABLED | restriction,
                ..EventAttr::default()
            };
            RealKernel
                .open(&OpenRequest::new(&attr, EventTask::Caller))
                .is_ok()
        })
    }
}
