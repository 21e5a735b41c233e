//! Tracepoint format files: fields, print formats, tracefs.
