//! An `event` line: the attribute, its ids and its bytes.

use oxperf_abi::{
    AttrFlags, BranchSampleType, EventAttr, EventId, EventType, HardwareId, ReadFormat, SampleType,
    SoftwareId,
};

use crate::bytes::{Bytes, Endian};
use crate::error::Read;
use crate::line::Line;
use crate::number;

/// One event of the recording.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) attr: EventAttr,
    pub(crate) ids: Vec<EventId>,
}

/// perf's names of a bit word as plain pairs.
macro_rules! names {
    ($word:ident) => {
        &$word::NAMES
            .iter()
            .map(|(bit, name)| (bit.0, *name))
            .collect::<Vec<_>>()
    };
}

impl Event {
    pub(crate) fn parse(line: &mut Line) -> Read<Event> {
        let name = line.word("the event's name")?;
        let (kind, config) = what_is_counted(&name, line)?;
        let mut attr = EventAttr {
            kind,
            config,
            ..EventAttr::default()
        };
        bit_words(&mut attr, line)?;
        numbers(&mut attr, line)?;
        let ids: Vec<u64> = number::list(&line.take("ids").unwrap_or_default())?;
        Ok(Event {
            attr,
            ids: ids.into_iter().map(EventId).collect(),
        })
    }

    /// The id that stands for this event where a line names none.
    pub(crate) fn first_id(&self) -> EventId {
        self.ids.first().copied().unwrap_or_default()
    }
}

fn what_is_counted(name: &str, line: &mut Line) -> Read<(EventType, u64)> {
    let config = line.number("config")?;
    if let Some(kind) = line.number("type")? {
        return Ok((EventType(kind), config.unwrap_or_default()));
    }
    let (kind, generic) =
        generic_event(name).ok_or_else(|| format!("event {name:?} needs type="))?;
    Ok((kind, config.unwrap_or(generic)))
}

fn generic_event(name: &str) -> Option<(EventType, u64)> {
    let hardware = HardwareId::ALL.iter().find(|id| id.names().contains(&name));
    let software = SoftwareId::ALL.iter().find(|id| id.names().contains(&name));
    let hardware = hardware.map(|id| (EventType::HARDWARE, *id as u64));
    hardware.or(software.map(|id| (EventType::SOFTWARE, *id as u64)))
}

fn bit_words(attr: &mut EventAttr, line: &mut Line) -> Read<()> {
    let mut word =
        |key: &str, names: &[(u64, &str)]| number::bits(&line.take(key).unwrap_or_default(), names);
    attr.sample_type = SampleType(word("sample", names!(SampleType))?);
    attr.read_format = ReadFormat(word("read", names!(ReadFormat))?);
    attr.flags = AttrFlags(word("flags", names!(AttrFlags))?);
    attr.branch_sample_type = BranchSampleType(word("branch", names!(BranchSampleType))?);
    Ok(())
}

fn numbers(attr: &mut EventAttr, line: &mut Line) -> Read<()> {
    attr.sample_period = line.number_or_zero("period")?;
    if let Some(frequency) = line.number("freq")? {
        attr.sample_period = frequency;
        attr.flags.set(AttrFlags::FREQ, true);
    }
    attr.flags.set_precise_ip(line.number_or_zero("precise")?);
    attr.config1 = line.number_or_zero("config1")?;
    attr.config2 = line.number_or_zero("config2")?;
    attr.config3 = line.number_or_zero("config3")?;
    attr.config4 = line.number_or_zero("config4")?;
    attr.sample_regs_user = line.number_or_zero("regs_user")?;
    attr.sample_regs_intr = line.number_or_zero("regs_intr")?;
    attr.sample_stack_user = line.number_or_zero("stack_user")?;
    attr.sample_max_stack = line.number_or_zero("max_stack")?;
    attr.clockid = line.number_or_zero("clockid")?;
    Ok(())
}

/// The attribute in `size` bytes, 64 to 144; fields behind the size are cut off.
pub(crate) fn encode_attr(attr: &EventAttr, size: u32, endian: Endian) -> Vec<u8> {
    let mut out = Bytes::new(endian);
    out.u32(attr.kind.0);
    out.u32(size);
    out.u64(attr.config);
    out.u64(attr.sample_period);
    out.u64(attr.sample_type.0);
    out.u64(attr.read_format.0);
    out.u64(flag_word(attr.flags, endian));
    out.u32(attr.wakeup_events);
    out.u32(attr.bp_type);
    out.u64(attr.config1);
    out.u64(attr.config2);
    encode_sampling(attr, &mut out);
    let mut bytes = out.into_vec();
    bytes.resize(size as usize, 0);
    bytes
}

/// Everything from offset 72 on.
fn encode_sampling(attr: &EventAttr, out: &mut Bytes) {
    out.u64(attr.branch_sample_type.0);
    out.u64(attr.sample_regs_user);
    out.u32(attr.sample_stack_user);
    out.i32(attr.clockid);
    out.u64(attr.sample_regs_intr);
    out.u32(attr.aux_watermark);
    out.u16(attr.sample_max_stack);
    out.u16(0);
    out.u32(attr.aux_sample_size);
    out.u32(attr.aux_action);
    out.u64(attr.sig_data);
    out.u64(attr.config3);
    out.u64(attr.config4);
}

/// A big-endian compiler hands out bit fields from the top bit down, each with its value the right way round.
fn flag_word(flags: AttrFlags, endian: Endian) -> u64 {
    match endian {
        Endian::Little => flags.0,
        Endian::Big => {
            let mut turned = flags;
            turned.set_precise_ip(flags.precise_ip() >> 1 | flags.precise_ip() << 1);
            turned.0.reverse_bits()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> Event {
        let (_, mut line) = Line::parse(text).unwrap().unwrap();
        let event = Event::parse(&mut line).unwrap();
        line.finish().unwrap();
        event
    }

    #[test]
    fn names_and_numbers() {
        let event =
            event("event cpu-clock freq=4000 sample=IP|TID flags=mmap|comm precise=2 ids=5,6");
        assert_eq!(
            (event.attr.kind, event.attr.config, event.attr.sample_period),
            (EventType::SOFTWARE, 0, 4000)
        );
        assert_eq!(event.attr.flags.0, 1 << 8 | 1 << 9 | 1 << 10 | 2 << 15);
        assert_eq!(event.ids, [EventId(5), EventId(6)]);
    }

    #[test]
    fn attr_bytes_little() {
        let bytes = encode_attr(
            &event("event instructions period=7 flags=disabled").attr,
            64,
            Endian::Little,
        );
        assert_eq!(bytes.len(), 64);
        assert_eq!(
            bytes[..24],
            [
                0, 0, 0, 0, 64, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0
            ]
        );
        assert_eq!(bytes[40..48], [1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn attr_flags_of_a_big_endian_machine() {
        let flags = encode_attr(
            &event("event cycles flags=disabled|freq precise=1").attr,
            144,
            Endian::Big,
        );
        assert_eq!(flags[40..48], [0x80, 0x20, 0x80, 0, 0, 0, 0, 0]);
    }
}
