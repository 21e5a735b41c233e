//! BPF_PROG_INFO and BPF_BTF: the BPF programs that were loaded, and their types, as the kernel described them.

use oxperf_wire::{Cursor, Encoder, Endian};

use super::{Feature, FeatureContext, FeatureId, btf, decode_list, encode_list};
use crate::FeatureFault;

/// The loaded BPF programs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BpfProgInfo(pub Vec<BpfProgram>);

/// One program. The bytes are the kernel's structures in the recorder's byte order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BpfProgram {
    /// The arrays that `data` holds, one bit each.
    pub arrays: u64,
    /// The kernel's `bpf_prog_info`.
    pub info: Vec<u8>,
    /// The arrays that it refers to.
    pub data: Vec<u8>,
}

/// A function of a BPF program in the kernel's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BpfFunction {
    /// Its name in the kernel's symbols, such as `bpf_prog_6deef7357e7b4530_F`.
    pub name: String,
    /// Address of its first instruction.
    pub address: u64,
    /// Their size in bytes.
    pub size: u32,
}

/// Places of fields in the kernel's `bpf_prog_info`.
mod field {
    pub(super) const ID: usize = 4;
    pub(super) const CODE: usize = 24;
    pub(super) const NAME: usize = 64;
    pub(super) const NR_KSYMS: usize = 104;
    pub(super) const KSYMS: usize = 112;
    pub(super) const FUNC_LENS: usize = 120;
    pub(super) const BTF_ID: usize = 128;
    pub(super) const FUNC_INFO_SIZE: usize = 132;
    pub(super) const FUNC_INFO: usize = 136;
    pub(super) const PROG_TAGS: usize = 184;
}

impl BpfProgram {
    /// The program's number.
    pub fn id(&self, endian: Endian) -> Option<u32> {
        self.number(field::ID, endian)
    }

    /// Its functions, the main one first, named from the type information among `types` as far as that is there.
    pub fn functions(&self, endian: Endian, types: &BpfBtf) -> Vec<BpfFunction> {
        let count = self.number(field::NR_KSYMS, endian).unwrap_or(0);
        let mut addresses = self.array(field::KSYMS, endian);
        let mut sizes = self.array(field::FUNC_LENS, endian);
        let mut tags = self.array(field::PROG_TAGS, endian);
        let mut function = |index| {
            let tag: String = tags
                .bytes(8)
                .ok()?
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            let (address, size) = (addresses.u64().ok()?, sizes.u32().ok()?);
            let own = self
                .function_name(index, endian, types)
                .unwrap_or_else(|| self.name(count));
            let name = if own.is_empty() {
                format!("bpf_prog_{tag}")
            } else {
                format!("bpf_prog_{tag}_{own}")
            };
            Some(BpfFunction {
                name,
                address,
                size,
            })
        };
        (0..count)
            .map_while(|index| function(index as usize))
            .collect()
    }

    /// The machine code of its functions, with their addresses.
    pub fn code(&self, endian: Endian) -> Vec<(u64, Vec<u8>)> {
        let count = self.number(field::NR_KSYMS, endian).unwrap_or(0);
        let mut addresses = self.array(field::KSYMS, endian);
        let mut sizes = self.array(field::FUNC_LENS, endian);
        let mut code = self.array(field::CODE, endian);
        let mut function = |_| {
            let (address, size) = (addresses.u64().ok()?, sizes.u32().ok()?);
            Some((address, code.bytes(size as usize).ok()?.to_vec()))
        };
        (0..count).map_while(&mut function).collect()
    }

    /// The name of a function in the type information.
    fn function_name(&self, index: usize, endian: Endian, types: &BpfBtf) -> Option<String> {
        let id = self.number(field::BTF_ID, endian).filter(|id| *id != 0)?;
        let types = types.0.iter().find(|object| object.id == id)?;
        let entry_size = self.number(field::FUNC_INFO_SIZE, endian)? as usize;
        let mut entry = self.array(field::FUNC_INFO, endian);
        entry.bytes(entry_size.checked_mul(index)?).ok()?;
        entry.u32().ok()?;
        btf::type_name(&types.data, entry.u32().ok()?, endian)
    }

    /// The name without type information: the program's own when it has but one function.
    fn name(&self, functions: u32) -> String {
        if functions > 1 {
            return "F".to_owned();
        }
        let name = self
            .info
            .get(field::NAME..field::NAME + 16)
            .unwrap_or_default();
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    }

    fn number(&self, place: usize, endian: Endian) -> Option<u32> {
        Cursor::new(self.info.get(place..)?, endian).u32().ok()
    }

    /// Reads `data` from the place that a field of `info` names.
    fn array(&self, place: usize, endian: Endian) -> Cursor<'_> {
        let place = self.info.get(place..).unwrap_or_default();
        let offset = Cursor::new(place, endian)
            .u64()
            .ok()
            .and_then(|offset| usize::try_from(offset).ok());
        let bytes = offset
            .and_then(|offset| self.data.get(offset..))
            .unwrap_or_default();
        Cursor::new(bytes, endian)
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
            Ok(BpfObject {
                id,
                data: cursor.items(u64::from(size), 1)?.to_vec(),
            })
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
    use super::super::testing::round_trip;
    use super::*;

    #[test]
    fn programs_round_trip() {
        let program = BpfProgram {
            arrays: 3,
            info: vec![8, 0, 0, 0, 42, 0, 0, 0],
            data: vec![1],
        };
        assert_eq!(program.id(Endian::Little), Some(42));
        assert_eq!(BpfProgram::default().id(Endian::Little), None);
        round_trip(&BpfProgInfo(vec![program]));
        round_trip(&BpfBtf(vec![BpfObject {
            id: 9,
            data: vec![0x9f, 0xeb],
        }]));
    }

    #[test]
    fn functions_come_from_the_arrays() {
        let mut info = vec![0; 192];
        info[64..67].copy_from_slice(b"lsm");
        info[104] = 1;
        info[112] = 0;
        info[120] = 8;
        info[184] = 16;
        let mut data = 0xffff_ffff_c01c_17c8_u64.to_le_bytes().to_vec();
        data.extend([54, 0, 0, 0, 0, 0, 0, 0]);
        data.extend([0x6d, 0xee, 0xf7, 0x35, 0x7e, 0x7b, 0x45, 0x30]);
        let program = BpfProgram {
            arrays: 0,
            info,
            data,
        };
        let name = "bpf_prog_6deef7357e7b4530_lsm".to_owned();
        let function = BpfFunction {
            name,
            address: 0xffff_ffff_c01c_17c8,
            size: 54,
        };
        assert_eq!(
            program.functions(Endian::Little, &BpfBtf::default()),
            [function]
        );
        assert_eq!(BpfProgram::default().code(Endian::Little), []);
        assert_eq!(
            BpfProgram::default().functions(Endian::Little, &BpfBtf::default()),
            []
        );
    }
}
