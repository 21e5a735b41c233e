//! Results to text and HTML; computes nothing.
