//! Filters of branches, by their names on perf's command line.

use crate::BranchSampleType;

/// Every filter of branches with its name on perf's command line.
const FILTERS: [(&str, BranchSampleType); 20] = [
    ("u", BranchSampleType::USER),
    ("k", BranchSampleType::KERNEL),
    ("hv", BranchSampleType::HV),
    ("any", BranchSampleType::ANY),
    ("any_call", BranchSampleType::ANY_CALL),
    ("any_ret", BranchSampleType::ANY_RETURN),
    ("ind_call", BranchSampleType::IND_CALL),
    ("abort_tx", BranchSampleType::ABORT_TX),
    ("in_tx", BranchSampleType::IN_TX),
    ("no_tx", BranchSampleType::NO_TX),
    ("cond", BranchSampleType::COND),
    ("ind_jmp", BranchSampleType::IND_JUMP),
    ("call", BranchSampleType::CALL),
    ("no_flags", BranchSampleType::NO_FLAGS),
    ("no_cycles", BranchSampleType::NO_CYCLES),
    ("save_type", BranchSampleType::TYPE_SAVE),
    ("stack", BranchSampleType::CALL_STACK),
    ("hw_index", BranchSampleType::HW_INDEX),
    ("priv", BranchSampleType::PRIV_SAVE),
    ("counter", BranchSampleType::COUNTERS),
];

impl BranchSampleType {
    /// The names of filters, as perf's command line has them.
    pub fn filter_names() -> impl Iterator<Item = &'static str> {
        FILTERS.iter().map(|(name, _)| *name)
    }

    /// Reads filters with commas between them, in letters of either case. Without one that says which branches, all are
    /// meant: perf then takes every privilege, whatever was named.
    ///
    /// # Errors
    /// The first name that is none.
    pub fn parse_filters(text: &str) -> Result<BranchSampleType, &str> {
        let wanted = BranchSampleType::named_filters(text)?;
        let privileges = BranchSampleType::USER | BranchSampleType::KERNEL | BranchSampleType::HV;
        if wanted.without(privileges) == BranchSampleType::EMPTY {
            return Ok(BranchSampleType::ANY);
        }
        Ok(wanted)
    }

    /// Reads filters with commas between them, in letters of either case: those that are named and no others.
    ///
    /// # Errors
    /// The first name that is none.
    pub fn named_filters(text: &str) -> Result<BranchSampleType, &str> {
        let mut named = BranchSampleType::EMPTY;
        for name in text.split(',') {
            let filter = FILTERS
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name));
            named |= filter.ok_or(name)?.1;
        }
        Ok(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_read_as_perf_reads_them() {
        let read = |text| BranchSampleType::parse_filters(text).map(|filters| filters.0);
        assert_eq!(read("any"), Ok(8));
        assert_eq!(read("ANY_CALL,u"), Ok(17));
        assert_eq!(read("u,k"), Ok(8));
        assert_eq!(read("counter,no_flags"), Ok(0x84000));
        assert_eq!(read("any,"), Err(""));
        assert_eq!(read("any,bogus"), Err("bogus"));
        let every: Vec<&str> = BranchSampleType::filter_names().collect();
        assert_eq!(read(&every.join(",")), Ok(0xfffff));
    }
}
