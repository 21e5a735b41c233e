//! Recordings in text notation become tables.

mod docs;
#[cfg(feature = "parquet")]
mod folder;
mod rows;

use std::sync::Arc;

use oxperf_columns::schema::{ColumnSchema, PROFILE, SAMPLES, TableSchema};
use oxperf_columns::{
    ColumnsError, RecordingFacts, RowSink, StackColumns, TableOptions, TableRows, Values,
    write_tables,
};
use oxperf_data::Reader;
use oxperf_machine::{Dso, DsoKind, Objects};
use oxperf_query::{Filter, SymbolOptions};
use oxperf_resolve::SymbolSource;
use oxperf_symbols::{Demangling, SymbolTable, kallsyms_table};
use oxperf_testkit::Recording;

const RECORDING: &str = "
event cycles sample=IP|TID|TIME|CPU|CALLCHAIN|PERIOD flags=sample_id_all
mmap mode=kernel pid=-1 tid=0 0xffffffff81000000+0x1000@0xffffffff81000000 [kernel.kallsyms]_text
comm pid=7 tid=7 reader
mmap2 mode=user pid=7 tid=7 0x400000+0x1000@0 prot=5 flags=2 /bin/reader
sample mode=kernel ip=0xffffffff81000210 pid=7 tid=7 time=100 cpu=0 period=1 chain=kernel,0xffffffff81000210,0xffffffff81000110,user,0x400100
sample mode=kernel ip=0xffffffff81000220 pid=7 tid=7 time=200 cpu=1 period=2 chain=kernel,0xffffffff81000220,0xffffffff81000120,user,0x400200
sample mode=user ip=0x400300 pid=7 tid=7 time=300 cpu=1 period=4 chain=user,0x400300,0x400100
sample mode=user ip=0x900300 pid=7 tid=7 time=400 cpu=1 period=8 chain=user,0x900300
";

/// Names the kernel only.
struct KernelOnly;

impl SymbolSource for KernelOnly {
    fn table(&self, dso: &Dso, _: &Objects) -> Option<Arc<SymbolTable>> {
        let list = b"ffffffff81000100 T do_syscall_64\nffffffff81000200 T vfs_read\nffffffff81000300 T end\n";
        (dso.kind == DsoKind::Kernel).then(|| Arc::new(kallsyms_table(list, None, Demangling::Off)))
    }
}

/// What of a recording becomes rows.
struct Wanted<'w> {
    samples: &'static TableSchema,
    columns: &'w dyn Fn(&ColumnSchema) -> bool,
    stacks: Option<StackColumns>,
    event: Option<&'static str>,
}

impl Wanted<'static> {
    const ALL: Wanted<'static> = Wanted {
        samples: &SAMPLES,
        columns: &|_| true,
        stacks: Some(StackColumns {
            inlined: false,
            lines: false,
            addresses: false,
        }),
        event: None,
    };
    const LEAVES: Wanted<'static> = Wanted {
        samples: &PROFILE,
        columns: &|column| ["period", "symbol"].contains(&column.name),
        stacks: None,
        event: None,
    };
}

fn make<T: RowSink>(recording: &str, wanted: &Wanted<'_>, sink: T) -> T {
    let file = Recording::parse(recording).unwrap().to_file();
    let reader = Reader::open(&file).unwrap();
    let facts = RecordingFacts::of(&reader, "perf.data", None);
    let options = TableOptions {
        samples: wanted.samples,
        wants: wanted.columns,
        max_stack: 127,
        stacks: wanted.stacks,
        filter: &Filter::default(),
        event: wanted.event,
        whole: true,
        symbols: &SymbolOptions::default(),
        trace: None,
        progress: None,
    };
    write_tables(&reader, &facts, &KernelOnly, &options, sink)
        .unwrap()
        .1
}

/// Keeps the rows as lines of text, `table: column=value ...`.
#[derive(Default)]
struct Lines(Vec<String>);

impl Lines {
    fn of(&self, table: &str) -> Vec<&str> {
        let prefix = format!("{table}: ");
        let lines = self.0.iter().filter_map(|line| line.strip_prefix(&prefix));
        lines.collect()
    }
}

impl RowSink for Lines {
    fn take(&mut self, rows: &TableRows) -> Result<(), ColumnsError> {
        for row in 0..rows.len() {
            let cells = rows.columns().map(|(schema, column)| {
                let is_null = column.present.as_ref().is_some_and(|present| !present[row]);
                let range = match &column.ends {
                    Some(ends) => {
                        let start = row.checked_sub(1).map_or(0, |before| ends[before]);
                        start as usize..ends[row] as usize
                    }
                    None => row..row + 1,
                };
                let value = range.map(|place| value(&column.values, place));
                let value = match is_null {
                    true => "NULL".to_owned(),
                    false => value.collect::<Vec<_>>().join(";"),
                };
                format!("{}={value}", schema.name)
            });
            let cells = cells.collect::<Vec<_>>().join(" ");
            self.0.push(format!("{}: {cells}", rows.table().name));
        }
        Ok(())
    }
}

fn value(values: &Values, place: usize) -> String {
    match values {
        Values::Int32(values) => values[place].to_string(),
        Values::Int64(values) => values[place].to_string(),
        Values::Bool(values) => values[place].to_string(),
        Values::Text(codes, texts) => texts.list()[codes[place] as usize].to_string(),
    }
}
