//! BPF_PROG_INFO and BPF_BTF: the BPF programs that were loaded, and their types, as the kernel described them.

use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId, decode_list, encode_list};
use crate::FeatureFault;

/// The loaded BPF programs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BpfProgInfo(pub Vec<BpfProgram>);

/// One program. The bytes are the kernel's structures in the recorder's byte order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BpfProgram {
    /// Which arrays `data` holds, one bit each.
    pub arrays: u64,
    /// The kernel's `bpf_prog_info`.
    pub info: Vec<u8>,
    /// The arrays that it refers to.
    pub data: Vec<u8>,
}

impl BpfProgram {
    /// The program's number, in `info` after its type.
    pub fn id(&self, endian: oxperf_wire::Endian) -> Option<u32> {
        let mut cursor = Cursor::new(&self.info, endian);
        cursor.u32().and_then(|_| cursor.u32()).ok()
    }
}

impl Feature for BpfProgInfo {
    const ID: FeatureId = FeatureId::BPF_PROG_INFO;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<BpfProgInfo, FeatureFault> {
        let programs = decode_list(cursor, |cursor| {
            let info_size = cursor.u32()?;
            let data_size = cursor.u32()?;
            Ok(BpfProgram {
                arrays: cursor.u64()?,
                info: cursor.items(u64::from(info_size), 1)?.to_vec(),
                data: cursor.items(u64::from(data_size), 1)?.to_vec(),
            })
        });
        programs.map(BpfProgInfo)
    }

    fn encode(&self, encoder: &mut Encoder) {
        encode_list(encoder, &self.0, |encoder, program| {
            encoder.u32(program.info.len() as u32);
            encoder.u32(program.data.len() as u32);
            encoder.u64(program.arrays);
            encoder.bytes(&program.info);
            encoder.bytes(&program.data);
        });
    }
}

/// The type information of BPF programs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BpfBtf(pub Vec<BpfObject>);

/// One piece of type information.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BpfObject {
    /// The kernel's number of it.
    pub id: u32,
    /// BTF bytes.
    pub data: Vec<u8>,
}

impl Feature for BpfBtf {
    const ID: FeatureId = FeatureId::BPF_BTF;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<BpfBtf, FeatureFault> {
        let objects = decode_list(cursor, |cursor| {
            let id = cursor.u32()?;
            let size = cursor.u32()?;
            Ok(BpfObject { id, data: cursor.items(u64::from(size), 1)?.to_vec() })
        });
        objects.map(BpfBtf)
    }

    fn encode(&self, encoder: &mut Encoder) {
        encode_list(encoder, &self.0, |encoder, object| {
            encoder.u32(object.id);
            encoder.u32(object.data.len() as u32);
            encoder.bytes(&object.data);
        });
    }
}

#[cfg(test)]
mod tests {
    use oxperf_wire::Endian;

    use super::super::testing::round_trip;
    use super::*;

    #[test]
    fn programs_round_trip() {
        let program = BpfProgram { arrays: 3, info: vec![8, 0, 0, 0, 42, 0, 0, 0], data: vec![1] };
        assert_eq!(program.id(Endian::Little), Some(42));
        assert_eq!(BpfProgram::default().id(Endian::Little), None);
        round_trip(&BpfProgInfo(vec![program]));
        round_trip(&BpfBtf(vec![BpfObject { id: 9, data: vec![0x9f, 0xeb] }]));
    }
}
