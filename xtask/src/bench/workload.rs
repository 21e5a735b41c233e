//! The parallel build that `bench record` records: many small C files through `make -j`, or a crate through cargo.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;

const FILES: usize = 48;
const FUNCTIONS: usize = 60;

/// Writes the sources once and returns the script that builds them anew.
pub(super) fn prepare(folder: &Path) -> Result<PathBuf> {
    let sources = folder.join("workload");
    std::fs::create_dir_all(&sources)?;
    let script = if has("make") && has("cc") {
        c_project(&sources)?
    } else {
        rust_project(&sources)?
    };
    let path = sources.join("build.sh");
    std::fs::write(&path, format!("{}{script}", search_path()))?;
    Ok(path)
}

/// An installed perf may put its own folder before the search path; both tools are to build with the same programs.
fn search_path() -> String {
    format!(
        "PATH='{}'; export PATH\n",
        std::env::var("PATH").unwrap_or_default()
    )
}

fn has(program: &str) -> bool {
    let found = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    found.is_ok_and(|status| status.success())
}

fn c_project(folder: &Path) -> Result<String> {
    for file in 0..FILES {
        let head = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n".to_owned();
        let text = (0..FUNCTIONS).fold(head, |text, function| text + &c_function(file, function));
        std::fs::write(folder.join(format!("f{file}.c")), text)?;
    }
    let objects: Vec<String> = (0..FILES).map(|file| format!("f{file}.o")).collect();
    let rules = format!(
        "all: {}\n%.o: %.c\n\tcc -O2 -c -o $@ $<\n",
        objects.join(" ")
    );
    std::fs::write(folder.join("Makefile"), rules)?;
    Ok(format!(
        "cd '{}' && rm -f *.o && exec make -s -j4\n",
        folder.display()
    ))
}

fn c_function(file: usize, function: usize) -> String {
    let step = format!("n += s[i] * {function} + (n >> 3) % {}", function + 1);
    format!(
        "int f{file}_{function}(int a, const char *s) {{ int i, n = a; for (i = 0; s[i]; i++) {step}; return n; }}\n"
    )
}

fn rust_project(folder: &Path) -> Result<String> {
    std::fs::create_dir_all(folder.join("src"))?;
    for file in 0..FILES {
        let text: String = (0..FUNCTIONS)
            .map(|function| rust_function(file, function))
            .collect();
        std::fs::write(folder.join(format!("src/m{file}.rs")), text)?;
    }
    let modules: String = (0..FILES)
        .map(|file| format!("pub mod m{file};\n"))
        .collect();
    std::fs::write(folder.join("src/lib.rs"), modules)?;
    let manifest =
        "[package]\nname = \"workload\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n";
    std::fs::write(folder.join("Cargo.toml"), manifest)?;
    let folder = folder.display();
    Ok(format!(
        "cd '{folder}' && rm -rf out && exec cargo build -q --release --target-dir out\n"
    ))
}

fn rust_function(file: usize, function: usize) -> String {
    let chain = format!(
        "s.split(\"{file}\").map(|p| p.len() + {function}).map(|n| format!(\"{{n:x}}\")).collect()"
    );
    format!("pub fn f{function}(s: &str) -> String {{ {chain} }}\n")
}
