//! The sample id trailer: words after `|`.

use oxperf_abi::{AttrFlags, SampleType};

use crate::bytes::Bytes;
use crate::error::Read;
use crate::event::Event;
use crate::line::Line;

/// The event that a line belongs to: the one it names, the owner of the id, or the first.
pub(crate) fn owner<'a>(
    line: &mut Line,
    id: Option<u64>,
    events: &'a [Event],
) -> Read<Option<&'a Event>> {
    if let Some(index) = line.number::<usize>("event")? {
        return events
            .get(index)
            .map(Some)
            .ok_or_else(|| format!("there is no event {index}"));
    }
    let of_id = id.and_then(|id| {
        events
            .iter()
            .find(|event| event.ids.iter().any(|known| known.0 == id))
    });
    Ok(of_id.or(events.first()))
}

/// Writes the trailer that `text` describes, when the event has one.
pub(crate) fn encode(text: &str, events: &[Event], task: (i32, i32), out: &mut Bytes) -> Read<()> {
    let Some((_, mut line)) = Line::parse(&format!("trailer {text}"))? else {
        return Ok(());
    };
    let id = line.number("id")?;
    if let Some(event) = owner(&mut line, id, events)?
        .filter(|event| event.attr.flags.contains(AttrFlags::SAMPLE_ID_ALL))
    {
        fields(
            &mut line,
            event,
            id.unwrap_or(event.first_id().0),
            task,
            out,
        )?;
    }
    line.finish()
}

fn fields(line: &mut Line, event: &Event, id: u64, task: (i32, i32), out: &mut Bytes) -> Read<()> {
    let has = |bit| event.attr.sample_type.contains(bit);
    if has(SampleType::TID) {
        out.i32(line.number("pid")?.unwrap_or(task.0));
        out.i32(line.number("tid")?.unwrap_or(task.1));
    }
    if has(SampleType::TIME) {
        out.u64(line.number_or_zero("time")?);
    }
    if has(SampleType::ID) {
        out.u64(id);
    }
    if has(SampleType::STREAM_ID) {
        out.u64(line.number_or_zero("stream_id")?);
    }
    if has(SampleType::CPU) {
        out.u32(line.number_or_zero("cpu")?);
        out.u32(0);
    }
    if has(SampleType::IDENTIFIER) {
        out.u64(id);
    }
    Ok(())
}
