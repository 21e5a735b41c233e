//! One perf record to and from bytes, in any byte order.
