//! Adds a recording to a folder of Parquet files: `cargo run --release -p oxperf-columns --features parquet --example export --
//! perf.data FOLDER`.

use std::path::Path;

use oxperf_columns::parquet::{ExportedRecording, Folder, StackNumbers};
use oxperf_columns::schema::SAMPLES;
use oxperf_columns::{RecordingFacts, StackColumns, TableOptions, write_tables};
use oxperf_query::{Filter, RecordingFile, SymbolOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(recording), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: export RECORDING FOLDER".into());
    };
    let file = RecordingFile::open(Path::new(&recording), false)?;
    let reader = file.reader()?;
    let symbols = SymbolOptions::default();
    let names = symbols.recorded(&reader, symbols.store()?);
    let facts = RecordingFacts::of(&reader, &recording, Some(file.modified()));
    let exported = ExportedRecording {
        recording_id: facts.id,
        part: None,
        stacks: StackNumbers::Named,
    };
    let folder = Folder::open(Path::new(&folder), exported)?;
    let options = TableOptions {
        samples: &SAMPLES,
        wants: &|_| true,
        max_stack: 127,
        stacks: Some(StackColumns::default()),
        filter: &Filter::default(),
        event: None,
        whole: true,
        symbols: &symbols,
        trace: None,
        progress: None,
    };
    let (_, folder) = write_tables(&reader, &facts, &names, &options, folder)?;
    folder.finish()?;
    Ok(())
}
