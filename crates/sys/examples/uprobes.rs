//! A probe in user code: the kernel stops at an instruction of a file, whoever runs it, and counts.

use oxperf_sys::{CounterSpec, EventTask, RealKernel, Uprobe};
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::PathBuf;

/// The function that is probed.
#[inline(never)]
fn called(value: u64) -> u64 {
    black_box(value).wrapping_mul(3)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let function: fn(u64) -> u64 = called;
    let (path, offset) = place(function as usize as u64)?;
    let probe = |on_return| Uprobe {
        path: path.clone(),
        offset,
        on_return,
    };
    let open = |on_return| -> Result<_, Box<dyn Error>> {
        let spec = CounterSpec::uprobe(&probe(on_return))?;
        Ok(spec.open(&RealKernel, EventTask::Caller)?)
    };
    let (entries, returns) = (open(false)?, open(true)?);
    (0..5).for_each(|value| {
        black_box(function(value));
    });
    assert_eq!((entries.value()?, returns.value()?), (5, 5));
    Ok(())
}

/// The file behind an address of this process, and the offset there.
fn place(address: u64) -> Result<(PathBuf, u64), Box<dyn Error>> {
    for line in fs::read_to_string("/proc/self/maps")?.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [range, _, offset, _, _, path] = fields[..] else {
            continue;
        };
        let (start, end) = range.split_once('-').ok_or("a range")?;
        let number = |text| u64::from_str_radix(text, 16);
        if (number(start)?..number(end)?).contains(&address) {
            return Ok((path.into(), address - number(start)? + number(offset)?));
        }
    }
    Err("the function is in no file".into())
}
