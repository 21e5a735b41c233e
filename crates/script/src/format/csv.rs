//! `--csv`: every sample as a row of values with commas between.

use std::io::{self, Write as _};
use std::sync::Arc;

use oxperf_present::jsonl::push_cell;
use oxperf_present::text::number::{push_hex, push_number};
use oxperf_resolve::{KernelNames, Names};
use oxperf_session::SampleEvent;
use oxperf_tracepoint::Formatters;

use crate::chain_use::ChainUse;
use crate::deferred_symbols::DeferredForm;
use crate::error::ScriptError;
use crate::event_style::EventStyle;
use crate::format::{NoFormat, RecordingInfo, SampleFormat};
use crate::output::ScriptOutput;
use crate::view::SampleView;

/// The first row.
const HEADING: &[u8] =
    b"event,time,comm,pid,tid,cpu,period,ip,symbol,offset,dso,addr,trace,callchain\n";

/// Writes samples as rows. A call chain is one cell, innermost first, with `;` between.
pub struct CsvFormat<'s> {
    names: Arc<Names<'static>>,
    formatters: &'s Formatters,
}

impl<'s> CsvFormat<'s> {
    /// Rows with these names.
    pub fn new(names: Arc<Names<'static>>, formatters: &'s Formatters) -> CsvFormat<'s> {
        CsvFormat { names, formatters }
    }

    fn push_trace(&self, view: &SampleView<'_>, out: &mut Vec<u8>) {
        if let Some(raw) = view.trace() {
            let symbols = KernelNames::new(&self.names, view.machine.objects());
            let mut text = Vec::new();
            self.formatters.format(raw, &symbols, &mut text);
            push_cell(out, String::from_utf8_lossy(&text).trim());
        }
    }
}

impl SampleFormat for CsvFormat<'_> {
    type Inner = NoFormat;

    fn inner(&mut self) -> Option<&mut NoFormat> {
        None
    }

    fn chain_use(&mut self, style: &EventStyle) -> ChainUse {
        if style.chained {
            ChainUse::Always
        } else {
            ChainUse::Never
        }
    }

    fn takes_new_events(&mut self) -> bool {
        true
    }

    fn begin(&mut self, _: &RecordingInfo<'_>, out: &mut ScriptOutput) -> Result<(), ScriptError> {
        out.buffer().extend_from_slice(HEADING);
        Ok(())
    }

    fn sample(&mut self, view: &SampleView<'_>, out: &mut ScriptOutput) -> io::Result<()> {
        let sample = view.sample();
        push_head(view, out.buffer());
        if let Some(ip) = sample.ip {
            out.defer_address(DeferredForm::Row, view.context(), (view.mode(), ip));
        } else {
            out.buffer().extend_from_slice(b",,");
        }
        push_address(out.buffer(), sample.addr);
        out.buffer().push(b',');
        self.push_trace(view, out.buffer());
        out.buffer().push(b',');
        if let Some(chain) = &view.chain {
            out.defer_chain(DeferredForm::Row, view.context(), chain.addresses);
        }
        out.buffer().push(b'\n');
        Ok(())
    }
}

/// Appends the cells before the symbol of a sample's address.
fn push_head(view: &SampleView<'_>, out: &mut Vec<u8>) {
    let (event, sample): (&SampleEvent<'_>, _) = (view.event, view.sample());
    push_cell(out, &view.style.name);
    push_count(out, sample.time.map(|time| time.0));
    out.push(b',');
    push_cell(out, view.comm());
    // Writing to a vector cannot fail.
    let _ = write!(out, ",{},{}", view.pid(), view.tid());
    push_count(out, sample.cpu.map(|cpu| cpu.0.into()));
    push_count(out, Some(event.period));
    push_address(out, sample.ip);
    out.push(b',');
}

/// Appends a comma and a number, if there is one.
fn push_count(out: &mut Vec<u8>, number: Option<u64>) {
    out.push(b',');
    if let Some(number) = number {
        push_number(out, number, 1, b' ');
    }
}

/// Appends a comma and an address, if there is one.
fn push_address(out: &mut Vec<u8>, address: Option<u64>) {
    out.push(b',');
    if let Some(address) = address {
        out.extend_from_slice(b"0x");
        push_hex(out, address, 1);
    }
}
