//! Moves records from the rings of the kernel to the output, in pieces as large as they come.
//!
//! - A [`Drain`] moves records as they come, from the rings of one thread, which may be all rings.
//! - [`DrainThreads`](threads::DrainThreads) are several threads, each with a drain for each ring of its share.
//! - A [`NewestRing`] gives the records of a ring that keeps the newest, at moments that somebody chooses.
//! - A [`TracePiece`] is the trace of hardware that waited in an AUX area.

mod aux;
mod homes;
mod layout;
mod newest;
mod threads;

pub use aux::{TraceOrigin, TracePiece};
pub use layout::LayoutError;
pub(crate) use layout::{home, threads as threads_of};
pub use newest::NewestRing;
pub(crate) use threads::{DrainShare, DrainThreads, Drained, RingToOutput};

use homes::Homes;
use oxperf_abi::{Cpu, RecordType};
use oxperf_data::WriteError;
use oxperf_sys::DataRing;
use oxperf_wire::{Encoder, Endian};

use crate::output::RecordOutput;

/// The rings that one thread drains.
#[derive(Debug)]
pub struct Drain {
    rings: Vec<DataRing>,
    /// Memory for records that lie around a ring's end.
    joined: Vec<u8>,
    /// The record that ends a round, where passes end rounds.
    round: Option<Vec<u8>>,
    /// The bytes that a ring holds before it is worth a pass.
    least: usize,
    homes: Homes,
}

impl Drain {
    /// Takes the rings over.
    pub fn new(rings: Vec<DataRing>) -> Drain {
        let mut round = Encoder::new(Endian::NATIVE);
        round.record(RecordType::FINISHED_ROUND, oxperf_abi::Misc(0), |_| ());
        Drain {
            rings,
            joined: Vec::new(),
            round: Some(round.into_bytes()),
            least: 1,
            homes: Homes::default(),
        }
    }

    /// Leaves records in a ring until it holds so many bytes of them, so that they come in larger pieces.
    #[must_use]
    pub fn with_least(mut self, bytes: usize) -> Drain {
        self.least = bytes;
        self
    }

    /// For a recording that also has rings which keep the newest records: these come last and may be older than all that was
    /// moved, so that no pass ends a round, and a reader puts everything in order at once.
    #[must_use]
    pub fn without_rounds(mut self) -> Drain {
        self.round = None;
        self
    }

    /// Has the thread move to these CPUs before it drains a ring that has anything: those of each ring, in their order.
    #[must_use]
    pub fn moving_to(mut self, cpus: Vec<Vec<Cpu>>) -> Drain {
        self.homes = Homes::new(cpus);
        self
    }

    /// One pass over all rings: from each the records that were there when its turn came, so that a busy ring starves none.
    /// A pass that moved anything ends with the mark that earlier rounds may be put in order, where there are rounds, and
    /// with a header that names all of it. Returns how many bytes came from the rings.
    ///
    /// # Errors
    /// The output refuses; what was moved before can be read.
    pub fn pass(&mut self, output: &mut impl RecordOutput) -> Result<u64, WriteError> {
        self.move_all(self.least, output)
    }

    /// As [`Drain::pass`], for a pass that is the last one to an output: whatever is in a ring is moved.
    ///
    /// # Errors
    /// As [`Drain::pass`].
    pub fn last_pass(&mut self, output: &mut impl RecordOutput) -> Result<u64, WriteError> {
        self.move_all(1, output)
    }

    fn move_all(
        &mut self,
        least: usize,
        output: &mut impl RecordOutput,
    ) -> Result<u64, WriteError> {
        let mut moved = 0;
        for (place, ring) in self.rings.iter_mut().enumerate() {
            if ring.pending() >= least {
                self.homes.move_to(place);
            }
            moved += move_ring(ring, least, &mut self.joined, output)?;
        }
        if moved > 0 {
            output.end_pass(self.round.as_deref())?;
        }
        Ok(moved)
    }
}

