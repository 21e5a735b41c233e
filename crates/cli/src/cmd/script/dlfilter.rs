//! `--dlfilter`: the processes that filters run in.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use oxperf_dlfilter::Client;
use oxperf_itrace::Images;
use oxperf_present::text::sanitize;
use oxperf_resolve::Names;
use oxperf_script::error::ScriptError;
use oxperf_script::wrap::dlfilter::Dlfilter;

use super::arguments::DlfilterRequest;
use crate::cmd::dlfilter_helper;
use crate::failure::Failure;
use crate::output::print_line;

/// Starts the filter that is asked for. Code comes from `images`.
pub(super) fn start(
    request: &DlfilterRequest,
    names: Arc<Names<'static>>,
    images: Images,
) -> Result<Dlfilter, Failure> {
    let name = &request.name;
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = helper(&located(name))?;
    let child = command.stdin(Stdio::from(OwnedFd::from(theirs))).spawn();
    let child = child
        .map_err(|error| Failure::new(format!("cannot run the process of {name}: {error}")))?;
    // The process has its end; ours alone must not keep it open.
    drop(command);
    let client = Client::start(ours, &request.arguments);
    let client = client.map_err(|error| ScriptError::dlfilter(name, &error))?;
    Ok(Dlfilter::new(name.clone(), client, child, names, images))
}

/// This program, as the process of a filter.
fn helper(filter: &Path) -> Result<Command, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(dlfilter_helper::NAME).arg(filter);
    Ok(command)
}

/// A name alone is a file of this folder, if it is there.
fn located(name: &str) -> PathBuf {
    let here = Path::new(".").join(name);
    if !name.contains('/') && here.exists() {
        here
    } else {
        PathBuf::from(name)
    }
}

/// Lists the filters of this folder; each is loaded in a process of its own.
pub(super) fn list() -> Result<(), Failure> {
    print_line("List of available dlfilters:")?;
    let mut files: Vec<PathBuf> = std::fs::read_dir(".")?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    files.retain(|path| path.extension().is_some_and(|suffix| suffix == "so"));
    files.sort();
    for path in files {
        let output = helper(&path)?
            .arg("--describe")
            .stderr(Stdio::null())
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(line) = said.lines().next().filter(|_| output.status.success()) {
            print_line(&format!("  {:<36} {}", sanitize(&name), sanitize(line)))?;
        }
    }
    Ok(())
}
