//! A result as a flame graph: stacks with one number, or with two, between which it shows the change.

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::Path;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type, Schema};
use datafusion::error::DataFusionError;
use oxperf::sql::{Failure, print_error};
use oxperf_analysis::flame::{
    ChangedTree, FlameDso, FlameFrame, FlameKind, FlameNode, FlameTree, FlameWeight,
};
use oxperf_present::html::diff_page::DiffPage;
use oxperf_present::html::flamegraph::FlamePage;
use oxperf_present::text::unit::WeightUnit;

use crate::catalog::Catalog;
use crate::{output, statements};

/// The column of a stack's number.
const STACK_ID: &str = "stack_id";
/// The column of its functions, innermost first.
const STACK: &str = "stack";
/// The column of the thread's name, if the result has one.
const COMM: &str = "comm";
/// What stands for a function or an object that is not known.
const UNKNOWN: &str = "[unknown]";
/// What a result has to be like.
const RULE: &str = "--flame takes a result with a column stack_id, or stack (a list of names, innermost first), and one or two \
                    columns of numbers; a column comm becomes the outermost level";

/// A page to be written.
pub(crate) struct Page<'p> {
    pub(crate) catalog: &'p Catalog,
    pub(crate) path: &'p Path,
    /// A sentence for each kind of loss.
    pub(crate) losses: &'p [String],
}

/// The columns of a result that make the graph.
struct GraphColumns {
    stack: usize,
    comm: Option<usize>,
    numbers: Vec<usize>,
}

/// A frame of a stack: function and object.
type FrameNames = (String, Option<String>);

impl Page<'_> {
    /// Writes the page.
    ///
    /// # Errors
    /// The result is none of stacks, their names cannot be read, or the file cannot be written.
    pub(crate) async fn write(
        &self,
        schema: &Schema,
        batches: &[RecordBatch],
    ) -> Result<(), Failure> {
        let columns = GraphColumns::of(schema)?;
        let stacks = match schema.field(columns.stack).name() == STACK_ID {
            true => Some(
                self.stacks()
                    .await
                    .map_err(|error| Failure::new(statements::root(&error)))?,
            ),
            false => None,
        };
        let mut trees: Vec<TreeBuilder> = columns
            .numbers
            .iter()
            .map(|_| TreeBuilder::default())
            .collect();
        let mut left_out = LeftOut::default();
        for batch in batches {
            add(batch, &columns, stacks.as_ref(), &mut trees, &mut left_out)
                .map_err(|error| Failure::new(format!("{error}: {RULE}")))?;
        }
        left_out.warn();
        if trees.iter().all(|tree| tree.tree.nodes.is_empty()) {
            print_error("Warning:\nno row has a stack and a number above 0: the page is empty");
        }
        let names: Vec<&str> = columns
            .numbers
            .iter()
            .map(|place| schema.field(*place).name().as_str())
            .collect();
        self.write_trees(trees.into_iter().map(TreeBuilder::finish).collect(), &names)
    }

    /// Numbers are shown as they are: what a column counts, samples or nanoseconds or thousands of them, only its name tells.
    fn write_trees(&self, mut trees: Vec<FlameTree>, names: &[&str]) -> Result<(), Failure> {
        let mut file = BufWriter::with_capacity(1 << 20, output::file(self.path)?);
        match (trees.as_mut_slice(), names) {
            ([old, new], [before, after]) => {
                [&mut *old, &mut *new].into_iter().for_each(|tree| {
                    tree.fold(FlamePage::MAX_NODES / 2);
                });
                let changed = ChangedTree::new(old, new);
                DiffPage {
                    title: &format!("{before} → {after}"),
                    subtitle: "both as 100%",
                    unit: WeightUnit::Count(after),
                    lost: self.losses,
                    changed: &changed,
                }
                .write(&mut file)?;
            }
            ([tree], [name]) => {
                tree.fold(FlamePage::MAX_NODES);
                FlamePage {
                    title: name,
                    subtitle: "of oxperf query",
                    unit: WeightUnit::Count(name),
                    lost: self.losses,
                    tree,
                }
                .write(&mut file)?;
            }
            _ => return Err(Failure::new(RULE)),
        }
        file.flush()?;
        print_error(&format!("{}: open it in a browser", self.path.display()));
        Ok(())
    }

    /// The frames of all stacks.
    async fn stacks(&self) -> Result<HashMap<i64, Vec<FrameNames>>, DataFusionError> {
        let _readings = self.catalog.begin_statement();
        let sql = "SELECT stack_id, symbols, dsos FROM stacks";
        let batches = self.catalog.context.sql(sql).await?.collect().await?;
        let mut stacks = HashMap::new();
        for batch in &batches {
            let ids = batch.column(0).as_primitive::<Int64Type>();
            let (symbols, dsos) = (
                batch.column(1).as_list::<i32>(),
                batch.column(2).as_list::<i32>(),
            );
            for row in 0..batch.num_rows() {
                let (symbols, dsos) = (symbols.value(row), dsos.value(row));
                let (symbols, dsos) = (symbols.as_string_view(), dsos.as_string_view());
                let frames = symbols.iter().zip(dsos.iter());
                let frames = frames.map(|(symbol, dso)| {
                    (
                        symbol.unwrap_or_default().to_owned(),
                        dso.map(str::to_owned),
                    )
                });
                stacks.insert(ids.value(row), frames.collect());
            }
        }
        Ok(stacks)
    }
}

