//! Names for addresses inside an object.
