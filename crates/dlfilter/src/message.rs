//! Messages between program and helper: a length, a kind, and values one after the other.
//!
//! Both ends are this program, of one build and on one machine, so there are no versions and numbers are little-endian. The
//! helper holds foreign code all the same: every length is checked.

use std::io::{self, Read, Write};

use crate::DlfilterError;

/// The longest message that is taken.
const MOST: usize = 64 << 20;

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// To the helper: load and start, with arguments.
    Start = 1,
    /// From the helper: what the filter has.
    Started = 2,
    /// To the helper: a sample.
    Sample = 3,
    /// From the helper: what the filter decided, and what it printed.
    Decided = 4,
    /// From the helper: a question about the sample.
    Question = 5,
    /// To the helper: its answer.
    Answer = 6,
    /// To the helper: the end.
    Stop = 7,
    /// From the helper: why it cannot go on.
    Failed = 8,
}

impl Kind {
    const ALL: [Kind; 8] = [
        Kind::Start,
        Kind::Started,
        Kind::Sample,
        Kind::Decided,
        Kind::Question,
        Kind::Answer,
        Kind::Stop,
        Kind::Failed,
    ];
}

/// The place that a filter asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The sample's own.
    Ip,
    /// The place of its data address.
    Addr,
    /// The place of an address in the sample's thread.
    Address(u64),
}

/// A branch of a sample: from, to, flags as the kernel writes them.
pub type FilterBranch = [u64; 3];

/// A sample as filters see it. What an event did not record is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the kernel's sample")]
pub struct FilterSample {
    pub ip: u64,
    pub pid: i32,
    pub tid: i32,
    pub time: u64,
    pub addr: u64,
    pub id: u64,
    pub stream_id: u64,
    pub period: u64,
    pub weight: u64,
    pub ins_lat: u16,
    pub p_stage_cyc: u16,
    pub transaction: u64,
    pub insn_cnt: u64,
    pub cyc_cnt: u64,
    pub cpu: i32,
    pub flags: u32,
    pub data_src: u64,
    pub phys_addr: u64,
    pub data_page_size: u64,
    pub code_page_size: u64,
    pub cgroup: u64,
    pub misc: u16,
    /// True if the data address is one of code or memory that can be placed.
    pub addr_correlates_sym: bool,
    pub raw: Option<Vec<u8>>,
    pub branches: Option<Vec<FilterBranch>>,
    pub callchain: Option<Vec<u64>>,
    /// The event's name.
    pub event: String,
    pub machine_pid: i32,
    pub vcpu: i32,
}

/// The facts about an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolvedAddress {
    /// The address in the object.
    pub address: u64,
    /// The symbol around it: name, first address, address behind it.
    pub symbol: Option<(String, u64, u64)>,
    /// Visibility of the symbol, as in ELF: 0 local, 1 global, 2 weak.
    pub binding: u8,
    /// The object that is mapped there.
    pub dso: Option<String>,
    /// True if its code is of 64 bits.
    pub is_64_bit: bool,
    /// True if it is the kernel's.
    pub is_kernel: bool,
    /// The object's identity.
    pub build_id: Vec<u8>,
    /// The thread's name.
    pub comm: String,
    /// True if the sample is filtered out by what else was asked for.
    pub filtered: bool,
}

/// A message on its way out.
pub(crate) struct Writing(Vec<u8>);

impl Writing {
    pub(crate) fn new(kind: Kind) -> Writing {
        Writing(vec![0, 0, 0, 0, kind as u8])
    }

