//! FILE2: the binaries with their symbols, as protobuf messages.

use oxperf_wire::{Cursor, Encoder};

use super::super::{Feature, FeatureContext, FeatureId};
use super::proto::{fields, numbers, put_bytes, put_number, put_varint};
use super::{FileDetail, FileKind, RecordedFile, RecordedSymbol};
use crate::FeatureFault;

/// The binaries that samples hit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SimpleperfFiles2(pub Vec<RecordedFile>);

impl Feature for SimpleperfFiles2 {
    const ID: FeatureId = FeatureId::SIMPLEPERF_FILE2;

    fn decode(
        cursor: &mut Cursor<'_>,
        _: &FeatureContext,
    ) -> Result<SimpleperfFiles2, FeatureFault> {
        let mut files = Vec::new();
        while cursor.remaining() > 0 {
            let size = cursor.u32()?;
            files.push(decode_file(cursor.items(u64::from(size), 1)?)?);
        }
        Ok(SimpleperfFiles2(files))
    }

    fn encode(&self, encoder: &mut Encoder) {
        for file in &self.0 {
            let message = encode_file(file);
            encoder.u32(message.len() as u32);
            encoder.bytes(&message);
        }
    }
}

fn decode_file(message: &[u8]) -> Result<RecordedFile, FeatureFault> {
    let mut file = RecordedFile::default();
    fields(message, |field, value| {
        match field {
            1 => file.path = value.text(),
            2 => file.kind = FileKind(value.number() as u32),
            3 => file.min_vaddr = value.number(),
            4 => file.symbols.push(decode_symbol(value.bytes())?),
            5 => file.detail = FileDetail::DexOffsets(list(value.bytes())?),
            6 => file.detail = FileDetail::FileOffset(single(value.bytes())?),
            7 => file.detail = FileDetail::MemoryOffset(single(value.bytes())?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(file)
}

fn decode_symbol(message: &[u8]) -> Result<RecordedSymbol, FeatureFault> {
    let mut symbol = RecordedSymbol::default();
    fields(message, |field, value| {
        match field {
            1 => symbol.start = value.number(),
            2 => symbol.size = value.number() as u32,
            3 => symbol.name = value.text(),
            _ => {}
        }
        Ok(())
    })?;
    Ok(symbol)
}

/// A message whose first field is a list of numbers.
fn list(message: &[u8]) -> Result<Vec<u64>, FeatureFault> {
    let mut found = Vec::new();
    fields(message, |field, value| {
        if field == 1 {
            numbers(value, &mut found)
        } else {
            Ok(())
        }
    })?;
    Ok(found)
}

/// A message whose first field is a number.
fn single(message: &[u8]) -> Result<u64, FeatureFault> {
    Ok(list(message)?.last().copied().unwrap_or(0))
}

fn encode_file(file: &RecordedFile) -> Vec<u8> {
    let mut out = Vec::new();
    put_bytes(&mut out, 1, file.path.as_bytes());
    put_number(&mut out, 2, u64::from(file.kind.0));
    put_number(&mut out, 3, file.min_vaddr);
    for symbol in &file.symbols {
        let mut message = Vec::new();
        put_number(&mut message, 1, symbol.start);
        put_number(&mut message, 2, u64::from(symbol.size));
        put_bytes(&mut message, 3, symbol.name.as_bytes());
        put_bytes(&mut out, 4, &message);
    }
    let mut detail = Vec::new();
    match &file.detail {
        FileDetail::None => return out,
        FileDetail::DexOffsets(offsets) => {
            let mut packed = Vec::new();
            offsets
                .iter()
                .for_each(|offset| put_varint(&mut packed, *offset));
            put_bytes(&mut detail, 1, &packed);
            put_bytes(&mut out, 5, &detail);
        }
        FileDetail::FileOffset(offset) => {
            put_number(&mut detail, 1, *offset);
            put_bytes(&mut out, 6, &detail);
        }
        FileDetail::MemoryOffset(offset) => {
            put_number(&mut detail, 1, *offset);
            put_bytes(&mut out, 7, &detail);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::round_trip;
    use super::*;

    #[test]
    fn files_of_all_kinds_round_trip() {
        let symbol = RecordedSymbol {
            start: 0x54c0_5060,
            size: 4,
            name: "Main.run".into(),
        };
        let of = |kind, detail| RecordedFile {
            path: "/x".into(),
            kind,
            min_vaddr: 0x1000,
            symbols: vec![symbol.clone()],
            detail,
        };
        round_trip(&SimpleperfFiles2(vec![
            of(FileKind::KERNEL, FileDetail::None),
            of(FileKind::ELF, FileDetail::FileOffset(0)),
            of(FileKind::DEX, FileDetail::DexOffsets(vec![0x2c, 0x91_b1c4])),
            of(FileKind::KERNEL_MODULE, FileDetail::MemoryOffset(24)),
        ]));
    }
}
