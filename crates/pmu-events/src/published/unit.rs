//! The PMU of an event, by its `Unit`.

use super::{Fields, Form};

/// Units that have another name as PMUs.
const RENAMED: [(&str, &str); 11] = [
    ("CBO", "uncore_cbox"),
    ("SBO", "uncore_sbox"),
    ("QPI LL", "uncore_qpi"),
    ("UPI LL", "uncore_upi"),
    ("iMPH-U", "uncore_arb"),
    ("CPU-M-CF", "cpum_cf"),
    ("CPU-M-SF", "cpum_sf"),
    ("PAI-CRYPTO", "pai_crypto"),
    ("PAI-EXT", "pai_ext"),
    ("L3PMC", "amd_l3"),
    ("DFPMC", "amd_df"),
];

/// Units that are the names of PMUs.
const PMUS: [&str; 14] = [
    "cpu_core",
    "cpu_atom",
    "cpu_lowpower",
    "hisi_sicl,cpa",
    "hisi_sccl,ddrc",
    "hisi_sccl,hha",
    "hisi_sccl,l3c",
    "imx8_ddr",
    "imx9_ddr",
    "ali_drw",
    "arm_cmn",
    "tool",
    "software",
    "msr",
];

/// The name of the PMU without its number; `core` for an event without unit.
pub(super) fn pmu_of(fields: &Fields<'_>, core: &str) -> String {
    let Some(unit) = fields.get("Unit") else {
        return core.to_owned();
    };
    if fields.form == Form::Perfmon {
        if is_free_running(fields) {
            return free_running(unit, fields.get("EventName").unwrap_or_default());
        }
        if unit == "NCU" && fields.get("EventName") == Some("UNC_CLOCK.SOCKET") {
            return "uncore_clock".to_owned();
        }
    }
    named(unit)
}

fn named(unit: &str) -> String {
    let renamed = RENAMED.iter().find(|(published, _)| *published == unit);
    match renamed {
        Some((_, pmu)) => (*pmu).to_owned(),
        None if unit == "UMCPMC" => "amd_umc".to_owned(),
        None if PMUS.contains(&unit) => unit.to_owned(),
        None => format!("uncore_{}", unit.to_ascii_lowercase()),
    }
}

/// Returns whether the event's counter always counts.
pub(super) fn is_free_running(fields: &Fields<'_>) -> bool {
    fields.get("CounterType") == Some("FREERUN")
}

/// `UNC_MC0_RDCAS_COUNT_FREERUN` is on `uncore_imc_free_running_0`.
fn free_running(unit: &str, event: &str) -> String {
    let controller = event
        .split_once("_MC")
        .and_then(|(_, rest)| rest.split_once('_'));
    let number = controller.map(|(number, _)| number);
    let number =
        number.filter(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
    let pmu = format!("uncore_{}_free_running", unit.to_ascii_lowercase());
    match number {
        Some(number) => format!("{pmu}_{number}"),
        None => pmu,
    }
}
