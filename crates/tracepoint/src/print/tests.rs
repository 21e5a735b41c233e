//! The print language, a line of C and its text each.