    pub(crate) fn number(&mut self, number: u64) -> &mut Writing {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Writing {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Values that may be absent.
    pub(crate) fn optional<T>(
        &mut self,
        value: Option<T>,
        write: impl FnOnce(&mut Writing, T),
    ) -> &mut Writing {
        self.number(value.is_some().into());
        if let Some(value) = value {
            write(self, value);
        }
        self
    }

    pub(crate) fn send(&mut self, out: &mut impl Write) -> io::Result<()> {
        let length = (self.0.len() - 4) as u32;
        self.0[..4].copy_from_slice(&length.to_le_bytes());
        out.write_all(&self.0)
    }
}

/// A message that came.
pub(crate) struct Reading {
    kind: Kind,
    bytes: Vec<u8>,
    at: usize,
}

impl Reading {
    /// Waits for a message.
    pub(crate) fn receive(input: &mut impl Read) -> Result<Reading, DlfilterError> {
        let mut head = [0; 5];
        input.read_exact(&mut head)?;
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let kind = Kind::ALL.into_iter().find(|kind| *kind as u8 == head[4]);
        let kind = kind.ok_or(DlfilterError::Message("an unknown kind"))?;
        if length == 0 || length > MOST {
            return Err(DlfilterError::Message("its length"));
        }
        let mut bytes = vec![0; length - 1];
        input.read_exact(&mut bytes)?;
        Ok(Reading { kind, bytes, at: 0 })
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn number(&mut self) -> Result<u64, DlfilterError> {
        let bytes = self.take(8)?;
        Ok(bytes
            .iter()
            .rev()
            .fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>, DlfilterError> {
        let length = self.number()?;
        let length = usize::try_from(length).map_err(|_| DlfilterError::Message("a length"))?;
        self.take(length).map(<[u8]>::to_vec)
    }

    pub(crate) fn text(&mut self) -> Result<String, DlfilterError> {
        Ok(String::from_utf8_lossy(&self.bytes()?).into_owned())
    }

    pub(crate) fn optional<T>(
        &mut self,
        read: impl FnOnce(&mut Reading) -> Result<T, DlfilterError>,
    ) -> Result<Option<T>, DlfilterError> {
        match self.number()? {
            0 => Ok(None),
            _ => read(self).map(Some),
        }
    }

    fn take(&mut self, length: usize) -> Result<&[u8], DlfilterError> {
        let end = self
            .at
            .checked_add(length)
            .filter(|&end| end <= self.bytes.len());
        let end = end.ok_or(DlfilterError::Message("it is cut"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }
}

impl Which {
    pub(crate) fn write(self, message: &mut Writing) {
        match self {
            Which::Ip => message.number(0),
            Which::Addr => message.number(1),
            Which::Address(address) => message.number(2).number(address),
        };
    }

    pub(crate) fn read(message: &mut Reading) -> Result<Which, DlfilterError> {
        match message.number()? {
            0 => Ok(Which::Ip),
            1 => Ok(Which::Addr),
            2 => Ok(Which::Address(message.number()?)),
            _ => Err(DlfilterError::Message("a place")),
        }
    }
}

impl FilterSample {
    pub(crate) fn write(&self, message: &mut Writing) {
        let numbers = [
            self.ip,
            self.pid as u64,
            self.tid as u64,
            self.time,
            self.addr,
            self.id,
            self.stream_id,
            self.period,
            self.weight,
            self.ins_lat.into(),
            self.p_stage_cyc.into(),
            self.transaction,
            self.insn_cnt,
            self.cyc_cnt,
            self.cpu as u64,
            self.flags.into(),
            self.data_src,
            self.phys_addr,
            self.data_page_size,
            self.code_page_size,
            self.cgroup,
            self.misc.into(),
            self.addr_correlates_sym.into(),
            self.machine_pid as u64,
            self.vcpu as u64,
        ];
        numbers.into_iter().for_each(|number| {
            message.number(number);
        });
        message.bytes(self.event.as_bytes());
        message.optional(self.raw.as_ref(), |message, raw| {
            message.bytes(raw);
        });
        message.optional(self.branches.as_ref(), |message, branches| {
            message.number(branches.len() as u64);
            branches.iter().flatten().for_each(|&word| {
                message.number(word);
            });
        });
        message.optional(self.callchain.as_ref(), |message, chain| {
            message.number(chain.len() as u64);
            chain.iter().for_each(|&ip| {
                message.number(ip);
            });
        });
    }

    pub(crate) fn read(message: &mut Reading) -> Result<FilterSample, DlfilterError> {
        let mut next = || message.number();
        Ok(FilterSample {
            ip: next()?,
            pid: next()? as i32,
            tid: next()? as i32,
            time: next()?,
            addr: next()?,
            id: next()?,
            stream_id: next()?,
            period: next()?,
            weight: next()?,
            ins_lat: next()? as u16,
            p_stage_cyc: next()? as u16,
            transaction: next()?,
            insn_cnt: next()?,
            cyc_cnt: next()?,
            cpu: next()? as i32,
            flags: next()? as u32,
            data_src: next()?,
            phys_addr: next()?,
            data_page_size: next()?,
            code_page_size: next()?,
            cgroup: next()?,
            misc: next()? as u16,
            addr_correlates_sym: next()? != 0,
            machine_pid: next()? as i32,
            vcpu: next()? as i32,
            event: message.text()?,
            raw: message.optional(Reading::bytes)?,
            branches: message.optional(|message| {
                let count = message.number()?;
                (0..count)
                    .map(|_| Ok([message.number()?, message.number()?, message.number()?]))
                    .collect()
            })?,
            callchain: message.optional(|message| {
                let count = message.number()?;
                (0..count).map(|_| message.number()).collect()
            })?,
        })
    }
}

impl ResolvedAddress {
    pub(crate) fn write(&self, message: &mut Writing) {
        message.number(self.address);
        message.optional(self.symbol.as_ref(), |message, (name, start, end)| {
            message.bytes(name.as_bytes()).number(*start).number(*end);
        });
        message.number(self.binding.into());
        message.optional(self.dso.as_ref(), |message, dso| {
            message.bytes(dso.as_bytes());
        });
        message
            .number(self.is_64_bit.into())
            .number(self.is_kernel.into());
        message
            .bytes(&self.build_id)
            .bytes(self.comm.as_bytes())
            .number(self.filtered.into());
    }

    pub(crate) fn read(message: &mut Reading) -> Result<ResolvedAddress, DlfilterError> {
        Ok(ResolvedAddress {
            address: message.number()?,
            symbol: message
                .optional(|message| Ok((message.text()?, message.number()?, message.number()?)))?,
            binding: message.number()? as u8,
            dso: message.optional(Reading::text)?,
            is_64_bit: message.number()? != 0,
            is_kernel: message.number()? != 0,
            build_id: message.bytes()?,
            comm: message.text()?,
            filtered: message.number()? != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(write: impl FnOnce(&mut Writing)) -> Vec<u8> {
        let (mut message, mut bytes) = (Writing::new(Kind::Sample), Vec::new());
        write(&mut message);
        message.send(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn samples_and_places_come_as_they_were_sent() {
        let sample = FilterSample {
            ip: u64::MAX,
            pid: -1,
            cpu: -1,
            event: "cycles".into(),
            raw: Some(vec![1, 2]),
            branches: Some(vec![[1, 2, 3]]),
            callchain: Some(vec![7]),
            ..FilterSample::default()
        };
        let bytes = sent(|message| sample.write(message));
        let mut message = Reading::receive(&mut bytes.as_slice()).unwrap();
        assert_eq!(
            (message.kind(), FilterSample::read(&mut message).unwrap()),
            (Kind::Sample, sample)
        );
        let place = ResolvedAddress {
            symbol: Some(("f".into(), 1, 2)),
            dso: Some("/bin/a".into()),
            is_kernel: true,
            build_id: vec![9; 20],
            ..ResolvedAddress::default()
        };
        let bytes = sent(|message| place.write(message));
        assert_eq!(
            ResolvedAddress::read(&mut Reading::receive(&mut bytes.as_slice()).unwrap()).unwrap(),
            place
        );
    }

    #[test]
    fn what_is_cut_or_strange_is_refused() {
        let bytes = sent(|message| FilterSample::default().write(message));
        for cut in 0..bytes.len() {
            assert!(Reading::receive(&mut &bytes[..cut]).is_err());
        }
        let mut short =
            Reading::receive(&mut sent(|message| _ = message.number(1 << 40)).as_slice()).unwrap();
        assert!(short.bytes().is_err());
        assert!(Reading::receive(&mut [1, 0, 0, 0, 99].as_slice()).is_err());
        assert!(Reading::receive(&mut [0xff; 5].as_slice()).is_err());
    }
}
