//! Moves what the kernel wrote from the rings to the file, in pieces as large as they come.

use oxperf_abi::RecordType;
use oxperf_data::WriteError;
use oxperf_sys::DataRing;
use oxperf_wire::{Encoder, Endian};

use crate::recording::Records;

/// The rings of a recording on their way to a writer.
#[derive(Debug)]
pub struct Drain {
    rings: Vec<DataRing>,
    /// Memory for what lies around a ring's end.
    joined: Vec<u8>,
    round: Vec<u8>,
}

impl Drain {
    /// Takes the rings over.
    pub fn new(rings: Vec<DataRing>) -> Drain {
        let mut round = Encoder::new(Endian::NATIVE);
        round.record(RecordType::FINISHED_ROUND, oxperf_abi::Misc(0), |_| ());
        Drain {
            rings,
            joined: Vec::new(),
            round: round.into_bytes(),
        }
    }

    /// One pass over all rings: from each what was there when its turn came, so that a busy ring starves none.
    /// A pass that moved anything ends with the mark that earlier rounds may be put in order, and with a header
    /// that names all of it. Says how many bytes came from the rings.
    ///
    /// # Errors
    /// The output refuses; what was moved before can be read.
    pub fn pass(&mut self, writer: &mut impl Records) -> Result<u64, WriteError> {
        let mut moved = 0;
        for ring in &mut self.rings {
            moved += move_ring(ring, &mut self.joined, writer)?;
        }
        if moved > 0 {
            writer.end_round(&self.round)?;
        }
        Ok(moved)
    }
}

/// Moves what a ring holds. A ring hands out its memory itself; only around its end the two pieces are joined,
/// because a record may lie across and the writer must see it whole.
fn move_ring(
    ring: &mut DataRing,
    joined: &mut Vec<u8>,
    writer: &mut impl Records,
) -> Result<u64, WriteError> {
    let (first, second) = ring.available();
    let length = first.len() + second.len();
    if length == 0 {
        return Ok(0);
    }
    if second.is_empty() {
        writer.kernel_records(first)?;
    } else {
        joined.clear();
        joined.extend_from_slice(first);
        joined.extend_from_slice(second);
        writer.kernel_records(joined)?;
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

    impl Records for Writer<Vec<u8>> {
        fn kernel_records(&mut self, records: &[u8]) -> Result<(), WriteError> {
            self.append(records)
        }

        fn end_round(&mut self, mark: &[u8]) -> Result<(), WriteError> {
            self.append(mark)?;
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

    #[test]
    fn each_pass_takes_every_ring_once_and_ends_a_round() {
        let (kernel, mut rings) = setup(2);
        for (ring, values) in rings.iter_mut().zip([[1, 2], [10, 11]]) {
            values
                .iter()
                .for_each(|value| assert!(kernel.write_records(ring, &record(*value))));
        }
        let mut drain = Drain::new(rings);
        let mut writer = Writer::begin(Vec::new(), &[WriterEvent::default()]).unwrap();
        assert_eq!(drain.pass(&mut writer).unwrap(), 4 * 24);
        assert_eq!(drain.pass(&mut writer).unwrap(), 0);
        kernel.write_records(&mut drain.rings[0], &record(3));
        drain.pass(&mut writer).unwrap();
        let file = writer.finish(&Default::default()).unwrap();
        assert_eq!(text(&file), "1 2 10 11 |\n3 |\n");
    }

    #[test]
    fn records_across_the_end_of_a_ring_stay_whole() {
        let (kernel, rings) = setup(1);
        let mut drain = Drain::new(rings);
        let mut writer = Writer::begin(Vec::new(), &[WriterEvent::default()]).unwrap();
        for value in 0..400 {
            assert!(kernel.write_records(&mut drain.rings[0], &record(value)));
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
