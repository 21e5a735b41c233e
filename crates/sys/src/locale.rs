//! Properties of the locale that the environment names.

use std::ffi::CStr;

/// The text between groups of digits in large numbers; none in the C locale, and in one that is not installed.
pub fn digit_separator() -> Option<String> {
    // SAFETY: the name is a text ended by NUL; an empty one stands for the environment's locale.
    let locale =
        unsafe { libc::newlocale(libc::LC_NUMERIC_MASK, c"".as_ptr(), std::ptr::null_mut()) };
    if locale.is_null() {
        return None;
    }
    // SAFETY: the locale is live; the text belongs to it and ends with NUL.
    let text = unsafe { CStr::from_ptr(libc::nl_langinfo_l(libc::THOUSEP, locale)) };
    let text = text.to_string_lossy().into_owned();
    // SAFETY: the locale is live, and nothing that belongs to it is used any more.
    unsafe { libc::freelocale(locale) };
    Some(text).filter(|text| !text.is_empty())
}
