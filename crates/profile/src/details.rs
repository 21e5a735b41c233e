//! Details: what samples say beside their thread, their place and their weight, as far as a key asks for it.
//!
//! A report that asks for none has one detail, an empty one, and pays nothing. Where some are asked for, samples that
//! differ in them are kept apart.

use std::collections::HashMap;

use super::access::{AccessFields, MemoryAccess};
use super::ids::DetailId;
use super::number_keys::{self, NumberKey};

/// One thing that samples can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detail {
    /// A number of the sample itself.
    Number(&'static NumberKey),
    /// The time in nanoseconds, rounded down to [`DetailOptions::time_quantum`].
    Time,
    /// What became of a transaction, as the kernel's bits.
    Transaction,
    /// The cgroup's id.
    Cgroup,
    /// Device and inode of the thread's cgroup namespace, as a text.
    CgroupId,
    /// A tracepoint's record, as a text.
    Trace,
    /// A field of a tracepoint's record, as a text.
    Field(u16),
    /// The access to memory, as a number of [`Details::accesses`].
    Access,
    /// The function of the call chain that [`Profile::note_parents`](super::Profile::note_parents) picked, as a text.
    Parent,
}

impl Detail {
    /// The CPU.
    pub const CPU: Detail = Detail::Number(&number_keys::cpu::CPU);
    /// The socket of the CPU.
    pub const SOCKET: Detail = Detail::Number(&number_keys::socket::SOCKET);
    /// How many threads ran.
    pub const PARALLELISM: Detail = Detail::Number(&number_keys::parallelism::PARALLELISM);
    /// The three parts of the sample's weight: the cost of the access, the latency of the instruction, and that of its
    /// retirement.
    pub const WEIGHTS: [Detail; 3] = [
        Detail::Number(&number_keys::weight::LOCAL_WEIGHT),
        Detail::Number(&number_keys::ins_lat::LOCAL_INS_LAT),
        Detail::Number(&number_keys::retire_lat::LOCAL_RETIRE_LAT),
    ];

    /// True if the value is a text and its number that of [`Details::text`].
    pub const fn is_text(self) -> bool {
        matches!(
            self,
            Detail::CgroupId | Detail::Trace | Detail::Field(_) | Detail::Parent
        )
    }
}

/// What is to be kept of samples.
#[derive(Clone, Debug, Default)]
pub struct DetailOptions {
    /// The details.
    pub details: Vec<Detail>,
    /// The socket of each CPU, as far as the recording tells.
    pub sockets: Vec<Option<u32>>,
    /// Steps of time, in nanoseconds.
    pub time_quantum: u64,
    /// Fields of tracepoints, by the numbers of [`Detail::Field`].
    pub fields: Vec<FieldRequest>,
    /// Parts of [`Detail::Access`].
    pub access: AccessFields,
    /// Records of tracepoints as lists of fields, not as their print formats have them.
    pub raw_traces: bool,
}

/// A field of the records of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRequest {
    /// The event, as an index of [`Profile::events`](super::Profile::events).
    pub event: usize,
    /// The field's name.
    pub name: String,
    /// The field as its bytes say it, not as the print format does.
    pub raw: bool,
    /// The least width of its column.
    pub width: usize,
}

/// A text and what it sorts by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetailText {
    /// Compared byte by byte.
    pub order: Vec<u8>,
    /// The text.
    pub text: String,
}

/// The details of all samples, each combination once.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// What there is of each.
    pub kinds: Vec<Detail>,
    /// The values, one for each kind; those of one combination together.
    pub values: Vec<Option<u64>>,
    /// The texts that values mean.
    pub texts: Vec<DetailText>,
    /// The accesses to memory.
    pub accesses: Vec<MemoryAccess>,
    /// Paths of cgroups by their ids.
    pub cgroups: HashMap<u64, String>,
    /// The fields that were asked for.
    pub fields: Vec<FieldRequest>,
}

impl Details {
    /// A value; `None` where the sample does not say it, or nobody asked for it. Of texts it is their number.
    #[inline]
    pub fn value(&self, id: DetailId, detail: Detail) -> Option<u64> {
        let nth = self.kinds.iter().position(|&kind| kind == detail)?;
        self.values
            .get(id.index() * self.kinds.len() + nth)
            .copied()
            .flatten()
    }

    /// A value that is a text.
    pub fn text(&self, id: DetailId, detail: Detail) -> Option<&str> {
        let number = self.value(id, detail).filter(|_| detail.is_text())?;
        self.texts
            .get(usize::try_from(number).ok()?)
            .map(|text| text.text.as_str())
    }

    /// The place of a combination's access in [`Details::accesses`].
    pub fn access_number(&self, id: DetailId) -> Option<usize> {
        usize::try_from(self.value(id, Detail::Access)?).ok()
    }

    /// The access to memory, if that was asked for.
    pub fn access(&self, id: DetailId) -> Option<&MemoryAccess> {
        self.accesses.get(self.access_number(id)?)
    }

    /// True if anything was asked for.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_lie_one_after_another() {
        let details = Details {
            kinds: vec![Detail::CPU, Detail::Trace],
            values: vec![Some(1), Some(0), None, None],
            texts: vec![DetailText {
                order: Vec::new(),
                text: "a".to_owned(),
            }],
            ..Details::default()
        };
        assert_eq!(details.value(DetailId(0), Detail::CPU), Some(1));
        assert_eq!(details.text(DetailId(0), Detail::Trace), Some("a"));
        assert_eq!(details.text(DetailId(0), Detail::CPU), None);
        assert_eq!(details.value(DetailId(1), Detail::CPU), None);
        assert_eq!(details.value(DetailId(0), Detail::Time), None);
        assert_eq!(details.value(DetailId(2), Detail::CPU), None);
    }
}