/// Moves all that a ring holds, if it is `least` bytes or more. A ring hands out its memory itself; only around its end the two pieces are joined,
/// because a record may lie across and the output must see it whole.
fn move_ring(
    ring: &mut DataRing,
    least: usize,
    joined: &mut Vec<u8>,
    output: &mut impl RecordOutput,
) -> Result<u64, WriteError> {
    let (first, second) = ring.available();
    let length = first.len() + second.len();
    if length < least {
        return Ok(0);
    }
    if second.is_empty() {
        output.kernel_records(first)?;
    } else {
        joined.clear();
        joined.extend_from_slice(first);
        joined.extend_from_slice(second);
        output.kernel_records(joined)?;
    }
    ring.consume(length);
    Ok(length as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::EventAttr;
    use oxperf_data::{Reader, Writer, WriterEvent};
    use oxperf_sys::{EventTask, FakeKernel, Kernel, OpenRequest, RingPages};

    impl RecordOutput for Writer<Vec<u8>> {
        fn kernel_records(&mut self, records: &[u8]) -> Result<(), WriteError> {
            self.append(records)
        }

        fn end_pass(&mut self, mark: Option<&[u8]>) -> Result<(), WriteError> {
            self.append(mark.unwrap_or_default())?;
            self.checkpoint()
        }
    }

    fn record(value: u64) -> Vec<u8> {
        let mut encoder = Encoder::new(Endian::NATIVE);
        encoder.record(RecordType::LOST, oxperf_abi::Misc(0), |body| {
            body.u64(1);
            body.u64(value);
        });
        encoder.into_bytes()
    }

    fn setup(rings: usize) -> (FakeKernel, Vec<DataRing>) {
        let kernel = FakeKernel::new();
        let attr = EventAttr::default();
        let ring = |_| {
            let event = kernel
                .open(&OpenRequest::new(&attr, EventTask::Caller))
                .unwrap();
            kernel.map_ring(&event, RingPages::new(1).unwrap()).unwrap()
        };
        let rings = (0..rings).map(ring).collect();
        (kernel, rings)
    }

    /// The records as `type` or `type:lost count`, one round a line.
    fn text(file: &[u8]) -> String {
        let reader = Reader::open(file).unwrap();
        let mut text = String::new();
        for raw in reader.records().unwrap().map(Result::unwrap) {
            if raw.header.kind == RecordType::FINISHED_ROUND {
                text.push_str("|\n");
            } else {
                let value: [u8; 8] = raw.body[8..16].try_into().unwrap();
                text.push_str(&format!("{} ", u64::from_ne_bytes(value)));
            }
        }
        text
    }

    /// A recorder with several drains gives each to a thread.
    #[test]
    fn a_drain_goes_to_a_thread() {
        fn is_sent<T: Send>() {}
        is_sent::<Drain>();
    }

    #[test]
    fn each_pass_takes_every_ring_once_and_ends_a_round() {
        let (kernel, rings) = setup(2);
        for (event, value) in [(0, 1), (0, 2), (1, 10), (1, 11)] {
            assert!(kernel.write_records(event, &record(value)));
        }
        let mut drain = Drain::new(rings);
        let mut writer = Writer::begin(Vec::new(), &[WriterEvent::default()]).unwrap();
        assert_eq!(drain.pass(&mut writer).unwrap(), 4 * 24);
        assert_eq!(drain.pass(&mut writer).unwrap(), 0);
        assert!(kernel.write_records(0, &record(3)));
        drain.pass(&mut writer).unwrap();
        let file = writer.finish(&Default::default()).unwrap();
        assert_eq!(text(&file), "1 2 10 11 |\n3 |\n");
    }

    #[test]
    fn little_is_left_in_its_ring_until_the_last_pass() {
        let (kernel, rings) = setup(1);
        let mut drain = Drain::new(rings).with_least(48);
        let mut writer = Writer::begin(Vec::new(), &[WriterEvent::default()]).unwrap();
        let mut moved = Vec::new();
        for value in 1..=3 {
            assert!(kernel.write_records(0, &record(value)));
            moved.push(drain.pass(&mut writer).unwrap());
        }
        moved.push(drain.last_pass(&mut writer).unwrap());
        assert_eq!(moved, [0, 48, 0, 24]);
        assert_eq!(drain.last_pass(&mut writer).unwrap(), 0);
    }

    #[test]
    fn a_drain_without_rounds_marks_none() {
        let (kernel, rings) = setup(1);
        assert!(kernel.write_records(0, &record(1)));
        let mut drain = Drain::new(rings).without_rounds();
        let mut writer = Writer::begin(Vec::new(), &[WriterEvent::default()]).unwrap();
        drain.pass(&mut writer).unwrap();
        let file = writer.finish(&Default::default()).unwrap();
        assert_eq!(text(&file), "1 ");
    }

    #[test]
    fn records_across_the_end_of_a_ring_stay_whole() {
        let (kernel, rings) = setup(1);
        let mut drain = Drain::new(rings);
        let mut writer = Writer::begin(Vec::new(), &[WriterEvent::default()]).unwrap();
        for value in 0..400 {
            assert!(kernel.write_records(0, &record(value)));
            if value % 7 == 0 {
                drain.pass(&mut writer).unwrap();
            }
        }
        drain.pass(&mut writer).unwrap();
        let file = writer.finish(&Default::default()).unwrap();
        let seen: Vec<String> = text(&file)
            .split_whitespace()
            .filter(|word| *word != "|")
            .map(str::to_owned)
            .collect();
        assert_eq!(
            seen,
            (0..400).map(|value| value.to_string()).collect::<Vec<_>>()
        );
    }
}
