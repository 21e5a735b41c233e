//! `annotate --data-type`: the fields of a type with what each cost.
//!
//! The layout is perf 7.2's to the byte.

use std::collections::BTreeMap;
use std::io::{self, Write};

use oxperf_listing::{DataField, DataLayout};
use oxperf_profile::SampleTotals;

use super::Column;
use crate::text::padding::{Blanks, Right};
use crate::text::sanitize;

/// The counts of an event in data of a type.
#[derive(Clone, Debug, Default)]
pub struct DataCost<'a> {
    /// The event's name.
    event: &'a str,
    /// Offsets where something was counted, ascending, with the sum of what was counted up to there.
    sums: Vec<(u64, SampleTotals)>,
}

impl<'a> DataCost<'a> {
    /// Takes what an event counted, by bytes from the beginning of the type, in any order.
    pub fn new(
        event: &'a str,
        counted: impl IntoIterator<Item = (u64, SampleTotals)>,
    ) -> DataCost<'a> {
        let mut offsets: BTreeMap<u64, SampleTotals> = BTreeMap::new();
        counted
            .into_iter()
            .for_each(|(offset, weight)| *offsets.entry(offset).or_default() += weight);
        let mut sum = SampleTotals::default();
        let sums = offsets.into_iter().map(|(offset, weight)| {
            sum += weight;
            (offset, sum)
        });
        DataCost {
            event,
            sums: sums.collect(),
        }
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    fn whole(&self) -> SampleTotals {
        self.sums.last().map(|(_, sum)| *sum).unwrap_or_default()
    }

    /// The counts before an offset.
    fn before(&self, offset: u64) -> SampleTotals {
        let count = self.sums.partition_point(|(at, _)| *at < offset);
        count
            .checked_sub(1)
            .map(|last| self.sums[last].1)
            .unwrap_or_default()
    }

    /// Samples and their period within a field.
    fn within(&self, field: &DataField) -> (u64, u64) {
        let [start, end] = [
            field.offset,
            field.offset.saturating_add(field.size.unwrap_or(0)),
        ]
        .map(|offset| self.before(offset));
        (
            end.samples - start.samples,
            end.period.saturating_sub(start.period),
        )
    }
}

/// A type with what was counted in data of it.
#[derive(Clone, Debug)]
pub struct AnnotatedData<'a> {
    /// The type.
    pub layout: &'a DataLayout,
    /// The object whose code works on it, by its whole path.
    pub object: &'a str,
    /// The counts of each event.
    pub costs: Vec<DataCost<'a>>,
    /// The content of the columns.
    pub column: Column,
}

/// Writes a type.
pub fn data_type(out: &mut dyn Write, shown: &AnnotatedData<'_>) -> io::Result<()> {
    let AnnotatedData {
        layout,
        object,
        costs,
        column,
    } = shown;
    let samples: u64 = costs.iter().map(|cost| cost.whole().samples).sum();
    writeln!(
        out,
        "Annotate type: '{}' in {} ({samples} samples):",
        sanitize(&layout.name),
        sanitize(object)
    )?;
    if costs.len() > 1 {
        for (nth, cost) in costs.iter().enumerate() {
            writeln!(out, " event[{nth}] = {}", sanitize(cost.event))?;
        }
    }
    writeln!(out, "{}", "=".repeat(76))?;
    let width = column.width() * costs.len();
    writeln!(
        out,
        "{} {:>10} {:>10}  field",
        Right(column.title(), width),
        "offset",
        "size"
    )?;
    let whole = DataField {
        depth: 0,
        name: None,
        type_name: layout.name.clone(),
        offset: 0,
        size: layout.size,
        has_fields: !layout.fields.is_empty(),
    };
    field(out, shown, &whole, 0)?;
    // What is to be closed behind the fields so far.
    let mut open = vec![0; usize::from(whole.has_fields)];
    for inner in &layout.fields {
        while open.last().is_some_and(|outer| *outer > inner.depth) {
            open.pop()
                .map_or(Ok(()), |depth| close(out, width, depth))?;
        }
        field(out, shown, inner, inner.depth + 1)?;
        if inner.has_fields {
            open.push(inner.depth + 1);
        }
    }
    while let Some(depth) = open.pop() {
        close(out, width, depth)?;
    }
    writeln!(out)
}

