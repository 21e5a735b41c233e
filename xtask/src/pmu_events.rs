//! `pmu-events`: packs the tables of events of `../shared/pmu-events/facts` into the file that the program holds.
//!
//! The facts are names, numbers and topics of events; docs/pmu-events.md says where they come from. They are not part of
//! the project, the packed file is. `--check` compares it with what the facts give.

mod facts;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use oxperf_pmu_events::packed;

use crate::args::Args;
use crate::workspace;

/// Packs the facts, or checks the packed file.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let check = args.flag("--check");
    let folder = args.value("--facts")?.map(PathBuf::from);
    args.finish()?;
    let folder = folder.or_else(facts_folder);
    let folder = folder.context("no ../shared/pmu-events/facts; name a folder with --facts")?;
    let packed = pack(&folder)?;
    if check {
        check_file(&packed)?;
    } else {
        std::fs::write(packed_file(), &packed)?;
    }
    println!("pmu-events: {} bytes", packed.len());
    Ok(ExitCode::SUCCESS)
}

fn facts_folder() -> Option<PathBuf> {
    let folder = workspace::shared()?.join("pmu-events/facts");
    folder.is_dir().then_some(folder)
}

fn packed_file() -> PathBuf {
    workspace::root().join("crates/pmu-events/src/builtin/tables.bin")
}

fn pack(folder: &Path) -> Result<Vec<u8>> {
    let (mapfile, models) = facts::read(folder)?;
    Ok(packed::write(&mapfile, &models)?)
}

fn check_file(packed: &[u8]) -> Result<()> {
    let file = packed_file();
    let held = std::fs::read(&file).with_context(|| file.display().to_string())?;
    if held != packed {
        bail!(
            "{} is not what the facts give: cargo xtask pmu-events",
            file.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packed_file_is_that_of_the_facts() {
        match facts_folder() {
            Some(folder) => check_file(&pack(&folder).unwrap()).unwrap(),
            None => eprintln!("skipped: no ../shared/pmu-events/facts"),
        }
    }
}
