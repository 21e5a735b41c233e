//! A whole recording: container, features, records in order, machine, places of samples, checkup, its plain file.
//! Nothing may panic, and what a feature reads from its bytes it must write and read back alike.

#![no_main]

use std::ops::ControlFlow;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use oxperf_data::Reader;
use oxperf_data::features::{
    BuildIds, CmdLine, CpuCaches, CpuTopology, EventDesc, GroupDesc, MemTopology, NumaTopology,
    PmuCaps, PmuMappings,
};
use oxperf_fuzz::mutate_records;
use oxperf_machine::Machine;
use oxperf_session::{NoSink, RecordingCheck, SampleEvent, Session, Sink, rewrite};

/// Looks at every sample as a report would.
struct Look;

impl Sink for Look {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        let chain = event
            .sample
            .callchain
            .into_iter()
            .flat_map(|chain| chain.iter());
        for address in chain.chain(event.sample.ip) {
            let _ = machine.locate(event.thread, event.misc.cpu_mode(), address);
        }
        ControlFlow::Continue(())
    }
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_records(data, size, max_size, seed)
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(reader) = Reader::open(bytes) else {
        return;
    };
    let features = reader.features();
    let _ = (
        features.get::<BuildIds>(),
        features.get::<CpuCaches>(),
        features.get::<CmdLine>(),
    );
    let _ = (
        features.get::<CpuTopology>(),
        features.get::<EventDesc>(),
        features.get::<GroupDesc>(),
    );
    let _ = (
        features.get::<MemTopology>(),
        features.get::<NumaTopology>(),
    );
    let _ = (features.get::<PmuCaps>(), features.get::<PmuMappings>());
    let _ = Session::new(&reader).run(&mut Look);
    let _ = (RecordingCheck::run(&reader), rewrite(&reader, Vec::new()));
});
