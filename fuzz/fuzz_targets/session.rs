//! A whole recording through everything that reads one: samples in order with what their addresses lie in, dumps,
//! counts, and a new file that holds the same samples.

#![no_main]

use std::ops::ControlFlow;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use oxperf_abi::FileOffset;
use oxperf_data::{Damage, RawRecord, Reader};
use oxperf_fuzz::mutate_records;
use oxperf_machine::Machine;
use oxperf_present::dump::{Architecture, Consumer, DumpOptions, RecordDump};
use oxperf_session::{EventIndex, NoSink, RecordStats, SampleEvent, Session, Sink, rewrite};

/// Dumps records and looks at every sample as a report would.
struct Look {
    dump: RecordDump,
    text: Vec<u8>,
    samples: u64,
    last: FileOffset,
}

impl Sink for Look {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn record(
        &mut self,
        _: &mut Machine,
        record: &RawRecord<'_>,
        event: Option<EventIndex>,
    ) -> ControlFlow<()> {
        self.text.clear();
        self.dump.record(record, event, &mut self.text);
        ControlFlow::Continue(())
    }

    fn damage(&mut self, damage: &Damage) -> ControlFlow<()> {
        self.dump.damage(damage, &mut self.text);
        self.last = damage.offset();
        ControlFlow::Continue(())
    }

    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        self.samples += 1;
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
    let session = Session::new(&reader);
    let options = DumpOptions {
        file: "perf.data",
        endian: reader.endian(),
        architecture: Architecture::Other,
        consumer: Consumer::Script,
        in_file_order: false,
        packets: true,
        utc_offset: |_| 0,
    };
    let dump = RecordDump::new(&options, session.events().clone());
    let mut look = Look {
        dump,
        text: Vec::new(),
        samples: 0,
        last: FileOffset(0),
    };
    let Ok(finished) = session.run(&mut look) else {
        return;
    };
    assert!(finished.diagnostics.damage.listed().len() <= oxperf_data::DamageList::LISTED);
    let counted = RecordStats::count(&reader).expect("the records were read before");
    assert_eq!(counted.damage, finished.diagnostics.damage);
    let mut file = Vec::new();
    if rewrite(&reader, &mut file).is_ok() {
        Reader::open(&file).expect("what was written");
    }
});
