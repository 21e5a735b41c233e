//! Writes the program whose notation comes in on standard input to standard output: `image < p.elf.txt > p`.

use std::io::{Read, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    std::io::stdout().write_all(&oxperf_testkit::Image::parse(&text)?.to_file())?;
    Ok(())
}
