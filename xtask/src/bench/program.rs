//! A C++ program with debug information, whose functions are inlined in each other many times over: what names are looked
//! up in.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Units; each has its own copies of the templates.
const UNITS: usize = 24;

const SHARED: &str = include_str!("program/shared.h");
const UNIT: &str = include_str!("program/unit.cpp");
const MAIN: &str = include_str!("program/main.cpp");

/// Builds the program once; `None` where there is no C++ compiler.
pub(super) fn build(folder: &Path) -> Result<Option<PathBuf>> {
    let sources = folder.join("program");
    let program = sources.join("program");
    if program.is_file() {
        return Ok(Some(program));
    }
    let mut compiler = Command::new("c++");
    let found = compiler
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !found.is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    std::fs::create_dir_all(&sources)?;
    std::fs::write(sources.join("shared.h"), SHARED)?;
    std::fs::write(sources.join("main.cpp"), main_text())?;
    compile(&sources, "main.cpp", "main.o")?;
    for unit in 0..UNITS {
        let (source, object) = (format!("unit{unit}.cpp"), format!("unit{unit}.o"));
        std::fs::write(
            sources.join(&source),
            UNIT.replace("NUMBER", &unit.to_string()),
        )?;
        compile(&sources, &source, &object)?;
    }
    link(&sources, &program)?;
    Ok(Some(program))
}

fn main_text() -> String {
    let declared =
        (0..UNITS).map(|unit| format!("namespace part{unit} {{ double run(unsigned); }}\n"));
    let called = (0..UNITS).map(|unit| format!("        sum += part{unit}::run(seed + {unit});\n"));
    MAIN.replace("// DECLARATIONS\n", &declared.collect::<String>())
        .replace("        // CALLS\n", &called.collect::<String>())
}

fn compile(folder: &Path, source: &str, object: &str) -> Result<()> {
    run(
        folder,
        &["-O2", "-g", "-std=c++17", "-c", source, "-o", object],
    )
}

/// The program takes its name when it is whole.
fn link(folder: &Path, program: &Path) -> Result<()> {
    let objects: Vec<String> = (0..UNITS).map(|unit| format!("unit{unit}.o")).collect();
    let mut words: Vec<&str> = objects.iter().map(String::as_str).collect();
    words.extend(["main.o", "-Wl,--build-id", "-o", "unfinished"]);
    run(folder, &words)?;
    std::fs::rename(folder.join("unfinished"), program).context("the program that was built")
}

fn run(folder: &Path, words: &[&str]) -> Result<()> {
    let status = Command::new("c++")
        .args(words)
        .current_dir(folder)
        .status()
        .context("c++")?;
    ensure!(status.success(), "c++ {} failed", words.join(" "));
    Ok(())
}
