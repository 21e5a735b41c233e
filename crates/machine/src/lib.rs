//! The recorded machine at a moment: threads, maps, dsos.
