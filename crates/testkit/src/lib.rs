//! Builders and text notation for records, for tests only.
