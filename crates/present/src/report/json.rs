//! A report as JSON: what `docs/json.md` calls `oxperf-report`.

use std::io::{self, Write};

use oxperf_analysis::hist::{CallTree, Cell, SortKey, Table};
use oxperf_profile::{EventProfile, Profile};

use super::percent::Percents;
use super::values::{Value, frame_name, value_or_address, word};
use crate::json::object::{Object, array, null, number, object, text};
use oxperf_ordered::write_in_order;

/// The content of a document beside its tables.
#[derive(Clone, Copy, Debug)]
pub struct ReportDocument<'a> {
    /// The profile of the tables.
    pub profile: &'a Profile,
    /// The keys of the rows.
    pub keys: &'a [SortKey],
    /// Rows below this part of all samples, in hundredths, are left out.
    pub min_percent: f64,
    /// The recording's file.
    pub file: &'a str,
    /// A sentence for each kind of loss.
    pub losses: &'a [String],
}

impl ReportDocument<'_> {
    /// Writes the document; give a buffered writer.
    ///
    /// # Errors
    ///
    /// Errors of the writer.
    pub fn write(&self, tables: &[Table], out: &mut dyn Write) -> io::Result<()> {
        let mut head = Vec::new();
        object(&mut head, |head| {
            head.text("format", "oxperf-report");
            head.number("version", 1);
            head.text("file", self.file);
            head.key("losses", |out| {
                array(out, self.losses, |out, loss| text(out, loss))
            });
        });
        // The object stays open for the tables.
        head.pop();
        head.extend_from_slice(b",\"tables\":[");
        out.write_all(&head)?;
        for (nth, table) in tables.iter().enumerate() {
            out.write_all(if nth == 0 { b"\n" } else { b",\n" })?;
            self.table(table, out)?;
        }
        out.write_all(b"\n]}\n")
    }

    fn table(&self, table: &Table, out: &mut dyn Write) -> io::Result<()> {
        let events: Vec<&EventProfile> = table
            .events
            .iter()
            .filter_map(|&event| self.profile.events.get(event))
            .collect();
        let mut head = Vec::new();
        object(&mut head, |head| {
            head.key("events", |out| {
                array(out, &events, |out, event| {
                    object(out, |object| write_event(event, object))
                });
            });
            head.key("children", |out| {
                out.extend_from_slice(if table.children { b"true" } else { b"false" })
            });
        });
        head.pop();
        head.extend_from_slice(b",\"rows\":[");
        out.write_all(&head)?;
        let leader = Percents::new(events.first().map_or(0, |event| event.period_total));
        let is_shown = |row: &usize| {
            table
                .cells(*row)
                .first()
                .is_some_and(|cell| leader.of(cell.all.period) >= self.min_percent)
        };
        let shown: Vec<usize> = (0..table.len()).filter(is_shown).collect();
        write_in_order(out, shown.len(), |range, buffer| {
            for nth in range {
                buffer.extend_from_slice(if nth == 0 { b"\n" } else { b",\n" });
                object(buffer, |object| self.row(table, shown[nth], object));
            }
        })?;
        out.write_all(b"\n]}")
    }

    fn row(&self, table: &Table, row: usize, out: &mut Object<'_>) {
        let Some(about) = table.row(row) else { return };
        let cells = table.cells(row);
        for &key in self.keys {
            out.key(word(self.profile, key), |out| {
                match value_or_address(self.profile, about, key) {
                    Value::Text(value) => text(out, &value),
                    Value::Number(value) => number(out, value),
                    Value::Nothing => null(out),
                }
            });
        }
        let mut numbers = |name: &str, of: fn(&Cell) -> u64| {
            out.key(name, |out| {
                array(out, cells, |out, cell| number(out, of(cell)))
            });
        };
        numbers("self_samples", |cell| cell.own.samples);
        numbers("self_periods", |cell| cell.own.period);
        if self.profile.has_latency {
            numbers("self_latencies", |cell| cell.own.latency);
        }
        if table.children {
            numbers("samples", |cell| cell.all.samples);
            numbers("periods", |cell| cell.all.period);
            if self.profile.has_latency {
                numbers("latencies", |cell| cell.all.latency);
            }
        }
        let trees = table.trees();
        let tree = trees
            .binary_search_by_key(&row, |(at, _)| *at as usize)
            .ok()
            .and_then(|at| trees.get(at));
        if let Some((_, tree)) = tree {
            out.key("call_tree", |out| self.tree(tree, out));
        }
    }

    /// The branches in an order in which each comes behind the one that it goes on from.
    fn tree(&self, tree: &CallTree, out: &mut Vec<u8>) {
        let mut open: Vec<(u32, Option<usize>)> =
            tree.roots().rev().map(|root| (root, None)).collect();
        let mut written = 0;
        out.push(b'[');
        while let Some((index, parent)) = open.pop() {
            let Some(branch) = tree.branch(index) else {
                continue;
            };
            if written > 0 {
                out.push(b',');
            }
            object(out, |object| {
                object.count("parent", parent.map(|parent| parent as u64));
                object.key("frames", |out| {
                    array(out, tree.frames(branch), |out, &frame| {
                        text(out, &frame_name(self.profile, frame))
                    });
                });
                object.number("samples", branch.total.samples);
                object.number("period", branch.total.period);
                object.number("self_samples", branch.own.samples);
                object.number("self_period", branch.own.period);
            });
            open.extend(branch.children().rev().map(|child| (child, Some(written))));
            written += 1;
        }
        out.push(b']');
    }
}

fn write_event(event: &EventProfile, out: &mut Object<'_>) {
    out.text("name", &event.name);
    out.number("samples", event.sample_count);
    out.number("period", event.period_total);
    out.number("lost_samples", event.lost);
}
