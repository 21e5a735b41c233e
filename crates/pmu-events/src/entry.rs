//! What tables say of an event or of a metric.

/// An event of a table. Texts are the table's own; they come from files and are not trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableEvent<'a> {
    /// Its name in lower case: `inst_retired.any`.
    pub name: &'a str,
    /// The PMU without instance number: `cpu` for the default PMU of the cores (whatever its name on the system is),
    /// `cpu_core`, `cpu_atom`, `uncore_cha` for `uncore_cha_0` and its siblings, `hisi_sccl,l3c`.
    pub pmu: &'a str,
    /// Its terms: `event=0xc0,period=2000003`.
    pub terms: &'a str,
    /// The group that lists show it in: `floating point`.
    pub topic: &'a str,
    /// Lists hide it unless asked; it can still be counted.
    pub deprecated: bool,
    /// It counts for a whole package.
    pub per_package: bool,
    /// The counters that it can use, as published: `0,1,2,3` or `Fixed counter 1`.
    pub counters: Option<&'a str>,
    /// The support of precise sampling, as published: 0 none, 1 possible, 2 only precise.
    pub precise: Option<u8>,
    /// Factor and unit of its counts.
    pub scale_unit: Option<ScaleUnit<'a>>,
    /// The identifiers of PMUs that have it, as an expression; `None` for those of a CPU model.
    pub compat: Option<&'a str>,
    /// A description of one line; built-in tables have none.
    pub brief: Option<&'a str>,
    /// A longer description, where it differs from the short one; built-in tables have none.
    pub long: Option<&'a str>,
}

/// A metric of a table: an expression over events. Texts are the table's own; they come from files and are not trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableMetric<'a> {
    /// Its name: `tma_frontend_bound`.
    pub name: &'a str,
    /// The PMU that its events are on, as in [`TableEvent::pmu`].
    pub pmu: &'a str,
    /// The groups that it is in, between semicolons: `TopdownL1;tma_L1_group`.
    pub groups: &'a str,
    /// The expression.
    pub expression: &'a str,
    /// An expression that is true where the value asks for attention.
    pub threshold: Option<&'a str>,
    /// Factor and unit of its value: `100%`.
    pub scale_unit: Option<ScaleUnit<'a>>,
    /// Groups, between semicolons, in which its events are not one group of events.
    pub apart_in: Option<&'a str>,
    /// The rule by which its events are grouped: `NO_GROUP_EVENTS`.
    pub constraint: Option<&'a str>,
    /// The group under which `stat` shows it without being asked.
    pub default_group: Option<&'a str>,
    /// The level of aggregation that it needs: `PerChip`, `PerCore`.
    pub aggregation: Option<&'a str>,
    /// The identifiers of PMUs that have it, as an expression; `None` for those of a CPU model.
    pub compat: Option<&'a str>,
    /// A description of one line; built-in tables have none.
    pub brief: Option<&'a str>,
    /// A longer description, where it differs from the short one; built-in tables have none.
    pub long: Option<&'a str>,
}

/// A factor and a unit, written together: `64Bytes`, `100%`, `1e-9SEC`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScaleUnit<'a> {
    /// The text.
    pub text: &'a str,
}

impl<'a> ScaleUnit<'a> {
    /// The number at the beginning of the text; 1 without one.
    pub fn scale(&self) -> f64 {
        self.split().0
    }

    /// The text behind the number.
    pub fn unit(&self) -> &'a str {
        self.split().1
    }

    /// The longest beginning that is a number, and the rest.
    fn split(&self) -> (f64, &'a str) {
        let is_of_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        let length = self.text.bytes().take_while(|b| is_of_number(b)).count();
        let number =
            |length: usize| Some((self.text[..length].parse().ok()?, &self.text[length..]));
        (1..=length)
            .rev()
            .find_map(number)
            .unwrap_or((1.0, self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_stands_before_its_unit() {
        for (text, scale, unit) in [
            ("64Bytes", 64.0, "Bytes"),
            ("100%", 100.0, "%"),
            ("1e-9SEC", 1e-9, "SEC"),
            ("6.103515625E-5MiB", 6.103515625e-5, "MiB"),
            ("2events", 2.0, "events"),
            ("%", 1.0, "%"),
            ("", 1.0, ""),
            ("1é", 1.0, "é"),
        ] {
            let parsed = ScaleUnit { text };
            assert_eq!((parsed.scale(), parsed.unit()), (scale, unit), "{text}");
        }
    }
}
