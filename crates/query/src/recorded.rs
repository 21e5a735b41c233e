//! Facts of a recording that several commands need.

use oxperf_abi::SampleType;
use oxperf_data::features::{Arch, CpuTopology, TracingDataSection as TracingBytes};
use oxperf_data::{Container, Reader};
use oxperf_objects::SearchPaths;
use oxperf_resolve::Unwinder;
use oxperf_tracepoint::{Formatters, TracingData};

/// The socket of each CPU, as far as the recording has it.
pub fn sockets(reader: &Reader<'_>) -> Vec<Option<u32>> {
    let topology = reader.features().get::<CpuTopology>().ok().flatten();
    topology
        .map(|topology| topology.cpus.iter().map(|cpu| cpu.socket).collect())
        .unwrap_or_default()
}

/// The print formats of the recorded tracepoints.
pub fn formatters(reader: &Reader<'_>) -> Formatters {
    let bytes = reader.features().get::<TracingBytes>().ok().flatten();
    let data = bytes.and_then(|bytes| TracingData::decode(&bytes.0).ok());
    data.map(|data| Formatters::new(&data)).unwrap_or_default()
}

/// The unwinder of the stacks that samples hold, with tables from these places; `None` where none can hold one.
pub fn unwinder(search_paths: &SearchPaths, reader: &Reader<'_>) -> Option<Unwinder> {
    let mut types = reader
        .events()
        .iter()
        .map(|event| event.stored.attr.sample_type);
    // A stream may describe further events.
    let any = reader.container() == Container::Stream
        || types.any(|parts| parts.contains(SampleType::STACK_USER));
    let machine = reader.features().get::<Arch>().ok().flatten();
    let machine = machine.as_ref().map(|machine| machine.0.as_str());
    any.then(|| Unwinder::new(search_paths.clone(), machine))
}
