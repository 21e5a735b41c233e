//! What the log of the decoding says of records and errors.

use std::io::Write;

use intel_pt::ErrorKind;
use oxperf_abi::RecordType;
use oxperf_data::RawRecord;
use oxperf_session::Sink;
use oxperf_wire::kernel::ItraceStart;
use oxperf_wire::user::AuxtraceError;
use oxperf_wire::{Cursor, SampleId};

use super::Tracer;
use crate::log::line;

impl<S: Sink> Tracer<'_, '_, S> {
    pub(super) fn log_error(&mut self, kind: ErrorKind, told: Option<&AuxtraceError<'_>>) {
        let Some(log) = &mut self.log else { return };
        log.error(kind, told, self.sink);
    }

    /// Logs a record when its turn has come.
    pub(super) fn log_record(&mut self, record: &RawRecord<'_>, id: &SampleId) {
        let Some(log) = &mut self.log else { return };
        let time = id.time.filter(|time| time.0 != 0);
        let known = time
            .filter(|time| time.0 != u64::MAX)
            .zip(self.trace.info.clock);
        let tsc = known.map_or(0, |(time, clock)| clock.tsc(time));
        let cpu = id.cpu.map_or(-1, |cpu| i64::from(cpu.0));
        let time = id.time.map_or(u64::MAX, |time| time.0);
        let prefix = if tsc == 0 { "" } else { "0x" };
        let timed = !self.synthesizer.plan.timeless;
        if let (true, RecordType::ITRACE_START, Ok(start)) = (
            timed,
            record.header.kind,
            ItraceStart::decode(&mut Cursor::new(record.body, self.endian)),
        ) {
            let (pid, tid) = (start.pid, start.tid);
            line!(
                log.text(),
                "itrace_start: cpu {cpu} pid {pid} tid {tid} time {time} tsc {prefix}{tsc:x}"
            );
        }
        let kind = record.header.kind.0;
        let _ = write!(
            log.text(),
            "event {kind}: cpu {cpu} time {time} tsc {prefix}{tsc:x} "
        );
        log.record(record);
        log.hand_over(self.sink);
    }
}
