//! The interface as C sees it: what filters are handed and what they may call. Layouts are facts of perf's header
//! `perf_dlfilter.h`; the tests hold their sizes and offsets.

use std::ffi::{c_char, c_int, c_void};

/// A sample.
#[repr(C)]
pub(crate) struct CSample {
    pub(crate) size: u32,
    pub(crate) ins_lat: u16,
    pub(crate) p_stage_cyc: u16,
    pub(crate) ip: u64,
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    pub(crate) time: u64,
    pub(crate) addr: u64,
    pub(crate) id: u64,
    pub(crate) stream_id: u64,
    pub(crate) period: u64,
    pub(crate) weight: u64,
    pub(crate) transaction: u64,
    pub(crate) insn_cnt: u64,
    pub(crate) cyc_cnt: u64,
    pub(crate) cpu: i32,
    pub(crate) flags: u32,
    pub(crate) data_src: u64,
    pub(crate) phys_addr: u64,
    pub(crate) data_page_size: u64,
    pub(crate) code_page_size: u64,
    pub(crate) cgroup: u64,
    pub(crate) cpumode: u8,
    pub(crate) addr_correlates_sym: u8,
    pub(crate) misc: u16,
    pub(crate) raw_size: u32,
    pub(crate) raw_data: *const u8,
    pub(crate) brstack_nr: u64,
    pub(crate) brstack: *const [u64; 3],
    pub(crate) raw_callchain_nr: u64,
    pub(crate) raw_callchain: *const u64,
    pub(crate) event: *const c_char,
    pub(crate) machine_pid: i32,
    pub(crate) vcpu: i32,
}

/// An address with its symbol and its object, as the interface lays it out.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CPlace {
    pub(crate) size: u32,
    pub(crate) symoff: u32,
    pub(crate) sym: *const c_char,
    pub(crate) addr: u64,
    pub(crate) sym_start: u64,
    pub(crate) sym_end: u64,
    pub(crate) dso: *const c_char,
    pub(crate) sym_binding: u8,
    pub(crate) is_64_bit: u8,
    pub(crate) is_kernel_ip: u8,
    pub(crate) buildid_size: u32,
    pub(crate) buildid: *const u8,
    pub(crate) filtered: u8,
    pub(crate) comm: *const c_char,
    pub(crate) private: *mut c_void,
}

/// The functions that the filter may call; it has a variable of this type that is filled in when it is loaded.
#[repr(C)]
pub(crate) struct CFunctions {
    pub(crate) resolve_ip: extern "C" fn(*mut c_void) -> *const CPlace,
    pub(crate) resolve_addr: extern "C" fn(*mut c_void) -> *const CPlace,
    pub(crate) args: extern "C" fn(*mut c_void, *mut c_int) -> *mut *mut c_char,
    pub(crate) resolve_address: extern "C" fn(*mut c_void, u64, *mut CPlace) -> i32,
    pub(crate) insn: extern "C" fn(*mut c_void, *mut u32) -> *const u8,
    pub(crate) srcline: extern "C" fn(*mut c_void, *mut u32) -> *const c_char,
    pub(crate) attr: extern "C" fn(*mut c_void) -> *mut u8,
    pub(crate) object_code: extern "C" fn(*mut c_void, u64, *mut c_void, u32) -> i32,
    pub(crate) al_cleanup: extern "C" fn(*mut c_void, *mut CPlace),
    pub(crate) reserved: [*const c_void; 119],
}

/// `start` of a filter.
pub(crate) type Start = unsafe extern "C" fn(*mut *mut c_void, *mut c_void) -> c_int;
/// `stop` of a filter.
pub(crate) type Stop = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
/// `filter_event` and `filter_event_early` of a filter.
pub(crate) type Filter = unsafe extern "C" fn(*mut c_void, *const CSample, *mut c_void) -> c_int;
/// `filter_description` of a filter.
pub(crate) type Describe = unsafe extern "C" fn(*mut *const c_char) -> *const c_char;

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use std::mem::{offset_of, size_of};

    use super::*;

    #[test]
    fn layouts_are_those_of_the_header() {
        assert_eq!(
            (
                size_of::<CSample>(),
                offset_of!(CSample, cpumode),
                offset_of!(CSample, event)
            ),
            (208, 144, 192)
        );
        assert_eq!(
            (
                size_of::<CPlace>(),
                offset_of!(CPlace, buildid),
                offset_of!(CPlace, comm)
            ),
            (88, 56, 72)
        );
        assert_eq!(size_of::<CFunctions>(), 128 * 8);
    }
}
