//! `peer walk|oxperf|linux-perf-data FILE`: reads a recording once, with one thread, and says what it read.
//!
//! `walk` steps over the record headers and does nothing else: what no reader can be faster than. The other two bring
//! the records into order and decode every sample; both must say the same of one file.

mod digest;
mod ours;
mod theirs;
mod walk;

use std::path::PathBuf;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [reader, file] = words.as_slice() else { bail!("peer walk|oxperf|linux-perf-data FILE") };
    let file = PathBuf::from(file);
    match reader.as_str() {
        "walk" => println!("{} records", walk::records(&file)?),
        "oxperf" => println!("{}", ours::samples(&file)?),
        "linux-perf-data" => println!("{}", theirs::samples(&file)?),
        other => bail!("no reader {other}"),
    }
    Ok(())
}
