//! PMUs of which a machine has several: `uncore_imc_0`, `uncore_imc_1`.

/// Which PMUs of several alike are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Instances {
    /// The first, by a name without its number.
    #[default]
    First,
    /// All, by their own names.
    All,
}

impl Instances {
    /// The name that events of a PMU are shown with.
    pub(crate) fn shown_name(self, pmu: &str) -> &str {
        match self {
            Instances::First => without_instance(pmu),
            Instances::All => pmu,
        }
    }
}

/// The name of a PMU without what tells it from its siblings: `_0`, or `_` and more than two hexadecimal digits.
pub(crate) fn without_instance(pmu: &str) -> &str {
    match pmu.rsplit_once('_') {
        Some((name, suffix)) if !name.is_empty() && is_instance(suffix) => name,
        _ => pmu,
    }
}

fn is_instance(suffix: &str) -> bool {
    let decimal = suffix.bytes().all(|byte| byte.is_ascii_digit());
    let hexadecimal = suffix.len() > 2 && suffix.bytes().all(|byte| byte.is_ascii_hexdigit());
    !suffix.is_empty() && (decimal || hexadecimal)
}

/// Returns whether a table's name of a PMU means this one: its own name, the name without its number, or parts between
/// commas that follow one another in it (`hisi_sccl,l3c` means `hisi_sccl1_l3c0`).
pub(crate) fn table_means(table: &str, pmu: &str) -> bool {
    if table == pmu || table == without_instance(pmu) {
        return true;
    }
    if !table.contains(',') {
        // Some drivers put the number right behind the name.
        let number = pmu.strip_prefix(table).unwrap_or("-");
        return number.bytes().all(|byte| byte.is_ascii_digit());
    }
    let mut rest = pmu;
    table.split(',').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_tell_siblings_apart() {
        for (pmu, name) in [
            ("uncore_imc_0", "uncore_imc"),
            ("uncore_imc_free_running_1", "uncore_imc_free_running"),
            ("arm_cmn_ffe0", "arm_cmn"),
            ("cpu_core", "cpu_core"),
            ("amd_l3", "amd_l3"),
            ("_0", "_0"),
            ("a_", "a_"),
            ("x_ab", "x_ab"),
        ] {
            assert_eq!(without_instance(pmu), name, "{pmu}");
        }
    }

    #[test]
    fn tables_name_families() {
        for (table, pmu) in [
            ("uncore_cha", "uncore_cha_3"),
            ("uncore_imc_free_running_0", "uncore_imc_free_running_0"),
            ("amd_umc", "amd_umc_1"),
            ("cbox", "cbox12"),
            ("hisi_sccl,l3c", "hisi_sccl1_l3c0"),
        ] {
            assert!(table_means(table, pmu), "{table} {pmu}");
        }
        for (table, pmu) in [
            ("uncore_imc", "uncore_imc_free_running_0"),
            ("uncore_imc_free_running_0", "uncore_imc_free_running_1"),
            ("hisi_sccl,l3c", "hisi_sccl1_hha0"),
            ("cpu", "cpu_core"),
        ] {
            assert!(!table_means(table, pmu), "{table} {pmu}");
        }
    }
}
