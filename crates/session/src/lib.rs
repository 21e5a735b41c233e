//! Records in time order, applied to a machine, handed to a sink.
