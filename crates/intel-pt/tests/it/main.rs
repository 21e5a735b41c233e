//! Tests of the decoder and of its packets through the public interface.

mod archive;
mod cycles;
mod emulated_ptwrite;
mod hostile;
mod insn;
mod instructions;
mod libipt;
mod limit;
mod notes;
mod ptdump;
mod rare_packets;
mod support;
mod traces;
mod truth;
