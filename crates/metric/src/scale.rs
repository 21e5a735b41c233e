//! Factor and unit of a metric's value, written together: `100%`, `1per_sec`.

/// A factor and a unit.
#[derive(Clone, PartialEq, Debug)]
pub struct MetricScale {
    /// What the value is multiplied by.
    pub factor: f64,
    /// The unit: the text behind the number.
    pub unit: String,
}

impl MetricScale {
    /// Reads `1000M/sec`. Without a number at the beginning, or with one that is not finite, the factor is 1.
    pub fn parse(text: &str) -> MetricScale {
        let is_of_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        let longest = text.bytes().take_while(is_of_number).count();
        let number = |length: usize| {
            let factor: f64 = text[..length].parse().ok()?;
            factor.is_finite().then(|| MetricScale {
                factor,
                unit: text[length..].to_owned(),
            })
        };
        (1..=longest.min(64))
            .rev()
            .find_map(number)
            .unwrap_or(MetricScale {
                factor: 1.0,
                unit: text.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_ends_where_the_unit_begins() {
        for (text, factor, unit) in [
            ("100%", 100.0, "%"),
            ("1000M/sec", 1000.0, "M/sec"),
            ("6.103515625e-5MiB", 6.103515625e-5, "MiB"),
            ("1events", 1.0, "events"),
            ("1cycles / elision", 1.0, "cycles / elision"),
            ("%", 1.0, "%"),
            ("1e999x", 1e99, "9x"),
            ("", 1.0, ""),
            ("1é", 1.0, "é"),
        ] {
            let scale = MetricScale::parse(text);
            assert_eq!(
                (scale.factor, scale.unit.as_str()),
                (factor, unit),
                "{text}"
            );
        }
    }
}
