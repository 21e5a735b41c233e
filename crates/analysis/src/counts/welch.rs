//! Welch's t-test: whether two means of repeated measurements differ by more than chance, where each has its own variance.

use super::statistics::Statistics;

/// What a comparison of two means says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MeanTest {
    /// One of the two has fewer than two values: nothing is known of its spread.
    TooFewRuns,
    /// Neither of the two has any spread: the means are equal or they are not.
    NoSpread {
        /// The means are equal.
        is_equal: bool,
    },
    /// The test.
    Welch {
        /// The difference of the means in standard errors.
        t: f64,
        /// The degrees of freedom, from both variances.
        degrees_of_freedom: f64,
        /// The probability of such a difference, or a greater one, between measurements of one and the same thing.
        probability: f64,
    },
}

/// A difference of a lower probability than this is more than chance.
pub const SIGNIFICANCE_LEVEL: f64 = 0.05;

impl MeanTest {
    /// Compares the means of two series of values.
    pub fn of(before: &Statistics, after: &Statistics) -> MeanTest {
        if before.number() < 2 || after.number() < 2 {
            return MeanTest::TooFewRuns;
        }
        let square = |series: &Statistics| series.standard_error().powi(2);
        let (before_square, after_square) = (square(before), square(after));
        let both = before_square + after_square;
        if both == 0.0 {
            return MeanTest::NoSpread {
                is_equal: before.mean() == after.mean(),
            };
        }
        let t = (after.mean() - before.mean()) / both.sqrt();
        let share = |square: f64, number: u64| (square / both).powi(2) / (number - 1) as f64;
        let shares = share(before_square, before.number()) + share(after_square, after.number());
        let degrees_of_freedom = 1.0 / shares;
        MeanTest::Welch {
            t,
            degrees_of_freedom,
            probability: two_sided(t, degrees_of_freedom),
        }
    }

    /// Returns whether the means differ by more than chance; `None` where that cannot be known.
    pub fn is_more_than_chance(&self) -> Option<bool> {
        match self {
            MeanTest::TooFewRuns => None,
            MeanTest::NoSpread { is_equal } => Some(!is_equal),
            MeanTest::Welch { probability, .. } => Some(*probability < SIGNIFICANCE_LEVEL),
        }
    }
}

/// The probability that a value of Student's t-distribution is at least as far from 0 as `t`.
fn two_sided(t: f64, degrees_of_freedom: f64) -> f64 {
    let x = degrees_of_freedom / (degrees_of_freedom + t * t);
    regularized_beta(x, degrees_of_freedom / 2.0, 0.5)
}

/// The regularized incomplete beta function.
fn regularized_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let log_front = a * x.ln() + b * (-x).ln_1p() - log_beta(a, b);
    let front = log_front.exp();
    // The fraction converges fast on this side of the mean alone.
    let value = if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(1.0 - x, b, a) / b
    };
    value.clamp(0.0, 1.0)
}

fn log_beta(a: f64, b: f64) -> f64 {
    log_gamma(a) + log_gamma(b) - log_gamma(a + b)
}

/// Terms of the continued fraction at most: it converges in about the square root of the larger parameter.
const MOST_TERMS: u32 = 10_000;
/// The fraction is good enough where a term changes it by less.
const PRECISION: f64 = 1e-15;
/// Stands for zero where something is divided by it.
const TINY: f64 = 1e-300;

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let not_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for term in 1..=MOST_TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            d = 1.0 / not_zero(1.0 + coefficient * d);
            c = not_zero(1.0 + coefficient / c);
            change = d * c;
            fraction *= change;
        }
        if (change - 1.0).abs() < PRECISION {
            break;
        }
    }
    fraction
}

/// The logarithm of the gamma function of a positive number, by the approximation of Lanczos with g = 7.
fn log_gamma(x: f64) -> f64 {
    const G: f64 = 7.0;
    const FIRST: f64 = 0.999_999_999_999_809_9;
    const COEFFICIENTS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        use std::f64::consts::PI;
        return (PI / (PI * x).sin()).ln() - log_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let terms = COEFFICIENTS.iter().zip(1..);
    let sum = terms.fold(FIRST, |sum, (coefficient, at)| {
        sum + coefficient / (x + f64::from(at))
    });
    let base = x + G + 0.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * base.ln() - base + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> Statistics {
        let mut statistics = Statistics::default();
        values.iter().for_each(|&value| statistics.add(value));
        statistics
    }

    #[test]
    fn probabilities_as_in_tables_of_the_t_distribution() {
        // Two-sided critical values for 5%, 1% and 0.1%.
        for (t, freedom, probability) in [
            (12.706_204_7, 1.0, 0.05),
            (4.302_652_7, 2.0, 0.05),
            (2.228_138_9, 10.0, 0.05),
            (3.169_272_7, 10.0, 0.01),
            (1.959_966_4, 1e7, 0.05),
            (3.290_529_5, 1e8, 0.001),
            (0.0, 3.5, 1.0),
        ] {
            let found = two_sided(t, freedom);
            assert!((found - probability).abs() < 1e-6, "{t} {freedom}: {found}");
            assert_eq!(found, two_sided(-t, freedom));
        }
        assert_eq!(two_sided(f64::INFINITY, 4.0), 0.0);
    }

    #[test]
    fn a_textbook_pair_of_series() {
        let before = series(&[
            27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7,
            21.4,
        ]);
        let after = series(&[
            27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5,
            22.8,
        ]);
        let MeanTest::Welch {
            t,
            degrees_of_freedom,
            probability,
        } = MeanTest::of(&before, &after)
        else {
            panic!("both series have a spread");
        };
        // The probability was integrated numerically over the density.
        assert!((t - 2.745_549_510).abs() < 1e-8, "{t}");
        assert!(
            (degrees_of_freedom - 27.887_303_988).abs() < 1e-8,
            "{degrees_of_freedom}"
        );
        assert!(
            (probability - 0.010_452_813_5).abs() < 1e-8,
            "{probability}"
        );
        let same = MeanTest::of(&before, &before);
        assert_eq!(same.is_more_than_chance(), Some(false));
    }

    #[test]
    fn without_a_spread_nothing_is_guessed() {
        let (one, two) = (series(&[5.0]), series(&[5.0, 6.0]));
        assert_eq!(MeanTest::of(&one, &two), MeanTest::TooFewRuns);
        assert_eq!(MeanTest::TooFewRuns.is_more_than_chance(), None);
        let (five, six) = (series(&[5.0, 5.0]), series(&[6.0, 6.0, 6.0]));
        assert_eq!(
            MeanTest::of(&five, &five).is_more_than_chance(),
            Some(false)
        );
        assert_eq!(MeanTest::of(&five, &six).is_more_than_chance(), Some(true));
        let MeanTest::Welch {
            degrees_of_freedom, ..
        } = MeanTest::of(&five, &two)
        else {
            panic!("one series has a spread");
        };
        assert!((degrees_of_freedom - 1.0).abs() < 1e-9);
    }
}
