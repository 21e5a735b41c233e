//! The text of what was counted of threads until they ended.

use std::borrow::Cow;
use std::io::{self, Write};

use oxperf_analysis::counters::ThreadCounters;

use crate::text::padding::Right;
use crate::text::sanitize;

/// The layout of the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CounterLayout {
    /// A line for each thread, a column for each event.
    #[default]
    Columns,
    /// A line for each value.
    Lines,
}

/// Writes the values below a heading. `name` gives the name of an event.
pub fn write(
    out: &mut dyn Write,
    counters: &ThreadCounters,
    name: impl Fn(usize) -> String,
    layout: CounterLayout,
) -> io::Result<()> {
    let names: Vec<String> = counters.events.iter().map(|&event| name(event)).collect();
    let names: Vec<Cow<'_, str>> = names.iter().map(|name| sanitize(name)).collect();
    let table = match layout {
        CounterLayout::Columns => columns(counters, &names),
        CounterLayout::Lines => lines(counters, &names),
    };
    let mut widths: Vec<usize> = Vec::new();
    for row in &table {
        widths.resize(widths.len().max(row.len()), 0);
        widths
            .iter_mut()
            .zip(row)
            .for_each(|(width, cell)| *width = cell.len().max(*width));
    }
    for (nth, row) in table.iter().enumerate() {
        out.write_all(if nth == 0 { b"#" } else { b" " })?;
        for (place, (cell, width)) in row.iter().zip(&widths).enumerate() {
            out.write_all(if place == 0 { b" " } else { b"  " })?;
            write!(out, "{}", Right(cell, *width))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

type Cells = Vec<String>;

fn columns(counters: &ThreadCounters, names: &[Cow<'_, str>]) -> Vec<Cells> {
    let heading = ["PID", "TID"]
        .map(str::to_owned)
        .into_iter()
        .chain(names.iter().map(ToString::to_string));
    let rows = counters.threads.iter().map(|thread| {
        let values = (0..names.len()).map(|nth| thread.values.get(nth).copied().unwrap_or(0));
        [thread.pid.0.to_string(), thread.tid.0.to_string()]
            .into_iter()
            .chain(values.map(|value| value.to_string()))
            .collect()
    });
    std::iter::once(heading.collect()).chain(rows).collect()
}

fn lines(counters: &ThreadCounters, names: &[Cow<'_, str>]) -> Vec<Cells> {
    let mut table = vec![
        ["PID", "TID", "Name", "Raw", "Count"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for thread in &counters.threads {
        for (nth, (name, event)) in names.iter().zip(&counters.events).enumerate() {
            let value = thread.values.get(nth).copied().unwrap_or(0);
            table.push(vec![
                thread.pid.0.to_string(),
                thread.tid.0.to_string(),
                name.to_string(),
                format!("{event:x}"),
                value.to_string(),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{Pid, Tid};

    #[test]
    fn columns_are_as_wide_as_they_need() {
        let mut counters = ThreadCounters::default();
        counters.add(Pid(5606), Tid(5611), 0, 37_805_324);
        counters.add(Pid(5606), Tid(5606), 0, 5_088_597);
        let mut text = Vec::new();
        write(
            &mut text,
            &counters,
            |_| "cycles".to_owned(),
            CounterLayout::Columns,
        )
        .unwrap();
        let expected = "#  PID   TID    cycles\n  5606  5611  37805324\n  5606  5606   5088597\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
