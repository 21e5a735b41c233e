//! A shared object that was loaded, and its functions.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use crate::DlfilterError;
use crate::interface::{CFunctions, CSample, Describe, Filter, Start, Stop};
use crate::privileges;

/// A filter.
pub(crate) struct Loaded {
    start: Option<Start>,
    stop: Option<Stop>,
    filter: Option<Filter>,
    filter_early: Option<Filter>,
    describe: Option<Describe>,
    functions: *mut CFunctions,
    /// The pointer that `start` gave for the others.
    data: *mut c_void,
}

impl Loaded {
    /// Loads a shared object, once this process has no privileges that its user does not have. It stays loaded until the
    /// process ends: that is its only purpose.
    pub(crate) fn load(path: &Path) -> Result<Loaded, DlfilterError> {
        privileges::give_up()?;
        let name = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| DlfilterError::Load("its path holds a NUL".to_owned()))?;
        // SAFETY: the name ends with NUL. Loading runs the object's constructors: that the user asked for.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
        if handle.is_null() {
            return Err(DlfilterError::Load(last_error()));
        }
        // SAFETY: `handle` is an open object. What a symbol of these names is, the interface says; function pointers of
        // `Option` may be null, which is `None`.
        unsafe {
            Ok(Loaded {
                start: std::mem::transmute::<*mut c_void, Option<Start>>(find(handle, c"start")),
                stop: std::mem::transmute::<*mut c_void, Option<Stop>>(find(handle, c"stop")),
                filter: std::mem::transmute::<*mut c_void, Option<Filter>>(find(
                    handle,
                    c"filter_event",
                )),
                filter_early: std::mem::transmute::<*mut c_void, Option<Filter>>(find(
                    handle,
                    c"filter_event_early",
                )),
                describe: std::mem::transmute::<*mut c_void, Option<Describe>>(find(
                    handle,
                    c"filter_description",
                )),
                functions: find(handle, c"perf_dlfilter_fns").cast(),
                data: ptr::null_mut(),
            })
        }
    }

    /// Returns whether there is a function for samples, early or late.
    pub(crate) fn has(&self, early: bool) -> bool {
        if early {
            self.filter_early.is_some()
        } else {
            self.filter.is_some()
        }
    }

    /// Tells the filter what it may call.
    pub(crate) fn set_functions(&mut self, functions: CFunctions) {
        if !self.functions.is_null() {
            // SAFETY: the object's variable of this name is of this type, as the interface says; nobody else uses it now.
            unsafe { self.functions.write(functions) };
        }
    }

    /// Calls `start`.
    pub(crate) fn start(&mut self, context: *mut c_void) -> c_int {
        let Some(start) = self.start else { return 0 };
        // SAFETY: the first argument is a place for the filter's pointer; the second is only handed back to us.
        unsafe { start(&raw mut self.data, context) }
    }

    /// Calls `filter_event` or `filter_event_early`.
    pub(crate) fn filter(&self, early: bool, sample: &CSample, context: *mut c_void) -> c_int {
        let Some(filter) = (if early {
            self.filter_early
        } else {
            self.filter
        }) else {
            return 0;
        };
        // SAFETY: `data` is what `start` gave; the sample and all that it points at live until the call is over.
        unsafe { filter(self.data, sample, context) }
    }

    /// Calls `stop`.
    pub(crate) fn stop(&self, context: *mut c_void) -> c_int {
        let Some(stop) = self.stop else { return 0 };
        // SAFETY: as for `filter`.
        unsafe { stop(self.data, context) }
    }

    /// The filter's own description: a line, and perhaps more.
    pub(crate) fn description(&self) -> Option<(String, Option<String>)> {
        let describe = self.describe?;
        let mut long: *const c_char = ptr::null();
        // SAFETY: the argument is a place for a pointer, which the function may leave alone.
        let short = unsafe { describe(&raw mut long) };
        Some((text(short)?, text(long)))
    }
}

/// A symbol's address; null where there is none.
fn find(handle: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: an open object and a name that ends with NUL.
    unsafe { libc::dlsym(handle, name.as_ptr()) }
}

/// Returns a text of the filter's; `None` for null.
fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not null, so it is a text that ends with NUL and stays, as the interface says.
    let text = unsafe { CStr::from_ptr(pointer) };
    Some(text.to_string_lossy().into_owned())
}

fn last_error() -> String {
    // SAFETY: the text stays until the next call of this family; it is copied at once.
    text(unsafe { libc::dlerror() }).unwrap_or_else(|| "it is no shared object".to_owned())
}
