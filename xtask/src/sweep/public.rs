//! Every public recording through the readers: any of them may be refused, none may crash us.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{LIMITS, Options, parallel};
use crate::process::{Ended, Job, read_maybe_zstd};

/// The commands that read a whole file.
const COMMANDS: [&[&str]; 3] = [&["report", "--header-only"], &["script"], &["report", "--stdio"]];

/// How one file fared with one command.
enum Fate {
    Read,
    /// Exit 255 and one line that says why.
    Refused(String),
    Bad(String),
}

/// Runs all commands over all files and prints a summary; `false` when one misbehaved.
pub(super) fn sweep(options: &Options) -> Result<bool> {
    let files = recordings(&options.shared.join("fixtures/public"), &options.filter)?;
    let fates = parallel(options.jobs, &files, |index, file| {
        let fates = try_file(file, index, options);
        fates.unwrap_or_else(|error| vec![Fate::Bad(format!("{error:#}"))])
    });
    Ok(print(&files, &fates))
}

/// The `stored_as` column of every perf.data in the index.
fn recordings(public: &Path, filter: &str) -> Result<Vec<PathBuf>> {
    let index = public.join("INDEX.tsv");
    let text = std::fs::read_to_string(&index).with_context(|| index.display().to_string())?;
    let rows = text.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    let is_recording = |row: &Vec<&str>| row.get(3).is_some_and(|kind| kind.contains("perf.data"));
    let named = rows.filter(is_recording).filter_map(|row| row.get(1).map(|name| (*name).to_owned()));
    Ok(named
        .filter(|name| name.contains(filter))
        .map(|name| public.join(name))
        .filter(|path| path.is_file())
        .collect())
}

fn try_file(file: &Path, index: usize, options: &Options) -> Result<Vec<Fate>> {
    let folder = options.scratch.join(format!("public-{index}"));
    std::fs::create_dir_all(&folder)?;
    let input = if file.extension().is_some_and(|extension| extension == "zst") {
        let unpacked = folder.join("perf.data");
        std::fs::write(&unpacked, read_maybe_zstd(file)?)?;
        unpacked
    } else {
        file.to_path_buf()
    };
    let fates = COMMANDS.iter().map(|words| try_command(words, &input, &folder, options)).collect();
    std::fs::remove_dir_all(&folder)?;
    fates
}

fn try_command(words: &[&str], input: &Path, folder: &Path, options: &Options) -> Result<Fate> {
    let mut args: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    args.extend(["-i".to_owned(), input.display().to_string()]);
    let stderr = folder.join("stderr");
    let job = Job {
        program: &options.binary,
        args: &args,
        folder,
        home: folder,
        stdout: folder.join("stdout"),
        stderr: stderr.clone(),
    };
    let ended = job.run(LIMITS)?;
    Ok(judge(&ended, &String::from_utf8_lossy(&std::fs::read(&stderr)?)))
}

fn judge(ended: &Ended, stderr: &str) -> Fate {
    let reason = stderr.lines().find(|line| !line.trim().is_empty());
    match (ended.crash(), ended.status.code(), reason) {
        (Some(crash), ..) => Fate::Bad(format!("{crash}: {}", reason.unwrap_or("no message"))),
        (None, Some(0), _) => Fate::Read,
        (None, Some(255), Some(reason)) => Fate::Refused(reason.to_owned()),
        (None, Some(255), None) => Fate::Bad("exit 255 without a reason".to_owned()),
        (None, code, _) => Fate::Bad(format!("exit {code:?}: {}", reason.unwrap_or("no message"))),
    }
}

fn print(files: &[PathBuf], fates: &[Vec<Fate>]) -> bool {
    let (mut read, mut refused, mut bad) = (0, 0, 0);
    for (file, fates) in files.iter().zip(fates) {
        for (command, fate) in COMMANDS.iter().zip(fates) {
            match fate {
                Fate::Read => read += 1,
                Fate::Refused(_) => refused += 1,
                Fate::Bad(_) => bad += 1,
            }
            print_fate(file, command, fate);
        }
    }
    println!(
        "\npublic fixtures, {} files: {read} runs read, {refused} refused with a reason, {bad} BAD",
        files.len()
    );
    bad == 0
}

fn print_fate(file: &Path, command: &[&str], fate: &Fate) {
    let (file, command) = (file.display(), command.join(" "));
    match fate {
        Fate::Read => {}
        Fate::Refused(reason) => println!("refused  {command:<20} {file}: {reason}"),
        Fate::Bad(why) => println!("BAD      {command:<20} {file}: {why}"),
    }
}
