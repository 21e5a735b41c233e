//! The top-down method of Intel. A core sorts its issue slots into four kinds; where they come as events of their own, a
//! kind's share is its count by that of all four, on big cores (which measure shares) and small ones (which count slots) alike.
//! Big cores have events of which Intel's own formulas (perfmon) correct the shares.

use super::row::Row;

/// Of several rows for a metric the first counts whose table has all its events.
pub(super) const TABLES: [&[Row]; 5] = [
    &CORRECTED_LEVELS,
    &CORRECTED_LEVEL_1,
    &LEVEL_1,
    &LEVEL_2,
    &LEVEL_1_OF_EVENTS,
];

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

/// A share less the slots of operations that were dropped between front end and back end.
macro_rules! without_dropped {
    ($slots:literal) => {
        concat!(share!($slots), " - PMU@INT_MISC.UOP_DROPPING@ / PMU@slots@")
    };
}

const RETIRING: Row = Row::new("tma_retiring", "Default;TopdownL1", share!("retiring"))
    .threshold("tma_retiring > 0.7")
    .unit("100%");
const CORRECTED_FRONTEND: Row = Row::new(
    "tma_frontend_bound",
    "Default;TopdownL1",
    without_dropped!("fe\\-bound"),
)
.threshold("tma_frontend_bound > 0.15")
.unit("100%");
const BACKEND: Row = Row::new(
    "tma_backend_bound",
    "Default;TopdownL1",
    share!("be\\-bound"),
)
.threshold("tma_backend_bound > 0.2")
.unit("100%");
/// What the other three leave.
const REST_IS_BAD: Row = Row::new(
    "tma_bad_speculation",
    "Default;TopdownL1",
    "max(1 - (tma_frontend_bound + tma_backend_bound + tma_retiring), 0)",
)
.threshold("tma_bad_speculation > 0.15")
.unit("100%");

/// Big cores from Sapphire Rapids and Alder Lake on.
const CORRECTED_LEVELS: [Row; 12] = [
    RETIRING,
    REST_IS_BAD,
    CORRECTED_FRONTEND,
    BACKEND,
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
        "max(0, tma_retiring - tma_heavy_operations)",
    )
    .threshold("tma_light_operations > 0.6")
    .unit("100%"),
    Row::new(
        "tma_branch_mispredicts",
        "Default;TopdownL2",
        share!("br\\-mispredict"),
    )
    .threshold("tma_branch_mispredicts > 0.1 & tma_bad_speculation > 0.15")
    .unit("100%"),
    Row::new(
        "tma_machine_clears",
        "Default;TopdownL2",
        "max(0, tma_bad_speculation - tma_branch_mispredicts)",
    )
    .threshold("tma_machine_clears > 0.1 & tma_bad_speculation > 0.15")
    .unit("100%"),
    Row::new(
        "tma_fetch_latency",
        "Default;TopdownL2",
        without_dropped!("fetch\\-lat"),
    )
    .threshold("tma_fetch_latency > 0.1 & tma_frontend_bound > 0.15")
    .unit("100%"),
    Row::new(
        "tma_fetch_bandwidth",
        "Default;TopdownL2",
        "max(0, tma_frontend_bound - tma_fetch_latency)",
    )
    .threshold("tma_fetch_bandwidth > 0.2")
    .unit("100%"),
    Row::new(
        "tma_memory_bound",
        "Default;TopdownL2",
        share!("mem\\-bound"),
    )
    .threshold("tma_memory_bound > 0.2 & tma_backend_bound > 0.2")
    .unit("100%"),
    Row::new(
        "tma_core_bound",
        "Default;TopdownL2",
        "max(0, tma_backend_bound - tma_memory_bound)",
    )
    .threshold("tma_core_bound > 0.1 & tma_backend_bound > 0.2")
    .unit("100%"),
];

/// Ice Lake to Rocket Lake, whose back end waits for five slots after each clear.
const CORRECTED_LEVEL_1: [Row; 4] = [
    RETIRING,
    REST_IS_BAD,
    CORRECTED_FRONTEND,
    Row::new(
        "tma_backend_bound",
        "Default;TopdownL1",
        concat!(
            share!("be\\-bound"),
            " + 5 * PMU@INT_MISC.CLEARS_COUNT@ / PMU@slots@"
        ),
    )
    .threshold("tma_backend_bound > 0.2")
    .unit("100%"),
];

/// Other cores with events for slots: small ones from Goldmont on.
const LEVEL_1: [Row; 4] = [
    RETIRING,
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
    BACKEND,
];

/// Such cores with events for the second level.
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
