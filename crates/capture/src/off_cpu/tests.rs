//! Switches of made-up threads, and the samples that come of them.

use super::*;
use oxperf_abi::{Cpu, Pid};

const ID: EventId = EventId(77);
const MS: u64 = 1_000_000;

/// Takes all records, in passes.
#[derive(Default)]
struct Kept(Vec<u8>);

impl RecordOutput for Kept {
    fn kernel_records(&mut self, records: &[u8]) -> Result<(), WriteError> {
        self.0.extend(records);
        Ok(())
    }

    fn end_pass(&mut self, _: Option<&[u8]>) -> Result<(), WriteError> {
        Ok(())
    }
}

fn attr() -> EventAttr {
    let mut attr = request().attr;
    attr.sample_type |= SampleType::IDENTIFIER | SampleType::IP | SampleType::TID;
    attr.flags |= AttrFlags::SAMPLE_ID_ALL;
    attr
}

fn whose(tid: i32, time: u64, cpu: u32) -> SampleId {
    SampleId {
        id: Some(ID),
        pid: Some(Pid(tid)),
        tid: Some(Tid(tid)),
        time: Some(PerfTime(time)),
        cpu: Some(Cpu(cpu)),
        ..SampleId::default()
    }
}

/// A thread ceases to run at a place, which is the address of its sample.
fn leaves(tid: i32, time: u64, cpu: u32, place: u64) -> Vec<u8> {
    let mut encoder = Encoder::new(Endian::NATIVE);
    encoder.record(RecordType::SAMPLE, Misc(1), |body| {
        for word in [ID.0, place] {
            body.u64(word);
        }
        body.i32(tid);
        body.i32(tid);
        for word in [time, u64::from(cpu), 1, 2, -512_i64 as u64, place] {
            body.u64(word);
        }
    });
    encoder.into_bytes()
}

fn switch(misc: u16, tid: i32, time: u64) -> Vec<u8> {
    let mut encoder = Encoder::new(Endian::NATIVE);
    encoder.record(RecordType::SWITCH, Misc(misc), |body| {
        SampleLayout::new(&attr()).encode_sample_id(&whose(tid, time, 0), body);
    });
    encoder.into_bytes()
}

fn returns(tid: i32, time: u64) -> Vec<u8> {
    switch(0, tid, time)
}

/// What comes of these passes: thread, place, time, period of each sample.
fn samples(off_cpu: &mut OffCpu, passes: &[&[Vec<u8>]]) -> Vec<(i32, u64, u64, u64)> {
    let mut kept = Kept::default();
    for pass in passes {
        let mut output = off_cpu.before(&mut kept);
        for record in *pass {
            output.kernel_records(record).unwrap();
        }
        output.end_pass(None).unwrap();
    }
    let rest = off_cpu.finish();
    kept.kernel_records(&rest).unwrap();
    decoded(&kept.0)
}

fn decoded(mut records: &[u8]) -> Vec<(i32, u64, u64, u64)> {
    let layout = SampleLayout::new(&recorded_attr(&attr()));
    let mut found = Vec::new();
    while let Ok(header) = RecordHeader::decode(&mut Cursor::new(records, Endian::NATIVE)) {
        assert_eq!(header.kind, RecordType::SAMPLE);
        let (record, rest) = records.split_at(header.size as usize);
        let sample = layout
            .decode_sample(&record[RecordHeader::SIZE..], Endian::NATIVE)
            .unwrap();
        found.push((
            sample.tid.unwrap().0,
            sample.ip.unwrap(),
            sample.time.unwrap().0,
            sample.period.unwrap(),
        ));
        records = rest;
    }
    found.sort_unstable();
    found
}

fn off_cpu() -> OffCpu {
    OffCpu::new(&attr(), &[ID], Duration::from_millis(500))
}

#[test]
fn a_long_absence_is_a_sample_and_short_ones_are_a_sum() {
    let pass = [
        leaves(7, 10, 0, 0x1000),
        switch(Misc::SWITCH_OUT, 7, 11),
        returns(7, 10 + 600 * MS),
        leaves(7, 700 * MS, 0, 0x2000),
        returns(7, 703 * MS),
        leaves(7, 710 * MS, 1, 0x2000),
        returns(7, 714 * MS),
        leaves(8, 720 * MS, 1, 0x2000),
        returns(8, 721 * MS),
    ];
    let expected = [
        (7, 0x1000, 10 + 600 * MS, 600 * MS),
        (7, 0x2000, PerfTime::OF_SUMS.0, 7 * MS),
        (8, 0x2000, PerfTime::OF_SUMS.0, MS),
    ];
    assert_eq!(samples(&mut off_cpu(), &[&pass]), expected);
}

/// The ring of another CPU, which brings the end of an absence, may be drained before that with its beginning.
#[test]
fn switches_count_in_the_order_of_their_times() {
    let first = [returns(7, 600 * MS)];
    let second = [leaves(7, 5, 0, 0x1000)];
    let third = [leaves(7, 900 * MS, 0, 0x3000)];
    let found = samples(&mut off_cpu(), &[&first, &second, &third]);
    assert_eq!(found, [(7, 0x1000, 600 * MS, 600 * MS - 5)]);
}

#[test]
fn a_thread_that_wanted_to_run_was_not_absent() {
    let preempted = Misc::SWITCH_OUT | Misc::SWITCH_OUT_PREEMPT;
    let pass = [
        leaves(7, 5, 0, 0x1000),
        switch(preempted, 7, 6),
        returns(7, 900 * MS),
    ];
    assert_eq!(samples(&mut off_cpu(), &[&pass]), []);
}

/// One that still sleeps at the end, one that began before the recording, and the CPU's idle thread.
#[test]
fn absences_without_a_beginning_or_an_end_are_none() {
    let pass = [
        returns(7, 5),
        leaves(7, 9, 0, 0x1000),
        leaves(0, 9, 0, 0x1000),
        returns(0, 900 * MS),
    ];
    assert_eq!(samples(&mut off_cpu(), &[&pass]), []);
}

#[test]
fn other_records_pass_untouched() {
    let mut encoder = Encoder::new(Endian::NATIVE);
    encoder.record(RecordType::COMM, Misc(0), |body| body.u64(1));
    let mut other = returns(7, 5);
    let id = other.len() - 8;
    other[id..].copy_from_slice(&78u64.to_ne_bytes());
    let records = [
        encoder.as_bytes(),
        &returns(7, 5),
        &other,
        encoder.as_bytes(),
    ];
    let mut kept = Kept::default();
    let mut off_cpu = off_cpu();
    let mut output = off_cpu.before(&mut kept);
    output.kernel_records(&records.concat()).unwrap();
    let expected = [encoder.as_bytes(), &other, encoder.as_bytes()].concat();
    assert_eq!(kept.0, expected);
}

/// A kernel that shows no stacks still tells when threads run.
#[test]
fn without_samples_the_time_is_known() {
    let mut attr = attr();
    attr.flags |= AttrFlags::EXCLUDE_KERNEL;
    let mut off_cpu = OffCpu::new(&attr, &[ID], Duration::from_millis(1));
    let pass = [switch(Misc::SWITCH_OUT, 7, 10), returns(7, 10 + 2 * MS)];
    let expected = [(7, 0, 10 + 2 * MS, 2 * MS)];
    assert_eq!(samples(&mut off_cpu, &[&pass]), expected);
}
