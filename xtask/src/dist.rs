//! `dist`: what people install. A static program, manual pages, completions and documents, as an archive and as a package for
//! Debian, in `target/dist`. The same sources give the same bytes: times are those of the last commit, or of
//! `SOURCE_DATE_EPOCH`.

mod debian;
mod stage;
mod symbols;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use crate::args::Args;
use crate::process::in_path;
use crate::workspace;

/// The target whose programs need no library.
const TARGET: &str = "x86_64-unknown-linux-musl";

/// What a release is called, and when it was made.
pub(crate) struct Release {
    /// The version, as `0.1.0`.
    pub(crate) version: String,
    /// Seconds since 1970, for every file.
    pub(crate) epoch: u64,
    /// The same as a day, `2026-11-23`.
    pub(crate) date: String,
}

/// Builds and packs. `--bin F` packs a program that is built; `--profile P` builds with another profile.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let built = args.value("--bin")?.map(PathBuf::from);
    let profile = args.value("--profile")?;
    args.finish()?;
    let program = match built {
        Some(path) => path,
        None => build(profile.as_deref().unwrap_or("release"))?,
    };
    let release = release()?;
    let folder = workspace::scratch("dist")?;
    let root = stage::make(&program, &folder, &release)?;
    let package = debian::build(&root, &folder, &release)?;
    let archive = archive(&root, &folder, &release)?;
    for path in [package, archive] {
        println!(
            "{} ({} bytes)",
            path.display(),
            std::fs::metadata(&path)?.len()
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the static program; says what is missing for it.
fn build(profile: &str) -> Result<PathBuf> {
    ensure!(
        in_path("musl-gcc").is_some() || std::env::var_os("CC_x86_64_unknown_linux_musl").is_some(),
        "no C compiler for {TARGET}: apt install musl-tools, or name one in CC_x86_64_unknown_linux_musl"
    );
    // Does nothing where the target is there, and is not needed where it came another way.
    let _ = Command::new("rustup")
        .args(["target", "add", TARGET])
        .status();
    let status = workspace::cargo()
        .args([
            "build",
            "--package",
            "oxperf",
            "--target",
            TARGET,
            "--profile",
            profile,
        ])
        .status()?;
    ensure!(status.success(), "the build for {TARGET} failed");
    let folder = if profile == "dev" { "debug" } else { profile };
    Ok(workspace::target_dir()
        .join(TARGET)
        .join(folder)
        .join("oxperf"))
}

fn release() -> Result<Release> {
    let metadata = workspace::metadata()?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let package = packages.iter().find(|package| package["name"] == "oxperf");
    let version = package.and_then(|package| package["version"].as_str());
    let epoch = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(epoch) => epoch,
        Err(_) => text_of("git", &["log", "-1", "--format=%ct"], &workspace::root())?,
    };
    let epoch: u64 = epoch.trim().parse().context("SOURCE_DATE_EPOCH")?;
    let day = text_of(
        "date",
        &["-u", "-d", &format!("@{epoch}"), "+%F"],
        &workspace::root(),
    )?;
    Ok(Release {
        version: version.context("oxperf has no version")?.to_owned(),
        epoch,
        date: day.trim().to_owned(),
    })
}

/// Packs `usr/` below a folder of the release's name, its `usr` left out.
fn archive(root: &Path, folder: &Path, release: &Release) -> Result<PathBuf> {
    let name = format!("oxperf-{}-x86_64-linux", release.version);
    let path = folder.join(format!("{name}.tar.gz"));
    run_program(
        "tar",
        &[
            "--create",
            "--sort=name",
            "--owner=0",
            "--group=0",
            "--numeric-owner",
            &format!("--mtime=@{}", release.epoch),
            &format!("--transform=s,^usr,{name},"),
            "--use-compress-program=gzip -9n",
            "--file",
            &path.display().to_string(),
            "usr",
        ],
        root,
    )?;
    Ok(path)
}

/// Runs a program to its end in a folder.
pub(crate) fn run_program(name: &str, arguments: &[&str], folder: &Path) -> Result<()> {
    text_of(name, arguments, folder).map(drop)
}

/// Runs a program and returns what it prints.
pub(crate) fn text_of(name: &str, arguments: &[&str], folder: &Path) -> Result<String> {
    let output = Command::new(name)
        .args(arguments)
        .current_dir(folder)
        .output()
        .with_context(|| format!("{name} did not start"))?;
    let problem = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} failed: {}", problem.trim());
    Ok(String::from_utf8(output.stdout)?)
}
