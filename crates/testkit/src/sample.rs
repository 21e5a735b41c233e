//! A `sample` line: the fields that its event asks for, in the kernel's order.

mod blocks;

pub(crate) use blocks::chain;

use oxperf_abi::SampleType;

use crate::bytes::Bytes;
use crate::error::Read;
use crate::event::Event;
use crate::line::Line;
use crate::{number, trailer};

/// The owner of the fields.
struct Owner<'a> {
    event: &'a Event,
    /// The id given, or the event's first.
    id: u64,
}

type Field = fn(&mut Line, &Owner<'_>, &mut Bytes) -> Read<()>;

/// Every field with its bit, as the kernel lays them out.
const FIELDS: &[(SampleType, Field)] = &[
    (SampleType::IDENTIFIER, |_, owner, out| id(owner, out)),
    (SampleType::IP, |line, _, out| word("ip", line, out)),
    (SampleType::TID, |line, _, out| task(line, out)),
    (SampleType::TIME, |line, _, out| word("time", line, out)),
    (SampleType::ADDR, |line, _, out| word("addr", line, out)),
    (SampleType::ID, |_, owner, out| id(owner, out)),
    (SampleType::STREAM_ID, |line, _, out| {
        word("stream_id", line, out)
    }),
    (SampleType::CPU, |line, _, out| cpu(line, out)),
    (SampleType::PERIOD, |line, _, out| word("period", line, out)),
    (SampleType::READ, |line, _, out| blocks::read(line, out)),
    (SampleType::CALLCHAIN, |line, _, out| {
        blocks::chain(line, out)
    }),
    (SampleType::RAW, |line, _, out| blocks::raw(line, out)),
    (SampleType::BRANCH_STACK, |line, owner, out| {
        blocks::branches(line, owner.event, out)
    }),
    (SampleType::REGS_USER, |line, _, out| {
        blocks::registers("regs_user", line, out)
    }),
    (SampleType::STACK_USER, |line, _, out| {
        blocks::stack(line, out)
    }),
    (SampleType::WEIGHT, |line, _, out| word("weight", line, out)),
    (SampleType::WEIGHT_STRUCT, |line, _, out| {
        weight_struct(line, out)
    }),
    (SampleType::DATA_SRC, |line, _, out| {
        word("data_src", line, out)
    }),
    (SampleType::TRANSACTION, |line, _, out| {
        word("transaction", line, out)
    }),
    (SampleType::REGS_INTR, |line, _, out| {
        blocks::registers("regs_intr", line, out)
    }),
    (SampleType::PHYS_ADDR, |line, _, out| {
        word("phys_addr", line, out)
    }),
    (SampleType::CGROUP, |line, _, out| word("cgroup", line, out)),
    (SampleType::DATA_PAGE_SIZE, |line, _, out| {
        word("data_page_size", line, out)
    }),
    (SampleType::CODE_PAGE_SIZE, |line, _, out| {
        word("code_page_size", line, out)
    }),
    (SampleType::AUX, |line, _, out| blocks::aux(line, out)),
];

/// Writes the body of a sample.
pub(crate) fn encode(line: &mut Line, events: &[Event], out: &mut Bytes) -> Read<()> {
    let id = line.number("id")?;
    let event =
        trailer::owner(line, id, events)?.ok_or("a sample needs an event line before it")?;
    let owner = Owner {
        event,
        id: id.unwrap_or(event.first_id().0),
    };
    let wanted = FIELDS
        .iter()
        .filter(|(bit, _)| event.attr.sample_type.contains(*bit));
    wanted
        .map(|(_, field)| field)
        .try_for_each(|field| field(line, &owner, out))
}

fn word(key: &str, line: &mut Line, out: &mut Bytes) -> Read<()> {
    out.u64(line.number_or_zero(key)?);
    Ok(())
}

fn id(owner: &Owner<'_>, out: &mut Bytes) -> Read<()> {
    out.u64(owner.id);
    Ok(())
}

fn task(line: &mut Line, out: &mut Bytes) -> Read<()> {
    out.i32(line.number_or_zero("pid")?);
    out.i32(line.number_or_zero("tid")?);
    Ok(())
}

fn cpu(line: &mut Line, out: &mut Bytes) -> Read<()> {
    out.u32(line.number_or_zero("cpu")?);
    out.u32(0);
    Ok(())
}

fn weight_struct(line: &mut Line, out: &mut Bytes) -> Read<()> {
    let text = line
        .take("weight_struct")
        .unwrap_or_else(|| "0/0/0".to_owned());
    let [low, middle, high] = text.split('/').collect::<Vec<_>>()[..] else {
        return Err(format!("{text:?} is not A/B/C"));
    };
    let (low, middle, high): (u32, u16, u16) = (
        number::number(low)?,
        number::number(middle)?,
        number::number(high)?,
    );
    out.u64(u64::from(low) | u64::from(middle) << 32 | u64::from(high) << 48);
    Ok(())
}
