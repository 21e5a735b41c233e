//! Sort keys that are a number of each sample: one file each.
//!
//! To add one, write its file beside the others, declare the module here, and add a row with it to the names of sort
//! keys (`SortKey::NAMES` in `analysis`). Collecting, sorting, the column and the values of JSON and CSV follow from the [`NumberKey`].

pub mod code_page_size;
pub mod cpu;
pub mod ins_lat;
pub mod p_stage_cyc;
pub mod parallelism;
pub mod retire_lat;
pub mod socket;
pub mod weight;

use std::hash::{Hash, Hasher};

use oxperf_wire::{Sample, SampleWeight};

use crate::DetailOptions;

/// A sort key that is a number of each sample. Keys are equal if their names are.
#[derive(Debug)]
pub struct NumberKey {
    /// The name on the command line.
    pub name: &'static str,
    /// The heading of the column.
    pub heading: &'static str,
    /// The least width of the column, in characters; it is no narrower than the heading.
    pub width: usize,
    /// The form of the column's cells.
    pub cell: NumberCell,
    /// The order of rows by it, where their weights are equal.
    pub order: NumberOrder,
    /// Reads the number of a sample; `None` where the sample has none.
    pub value: fn(&NumberInput<'_>) -> Option<u64>,
}

/// The form of cells of a [`NumberKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberCell {
    /// A decimal number at the left; 0 where there is none.
    Left,
    /// A decimal number at the right; 0 where there is none.
    Right,
    /// A decimal number at the left: that of a sample, times the number of the row's samples.
    Sum,
    /// A size in bytes at the left, with a unit.
    Size,
    /// A number at the right with zeros before it; -1 where there is none.
    ZeroFilled {
        /// Characters of the column that stay blank before the zeros.
        blank: usize,
    },
}

/// The order of rows by a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberOrder {
    /// The least first.
    Rising,
    /// The greatest first.
    Falling,
}

/// A sample, as [`NumberKey::value`] reads it.
#[derive(Clone, Copy, Debug)]
pub struct NumberInput<'a> {
    /// The decoded sample.
    pub sample: &'a Sample<'a>,
    /// Options of details.
    pub options: &'a DetailOptions,
    /// Number of threads that ran at the sample's time.
    pub threads: u32,
}

impl NumberInput<'_> {
    /// The three parts of the sample's weight: cost, latency of the instruction, latency of its retirement; 0 for those
    /// that it has not.
    pub fn weights(&self) -> [u64; 3] {
        match self.sample.weight {
            None => [0; 3],
            Some(SampleWeight::Whole(weight)) => [weight, 0, 0],
            Some(SampleWeight::Parts { var1, var2, var3 }) => {
                [var1.into(), var2.into(), var3.into()]
            }
        }
    }
}

impl PartialEq for NumberKey {
    fn eq(&self, other: &NumberKey) -> bool {
        self.name == other.name
    }
}

impl Eq for NumberKey {}

impl Hash for NumberKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}
