//! The top-down method of Arm: slots where the core counts them (Armv8.7 and Neoverse N2, V1 and later), cycles without
//! operations where it does not.

use super::row::Row;

pub(super) const TABLES: [&[Row]; 2] = [&OF_SLOTS, &OF_CYCLES];

/// All slots.
macro_rules! slots {
    () => {
        "(#slots * PMU@cpu_cycles@)"
    };
}

const OF_SLOTS: [Row; 4] = [
    Row::new(
        "frontend_bound",
        "Default;TopdownL1",
        concat!("PMU@stall_slot_frontend@ / ", slots!()),
    )
    .threshold("frontend_bound > 0.2")
    .unit("100%"),
    Row::new(
        "backend_bound",
        "Default;TopdownL1",
        concat!("PMU@stall_slot_backend@ / ", slots!()),
    )
    .threshold("backend_bound > 0.2")
    .unit("100%"),
    Row::new(
        "retiring",
        "Default;TopdownL1",
        concat!(
            "(1 - PMU@stall_slot@ / ",
            slots!(),
            ") * PMU@op_retired@ / PMU@op_spec@"
        ),
    )
    .threshold("retiring > 0.7")
    .unit("100%"),
    Row::new(
        "bad_speculation",
        "Default;TopdownL1",
        concat!(
            "(1 - PMU@stall_slot@ / ",
            slots!(),
            ") * (1 - PMU@op_retired@ / PMU@op_spec@)"
        ),
    )
    .threshold("bad_speculation > 0.1")
    .unit("100%"),
];

const OF_CYCLES: [Row; 2] = [
    Row::new(
        "frontend_stalled_cycles",
        "TopdownL1",
        "PMU@stall_frontend@ / PMU@cpu_cycles@",
    )
    .unit("100%"),
    Row::new(
        "backend_stalled_cycles",
        "TopdownL1",
        "PMU@stall_backend@ / PMU@cpu_cycles@",
    )
    .unit("100%"),
];