impl GraphColumns {
    fn of(schema: &Schema) -> Result<GraphColumns, Failure> {
        let fields = || schema.fields().iter().enumerate();
        let is_stack = |name: &str, kind: &DataType| match (name, kind) {
            (STACK_ID, DataType::Int64) => true,
            (STACK, DataType::List(item)) => item.data_type().is_string(),
            _ => false,
        };
        let stack = fields().find(|(_, field)| is_stack(field.name(), field.data_type()));
        let numbers = fields().filter(|(place, field)| {
            field.data_type().is_numeric() && stack.is_none_or(|(stack, _)| stack != *place)
        });
        let numbers: Vec<usize> = numbers.map(|(place, _)| place).collect();
        let comm =
            fields().find(|(_, field)| field.name() == COMM && field.data_type().is_string());
        match (stack, numbers.len()) {
            (Some((stack, _)), 1 | 2) => Ok(GraphColumns {
                stack,
                comm: comm.map(|(place, _)| place),
                numbers,
            }),
            _ => Err(Failure::new(RULE)),
        }
    }
}

/// Rows that are not in the graph as they are in the result.
#[derive(Debug, Default, PartialEq, Eq)]
struct LeftOut {
    /// Rows whose stack is not known.
    unknown: usize,
    /// Numbers that make no box: negative ones, and those that round to nothing.
    small: usize,
}

impl LeftOut {
    /// The weight of a number; no box is smaller than 1.
    fn weight(&mut self, number: f64) -> u64 {
        let weight = number.round().max(0.0) as u64;
        self.small += usize::from(weight == 0 && number != 0.0);
        weight
    }

    fn warn(&self) {
        let LeftOut { unknown, small } = self;
        if *unknown > 0 {
            print_error(&format!(
                "Warning:\n{unknown} rows have a stack_id that no table of stacks has"
            ));
        }
        if *small > 0 {
            print_error(&format!(
                "Warning:\n{small} numbers are negative or round to 0 and are not in the graph; multiply shares to make \
                 them whole numbers"
            ));
        }
    }
}

/// Adds rows to the trees.
fn add(
    batch: &RecordBatch,
    columns: &GraphColumns,
    stacks: Option<&HashMap<i64, Vec<FrameNames>>>,
    trees: &mut [TreeBuilder],
    left_out: &mut LeftOut,
) -> Result<(), DataFusionError> {
    let stack = batch.column(columns.stack);
    let comm = columns
        .comm
        .map(|place| cast(batch.column(place), &DataType::Utf8View))
        .transpose()?;
    let numbers = columns.numbers.iter();
    let numbers = numbers.map(|place| cast(batch.column(*place), &DataType::Float64));
    let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
    let own_names = match stacks {
        Some(_) => None,
        None => Some(cast(stack, &DataType::new_list(DataType::Utf8View, true))?),
    };
    for row in 0..batch.num_rows() {
        let listed;
        let frames: &[FrameNames] = match (stacks, &own_names) {
            (Some(stacks), _) => {
                let id = stack.as_primitive::<Int64Type>();
                let found = (!id.is_null(row))
                    .then(|| stacks.get(&id.value(row)))
                    .flatten();
                left_out.unknown += usize::from(found.is_none());
                found.map_or(&[], Vec::as_slice)
            }
            (None, Some(lists)) => {
                let names = lists.as_list::<i32>().value(row);
                let names = names.as_string_view().iter();
                listed = names
                    .map(|name| (name.unwrap_or_default().to_owned(), None))
                    .collect::<Vec<_>>();
                &listed
            }
            (None, None) => &[],
        };
        let comm = comm.as_ref().map(|comm| comm.as_string_view().value(row));
        for (tree, numbers) in trees.iter_mut().zip(&numbers) {
            let numbers = numbers.as_primitive::<Float64Type>();
            // A NULL is no weight.
            if !numbers.is_null(row) {
                tree.add(comm, frames, left_out.weight(numbers.value(row)));
            }
        }
    }
    Ok(())
}

