//! The pipeline utilization of AMD, from Zen 4 on: slots of dispatch that the front end, the back end or the other hardware
//! thread left empty, and operations that were dispatched and not retired.

use super::row::Row;

pub(super) const TABLES: [&[Row]; 4] = [
    &LEVEL_1,
    &LEVEL_2,
    &SPECULATION_OF_ZEN_4,
    &SPECULATION_OF_ZEN_5,
];

/// All slots of dispatch.
macro_rules! slots {
    () => {
        "(WIDTH * PMU@ls_not_halted_cyc@)"
    };
}

/// Slots in which the front end gave nothing at all.
macro_rules! no_delivery {
    () => {
        r"WIDTH * PMU@de_no_dispatch_per_slot.no_ops_from_frontend\,cmask\=WIDTH@"
    };
}

macro_rules! memory_share {
    () => {
        "d_ratio(PMU@ex_no_retire.load_not_complete@, PMU@ex_no_retire.not_complete@)"
    };
}

/// What slots went to.
const LEVEL_1: [Row; 5] = [
    Row::new(
        "frontend_bound",
        "TopdownL1;PipelineL1",
        concat!(
            "d_ratio(PMU@de_no_dispatch_per_slot.no_ops_from_frontend@, ",
            slots!(),
            ")"
        ),
    )
    .unit("100%"),
    Row::new(
        "bad_speculation",
        "TopdownL1;PipelineL1",
        concat!(
            "d_ratio(PMU@de_src_op_disp.all@ - PMU@ex_ret_ops@, ",
            slots!(),
            ")"
        ),
    )
    .unit("100%"),
    Row::new(
        "backend_bound",
        "TopdownL1;PipelineL1",
        concat!(
            "d_ratio(PMU@de_no_dispatch_per_slot.backend_stalls@, ",
            slots!(),
            ")"
        ),
    )
    .unit("100%"),
    Row::new(
        "smt_contention",
        "TopdownL1;PipelineL1",
        concat!(
            "d_ratio(PMU@de_no_dispatch_per_slot.smt_contention@, ",
            slots!(),
            ")"
        ),
    )
    .unit("100%"),
    Row::new(
        "retiring",
        "TopdownL1;PipelineL1",
        concat!("d_ratio(PMU@ex_ret_ops@, ", slots!(), ")"),
    )
    .unit("100%"),
];

/// Why the front end and the back end left slots empty, and what retired.
const LEVEL_2: [Row; 6] = [
    Row::new(
        "frontend_bound_latency",
        "TopdownL2;PipelineL2",
        concat!("d_ratio(", no_delivery!(), ", ", slots!(), ")"),
    )
    .unit("100%"),
    Row::new(
        "frontend_bound_bandwidth",
        "TopdownL2;PipelineL2",
        concat!(
            "d_ratio(PMU@de_no_dispatch_per_slot.no_ops_from_frontend@ - ",
            no_delivery!(),
            ", ",
            slots!(),
            ")"
        ),
    )
    .unit("100%"),
    Row::new(
        "backend_bound_memory",
        "TopdownL2;PipelineL2",
        concat!("backend_bound * ", memory_share!()),
    )
    .unit("100%"),
    Row::new(
        "backend_bound_cpu",
        "TopdownL2;PipelineL2",
        concat!("backend_bound * (1 - ", memory_share!(), ")"),
    )
    .unit("100%"),
    Row::new(
        "retiring_fastpath",
        "TopdownL2;PipelineL2",
        "retiring * (1 - d_ratio(PMU@ex_ret_ucode_ops@, PMU@ex_ret_ops@))",
    )
    .unit("100%"),
    Row::new(
        "retiring_microcode",
        "TopdownL2;PipelineL2",
        "retiring * d_ratio(PMU@ex_ret_ucode_ops@, PMU@ex_ret_ops@)",
    )
    .unit("100%"),
];

/// Why operations did not retire: by a second event that restarts the pipeline.
macro_rules! of_speculation {
    ($event:literal, $restarts:literal) => {
        concat!(
            "d_ratio(bad_speculation * PMU@",
            $event,
            "@, PMU@ex_ret_brn_misp@ + PMU@",
            $restarts,
            "@)"
        )
    };
}

const SPECULATION_OF_ZEN_4: [Row; 2] = [
    Row::new(
        "bad_speculation_mispredicts",
        "TopdownL2;PipelineL2",
        of_speculation!("ex_ret_brn_misp", "resyncs_or_nc_redirects"),
    )
    .unit("100%"),
    Row::new(
        "bad_speculation_pipeline_restarts",
        "TopdownL2;PipelineL2",
        of_speculation!("resyncs_or_nc_redirects", "resyncs_or_nc_redirects"),
    )
    .unit("100%"),
];

const SPECULATION_OF_ZEN_5: [Row; 2] = [
    Row::new(
        "bad_speculation_mispredicts",
        "TopdownL2;PipelineL2",
        of_speculation!("ex_ret_brn_misp", "bp_redirects.resync"),
    )
    .unit("100%"),
    Row::new(
        "bad_speculation_pipeline_restarts",
        "TopdownL2;PipelineL2",
        of_speculation!("bp_redirects.resync", "bp_redirects.resync"),
    )
    .unit("100%"),
];
