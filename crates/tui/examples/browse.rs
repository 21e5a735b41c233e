//! Browses nothing, with a host that panics when it is asked for the header: what a terminal is like afterwards is
//! looked at by the test `terminal`.

use std::io::{self, BufWriter};

use oxperf_analysis::hist::HistOptions;
use oxperf_present::report::ReportText;
use oxperf_profile::Profile;
use oxperf_tui::{Browser, BrowserHost, Look, Palette, run};

struct Faulty;

impl BrowserHost for Faulty {
    fn annotate(&mut self, _: &str, _: &str) -> Result<String, String> {
        Err("nothing to annotate".to_owned())
    }

    fn header(&mut self) -> Result<String, String> {
        panic!("this host is faulty")
    }

    fn export(&mut self, _: &str) -> Result<String, String> {
        Err("nothing to write".to_owned())
    }

    fn samples(&mut self, _: &[String]) -> Result<String, String> {
        Err("no samples".to_owned())
    }

    fn run_program(&mut self, _: &str) -> Result<String, String> {
        Err("nothing to run".to_owned())
    }

    fn recordings(&mut self) -> Vec<String> {
        Vec::new()
    }
}

fn main() -> io::Result<()> {
    let profile = Profile::default();
    let mut browser = Browser::new(&profile, HistOptions::default(), ReportText::default());
    run(
        &mut browser,
        &mut Faulty,
        BufWriter::new(io::stdout()),
        Look {
            colour: true,
            palette: Palette::USUAL,
        },
    )
    .map(drop)
}
