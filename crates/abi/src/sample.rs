//! The fields of a sample and of a counter read.

use crate::bits::bit_word;

bit_word! {
    /// `perf_event_attr.sample_type`: the fields of a sample.
    SampleType: u64 {
        /// Instruction pointer.
        IP = 0, "IP";
        /// Process and thread.
        TID = 1, "TID";
        /// Time.
        TIME = 2, "TIME";
        /// Data address, or what the event defines.
        ADDR = 3, "ADDR";
        /// Counter values.
        READ = 4, "READ";
        /// Call chain.
        CALLCHAIN = 5, "CALLCHAIN";
        /// Event id.
        ID = 6, "ID";
        /// CPU.
        CPU = 7, "CPU";
        /// Sampling period.
        PERIOD = 8, "PERIOD";
        /// Id of the event itself, also when inherited.
        STREAM_ID = 9, "STREAM_ID";
        /// Raw data: a tracepoint's record.
        RAW = 10, "RAW";
        /// Taken branches.
        BRANCH_STACK = 11, "BRANCH_STACK";
        /// User registers.
        REGS_USER = 12, "REGS_USER";
        /// A copy of the user stack.
        STACK_USER = 13, "STACK_USER";
        /// Cost of the sampled access.
        WEIGHT = 14, "WEIGHT";
        /// The source of the data.
        DATA_SRC = 15, "DATA_SRC";
        /// Event id at a fixed place.
        IDENTIFIER = 16, "IDENTIFIER";
        /// Transaction flags.
        TRANSACTION = 17, "TRANSACTION";
        /// Registers at the interrupt.
        REGS_INTR = 18, "REGS_INTR";
        /// Physical data address.
        PHYS_ADDR = 19, "PHYS_ADDR";
        /// A piece of AUX trace.
        AUX = 20, "AUX";
        /// Cgroup id.
        CGROUP = 21, "CGROUP";
        /// Page size of the data address.
        DATA_PAGE_SIZE = 22, "DATA_PAGE_SIZE";
        /// Page size of the instruction pointer.
        CODE_PAGE_SIZE = 23, "CODE_PAGE_SIZE";
        /// Cost in three parts.
        WEIGHT_STRUCT = 24, "WEIGHT_STRUCT";
    }
}

bit_word! {
    /// `perf_event_attr.read_format`: the fields of a counter read.
    ReadFormat: u64 {
        /// Time that the event was enabled, ns.
        TOTAL_TIME_ENABLED = 0, "TOTAL_TIME_ENABLED";
        /// Time that the event counted, ns.
        TOTAL_TIME_RUNNING = 1, "TOTAL_TIME_RUNNING";
        /// Event id beside each value.
        ID = 2, "ID";
        /// All members of the group.
        GROUP = 3, "GROUP";
        /// Lost samples beside each value.
        LOST = 4, "LOST";
    }
}
