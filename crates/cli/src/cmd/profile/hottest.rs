//! The table of the functions where most of the time went.

use std::io::{self, IsTerminal};

use oxperf_analysis::hist::{HistOptions, Table, histograms};
use oxperf_present::top_table::{HotOthers, HotRow, HotStyle, HotTable, NextStep};
use oxperf_profile::Profile;

use crate::failure::Failure;
use crate::{environment, output};

/// Prints the `max_rows` hottest functions of each event, with losses and the commands that look further.
pub(super) fn print(
    profile: &Profile,
    max_rows: usize,
    lost: &[String],
    next: &[NextStep<'_>],
) -> Result<(), Failure> {
    let options = HistOptions {
        children: false,
        group: false,
        ..HistOptions::default()
    };
    let mut output = output::stdout();
    for table in histograms(profile, &options) {
        let event = &profile.events[table.events[0]];
        if event.sample_count == 0 && profile.events.len() > 1 {
            continue;
        }
        let rows: Vec<HotRow> = (0..max_rows)
            .map_while(|row| hot_row(profile, &table, row))
            .collect();
        let hot = HotTable {
            event: &event.name,
            samples: event.sample_count,
            value: event.period_total,
            rows: &rows,
            others: others(&table, max_rows),
            lost,
            next,
        };
        hot.write(&style(), &mut output)?;
    }
    output.finish()?;
    Ok(())
}

fn hot_row(profile: &Profile, table: &Table, index: usize) -> Option<HotRow> {
    let row = table.row(index)?;
    let own = table
        .cells(index)
        .first()
        .map(|cell| cell.own)
        .unwrap_or_default();
    let frame = profile.frames[row.frame.index()];
    let symbol = frame
        .symbol
        .map(|symbol| profile.symbols[symbol.index()].name.clone());
    let dso = frame.dso.map(|dso| profile.dsos[dso.index()].short.clone());
    Some(HotRow {
        samples: own.samples,
        value: own.period,
        comm: profile.comms[row.comm.index()].clone(),
        dso: dso.unwrap_or_else(|| "[unknown]".to_owned()),
        level: row.level.letter(),
        symbol: symbol.unwrap_or_else(|| format!("{:#018x}", row.address)),
    })
}

/// The sum of the rows below the first `max_rows`.
fn others(table: &Table, max_rows: usize) -> Option<HotOthers> {
    let rest = max_rows..table.len();
    let functions = rest.len() as u64;
    let value = rest
        .filter_map(|row| table.cells(row).first())
        .map(|cell| cell.own.period)
        .sum();
    (functions > 0).then_some(HotOthers { functions, value })
}

fn style() -> HotStyle {
    let out = io::stdout();
    if !out.is_terminal() {
        return HotStyle::PLAIN;
    }
    HotStyle {
        width: oxperf_sys::terminal::width(&out),
        colour: environment::wants_colour(),
        bars: true,
    }
}