fn close(out: &mut dyn Write, width: usize, depth: usize) -> io::Result<()> {
    writeln!(out, "{}}};", Blanks(width + 24 + 4 * depth))
}

fn field(
    out: &mut dyn Write,
    shown: &AnnotatedData<'_>,
    field: &DataField,
    depth: usize,
) -> io::Result<()> {
    for cost in &shown.costs {
        let (samples, period) = cost.within(field);
        let width = shown.column.width();
        match shown.column {
            Column::Percent => {
                let whole = cost.whole().period.max(1);
                write!(out, "{:width$.2}", 100.0 * period as f64 / whole as f64)?;
            }
            Column::Samples => write!(out, "{samples:width$}")?,
            Column::Period => write!(out, "{period:width$}")?,
        }
    }
    let name = sanitize(field.name.as_deref().unwrap_or(""));
    let end = if field.has_fields { " {" } else { ";" };
    writeln!(
        out,
        " {:>10} {:>10}  {}{}\t{name}{end}",
        number(field.offset),
        number(field.size.unwrap_or(0)),
        Blanks(4 * depth),
        sanitize(&field.type_name),
    )
}

/// As C does it, zero goes without 0x.
fn number(value: u64) -> String {
    if value == 0 {
        "0".to_owned()
    } else {
        format!("{value:#x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_in_what_holds_them() {
        let field = |depth, name: &str, ty: &str, (offset, size), has_fields| DataField {
            depth,
            name: (!name.is_empty()).then(|| name.to_owned()),
            type_name: ty.into(),
            offset,
            size: Some(size),
            has_fields,
        };
        let fields = vec![
            field(0, "key", "long int", (0, 8), false),
            field(0, "in", "struct inner", (8, 8), true),
            field(1, "", "union ", (8, 4), true),
            field(2, "u", "int", (8, 4), false),
            field(0, "few:3", "unsigned int", (16, 1), false),
        ];
        let layout = DataLayout {
            name: "struct s".into(),
            size: Some(24),
            fields,
        };
        let weight = |samples| SampleTotals {
            samples,
            period: samples * 10,
            ..SampleTotals::default()
        };
        // Several places of the code work on the same bytes.
        let cost = DataCost::new("cycles", [(8, weight(1)), (0, weight(1)), (8, weight(2))]);
        let text = |costs, column| {
            let mut out = Vec::new();
            let shown = AnnotatedData {
                layout: &layout,
                object: "/bin/x",
                costs,
                column,
            };
            data_type(&mut out, &shown).unwrap();
            String::from_utf8(out).unwrap()
        };
        let expected = "\
Annotate type: 'struct s' in /bin/x (4 samples):
============================================================================
 Percent     offset       size  field
  100.00          0       0x18  struct s\t {
   25.00          0        0x8      long int\tkey;
   75.00        0x8        0x8      struct inner\tin {
   75.00        0x8        0x4          union \t {
   75.00        0x8        0x4              int\tu;
                                        };
                                    };
    0.00       0x10        0x1      unsigned int\tfew:3;
                                };

";
        assert_eq!(text(vec![cost.clone()], Column::Percent), expected);
        let two = text(vec![cost, DataCost::new("faults", [])], Column::Samples);
        let head: Vec<&str> = two.lines().skip(1).take(5).collect();
        let expected = [
            " event[0] = cycles",
            " event[1] = faults",
            "============================================================================",
            "         Samples     offset       size  field",
            "       4       0          0       0x18  struct s\t {",
        ];
        assert_eq!(head, expected);
    }
}
