//! Find and read the binaries that a recording names, by identity.