/// A tree that stacks are added to.
#[derive(Default)]
struct TreeBuilder {
    tree: FlameTree,
    names: HashMap<String, u32>,
    dsos: HashMap<String, u32>,
    frames: HashMap<FlameFrame, u32>,
    children: HashMap<(Option<u32>, u32), u32>,
}

/// The number of a key: its own, else the next one.
fn number<K: std::hash::Hash + Eq>(
    known: &mut HashMap<K, u32>,
    key: K,
    next: usize,
) -> (u32, bool) {
    let next = next as u32;
    let number = *known.entry(key).or_insert(next);
    (number, number == next)
}

impl TreeBuilder {
    fn add(&mut self, comm: Option<&str>, frames: &[FrameNames], weight: u64) {
        if weight == 0 || (frames.is_empty() && comm.is_none()) {
            return;
        }
        let thread = comm.map(|comm| self.frame(comm, None, FlameKind::Thread));
        let mut place = thread.map(|frame| self.node(None, frame));
        for (symbol, dso) in frames.iter().rev() {
            let is_unresolved = symbol.starts_with('[') && symbol.ends_with(']');
            let frame = match is_unresolved {
                true => {
                    let dso = dso.as_deref().filter(|dso| *dso != UNKNOWN);
                    self.frame(UNKNOWN, dso, FlameKind::Unresolved)
                }
                false => self.frame(symbol, dso.as_deref(), FlameKind::Function),
            };
            place = Some(self.node(place, frame));
        }
        if let Some(node) = place.and_then(|place| self.tree.nodes.get_mut(place as usize)) {
            // Rows are sums of samples, and not how many.
            node.own.add(FlameWeight {
                value: weight,
                samples: 0,
            });
        }
    }

    fn frame(&mut self, name: &str, dso: Option<&str>, kind: FlameKind) -> u32 {
        let tree = &mut self.tree;
        let (name_number, is_new) = number(&mut self.names, name.to_owned(), tree.names.len());
        if is_new {
            tree.names.push(name.to_owned());
        }
        let dso = dso.map(|dso| {
            let (place, is_new) = number(&mut self.dsos, dso.to_owned(), tree.dsos.len());
            if is_new {
                tree.dsos.push(FlameDso {
                    name: dso.to_owned(),
                    path: dso.to_owned(),
                    kernel: is_kernel(dso),
                });
            }
            place
        });
        let frame = FlameFrame {
            name: name_number,
            dso,
            kind,
        };
        let (place, is_new) = number(&mut self.frames, frame, tree.frames.len());
        if is_new {
            tree.frames.push(frame);
        }
        place
    }

    fn node(&mut self, parent: Option<u32>, frame: u32) -> u32 {
        let (place, is_new) = number(&mut self.children, (parent, frame), self.tree.nodes.len());
        if is_new {
            let (own, total) = (FlameWeight::default(), FlameWeight::default());
            self.tree.nodes.push(FlameNode {
                parent,
                frame,
                own,
                total,
            });
        }
        place
    }

    fn finish(mut self) -> FlameTree {
        self.tree.sum_totals();
        self.tree
    }
}

/// Objects of the kernel by their names: it and its modules stand in brackets, as do some parts of programs.
fn is_kernel(dso: &str) -> bool {
    let of_programs = [
        "[vdso",
        "[vsyscall",
        "[unknown",
        "[heap",
        "[stack",
        "[anon",
        "[JIT",
    ];
    dso.starts_with('[') && !of_programs.iter().any(|known| dso.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_become_a_tree() {
        let frame = |name: &str| (name.to_owned(), Some("a.out".to_owned()));
        let mut builder = TreeBuilder::default();
        builder.add(Some("sh"), &[frame("work"), frame("main")], 5);
        builder.add(Some("sh"), &[frame("main")], 2);
        builder.add(None, &[], 7);
        let tree = builder.finish();
        let totals: Vec<u64> = tree.nodes.iter().map(|node| node.total.value).collect();
        assert_eq!(totals, [7, 7, 5]);
        assert_eq!(tree.names, ["sh", "main", "work"]);
        assert_eq!(tree.dsos.len(), 1);
    }

    #[test]
    fn numbers_that_make_no_box_are_counted() {
        let mut left_out = LeftOut::default();
        let weights = [0.0, 0.4, -3.0, 0.5, 7.2, f64::NAN].map(|number| left_out.weight(number));
        assert_eq!(weights, [0, 0, 0, 1, 7, 0]);
        assert_eq!(
            left_out,
            LeftOut {
                unknown: 0,
                small: 3
            }
        );
    }
}
