//! The size of the page that holds the code of a sample.

use super::{NumberCell, NumberKey, NumberOrder};

/// `code_page_size`: the size of the page that holds the code, in bytes.
pub static CODE_PAGE_SIZE: NumberKey = NumberKey {
    name: "code_page_size",
    heading: "Code Page Size",
    width: 0,
    cell: NumberCell::Size,
    order: NumberOrder::Rising,
    value: |input| Some(input.sample.code_page_size.unwrap_or(0)),
};
