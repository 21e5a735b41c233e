//! The top-down method of Intel. A core sorts its issue slots into four kinds; where they come as events of their own, a
//! kind's share is its count by that of all four, on big cores (which measure shares) and small ones (which count slots) alike.

use super::row::Row;

pub(super) const TABLES: [&[Row]; 3] = [&LEVEL_1, &LEVEL_2, &LEVEL_1_OF_EVENTS];

/// All slots.
macro_rules! slots {
    () => {
        r"(PMU@topdown\-retiring@ + PMU@topdown\-bad\-spec@ + PMU@topdown\-fe\-bound@ + PMU@topdown\-be\-bound@)"
    };
}

/// A share of all slots.
macro_rules! share {
    ($slots:literal) => {
        concat!("PMU@topdown\\-", $slots, "@ / ", slots!())
    };
}

/// What is left of one share beside another.
macro_rules! rest {
    ($whole:literal, $part:literal) => {
        concat!(
            "max(PMU@topdown\\-",
            $whole,
            "@ - PMU@topdown\\-",
            $part,
            "@, 0) / ",
            slots!()
        )
    };
}

/// From Ice Lake on, and small cores from Goldmont on.
const LEVEL_1: [Row; 4] = [
    Row::new("tma_retiring", "Default;TopdownL1", share!("retiring"))
        .threshold("tma_retiring > 0.7")
        .unit("100%"),
    Row::new(
        "tma_bad_speculation",
        "Default;TopdownL1",
        share!("bad\\-spec"),
    )
    .threshold("tma_bad_speculation > 0.15")
    .unit("100%"),
    Row::new(
        "tma_frontend_bound",
        "Default;TopdownL1",
        share!("fe\\-bound"),
    )
    .threshold("tma_frontend_bound > 0.15")
    .unit("100%"),
    Row::new(
        "tma_backend_bound",
        "Default;TopdownL1",
        share!("be\\-bound"),
    )
    .threshold("tma_backend_bound > 0.2")
    .unit("100%"),
];

/// From Sapphire Rapids and the big cores of Alder Lake on.
const LEVEL_2: [Row; 8] = [
    Row::new(
        "tma_heavy_operations",
        "Default;TopdownL2",
        share!("heavy\\-ops"),
    )
    .threshold("tma_heavy_operations > 0.1")
    .unit("100%"),
    Row::new(
        "tma_light_operations",
        "Default;TopdownL2",
        rest!("retiring", "heavy\\-ops"),
    )
    .threshold("tma_light_operations > 0.6")
    .unit("100%"),
    Row::new(
        "tma_branch_mispredicts",
        "Default;TopdownL2",
        share!("br\\-mispredict"),
    )
    .threshold("tma_branch_mispredicts > 0.1")
    .unit("100%"),
    Row::new(
        "tma_machine_clears",
        "Default;TopdownL2",
        rest!("bad\\-spec", "br\\-mispredict"),
    )
    .threshold("tma_machine_clears > 0.1")
    .unit("100%"),
    Row::new(
        "tma_fetch_latency",
        "Default;TopdownL2",
        share!("fetch\\-lat"),
    )
    .threshold("tma_fetch_latency > 0.1")
    .unit("100%"),
    Row::new(
        "tma_fetch_bandwidth",
        "Default;TopdownL2",
        rest!("fe\\-bound", "fetch\\-lat"),
    )
    .threshold("tma_fetch_bandwidth > 0.2")
    .unit("100%"),
    Row::new(
        "tma_memory_bound",
        "Default;TopdownL2",
        share!("mem\\-bound"),
    )
    .threshold("tma_memory_bound > 0.2")
    .unit("100%"),
    Row::new(
        "tma_core_bound",
        "Default;TopdownL2",
        rest!("be\\-bound", "mem\\-bound"),
    )
    .threshold("tma_core_bound > 0.1")
    .unit("100%"),
];

/// Four slots in a cycle of a core, which its hardware threads share.
macro_rules! four_slots {
    () => {
        "(4 * (PMU@CPU_CLK_UNHALTED.THREAD_ANY@ / 2 if #smt_on else PMU@CPU_CLK_UNHALTED.THREAD@))"
    };
}

/// Slots lost while the core recovers from wrong speculation.
macro_rules! recovery {
    () => {
        "4 * (PMU@INT_MISC.RECOVERY_CYCLES_ANY@ / 2 if #smt_on else PMU@INT_MISC.RECOVERY_CYCLES@)"
    };
}

/// From Sandy Bridge to Cascade Lake, which count slots at two places of the pipeline.
const LEVEL_1_OF_EVENTS: [Row; 4] = [
    Row::new(
        "tma_retiring",
        "TopdownL1",
        concat!("PMU@UOPS_RETIRED.RETIRE_SLOTS@ / ", four_slots!()),
    )
    .threshold("tma_retiring > 0.7")
    .unit("100%"),
    Row::new(
        "tma_bad_speculation",
        "TopdownL1",
        concat!(
            "(PMU@UOPS_ISSUED.ANY@ - PMU@UOPS_RETIRED.RETIRE_SLOTS@ + ",
            recovery!(),
            ") / ",
            four_slots!()
        ),
    )
    .threshold("tma_bad_speculation > 0.15")
    .unit("100%"),
    Row::new(
        "tma_frontend_bound",
        "TopdownL1",
        concat!("PMU@IDQ_UOPS_NOT_DELIVERED.CORE@ / ", four_slots!()),
    )
    .threshold("tma_frontend_bound > 0.15")
    .unit("100%"),
    Row::new(
        "tma_backend_bound",
        "TopdownL1",
        concat!(
            "1 - (PMU@IDQ_UOPS_NOT_DELIVERED.CORE@ + PMU@UOPS_ISSUED.ANY@ + ",
            recovery!(),
            ") / ",
            four_slots!()
        ),
    )
    .threshold("tma_backend_bound > 0.2")
    .unit("100%"),
];
