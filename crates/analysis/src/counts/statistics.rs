//! Mean and deviation of values that come one by one.

/// What is known of the values so far.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Statistics {
    number: u64,
    mean: f64,
    /// The sum of the squared distances from the mean.
    spread: f64,
}

impl Statistics {
    /// Takes one more value.
    pub fn add(&mut self, value: f64) {
        self.number += 1;
        let distance = value - self.mean;
        self.mean += distance / self.number as f64;
        self.spread += distance * (value - self.mean);
    }

    /// The number of values.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The mean; 0 of no values.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The standard error of the mean; 0 of fewer than two values.
    pub fn standard_error(&self) -> f64 {
        if self.number < 2 {
            return 0.0;
        }
        let number = self.number as f64;
        (self.spread / (number - 1.0) / number).sqrt()
    }

    /// The standard error as a percentage of the mean; 0 of a mean of 0.
    pub fn relative_error(&self) -> f64 {
        if self.mean == 0.0 {
            return 0.0;
        }
        100.0 * self.standard_error() / self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_runs() {
        let mut statistics = Statistics::default();
        for value in [1_234_567.0, 1_334_567.0, 1_434_567.0, 1_534_567.0] {
            statistics.add(value);
        }
        assert_eq!(statistics.number(), 4);
        assert!((statistics.mean() - 1_384_567.0).abs() < 1e-6);
        assert_eq!(format!("{:.2}", statistics.relative_error()), "4.66");
    }

    #[test]
    fn one_value_or_none_has_no_error() {
        let mut statistics = Statistics::default();
        assert_eq!((statistics.mean(), statistics.relative_error()), (0.0, 0.0));
        statistics.add(5.0);
        assert_eq!((statistics.mean(), statistics.standard_error()), (5.0, 0.0));
    }
}
