//! FILE: the binaries with their symbols, as structures one behind the other.

use oxperf_wire::{Cursor, Encoder};

use super::super::{Feature, FeatureContext, FeatureId};
use super::{FileDetail, FileKind, RecordedFile, RecordedSymbol, text};
use crate::FeatureFault;

/// The binaries that samples hit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SimpleperfFiles(pub Vec<RecordedFile>);

impl Feature for SimpleperfFiles {
    const ID: FeatureId = FeatureId::SIMPLEPERF_FILE;

    fn decode(
        cursor: &mut Cursor<'_>,
        _: &FeatureContext,
    ) -> Result<SimpleperfFiles, FeatureFault> {
        let mut files = Vec::new();
        while cursor.remaining() > 0 {
            let size = cursor.u32()?;
            let bytes = cursor.items(u64::from(size), 1)?;
            files.push(decode_file(&mut Cursor::new(bytes, cursor.endian()))?);
        }
        Ok(SimpleperfFiles(files))
    }

    fn encode(&self, encoder: &mut Encoder) {
        for file in &self.0 {
            let mut one = Encoder::new(encoder.endian());
            encode_file(&mut one, file);
            encoder.u32(one.len() as u32);
            encoder.bytes(one.as_bytes());
        }
    }
}

fn decode_file(cursor: &mut Cursor<'_>) -> Result<RecordedFile, FeatureFault> {
    let path = text::take(cursor)?;
    let kind = FileKind(cursor.u32()?);
    let min_vaddr = cursor.u64()?;
    let count = cursor.u32()?;
    let mut symbols = Vec::new();
    for _ in 0..count {
        symbols.push(RecordedSymbol {
            start: cursor.u64()?,
            size: cursor.u32()?,
            name: text::take(cursor)?,
        });
    }
    Ok(RecordedFile {
        path,
        kind,
        min_vaddr,
        symbols,
        detail: decode_detail(kind, cursor)?,
    })
}

/// Older recorders end before it.
fn decode_detail(kind: FileKind, cursor: &mut Cursor<'_>) -> Result<FileDetail, FeatureFault> {
    if cursor.remaining() == 0 {
        return Ok(FileDetail::None);
    }
    Ok(match kind {
        FileKind::DEX => {
            let count = cursor.u32()?;
            let offsets = (0..count).map(|_| cursor.u64()).collect::<Result<_, _>>()?;
            FileDetail::DexOffsets(offsets)
        }
        FileKind::ELF => FileDetail::FileOffset(cursor.u64()?),
        FileKind::KERNEL_MODULE => FileDetail::MemoryOffset(cursor.u64()?),
        _ => FileDetail::None,
    })
}

fn encode_file(encoder: &mut Encoder, file: &RecordedFile) {
    text::put(encoder, &file.path);
    encoder.u32(file.kind.0);
    encoder.u64(file.min_vaddr);
    encoder.u32(file.symbols.len() as u32);
    for symbol in &file.symbols {
        encoder.u64(symbol.start);
        encoder.u32(symbol.size);
        text::put(encoder, &symbol.name);
    }
    match &file.detail {
        FileDetail::None => {}
        FileDetail::DexOffsets(offsets) => {
            encoder.u32(offsets.len() as u32);
            offsets.iter().for_each(|offset| encoder.u64(*offset));
        }
        FileDetail::FileOffset(offset) | FileDetail::MemoryOffset(offset) => encoder.u64(*offset),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{from_little, round_trip};
    use super::*;

    #[test]
    fn files_of_all_kinds_round_trip() {
        let symbol = RecordedSymbol {
            start: 0x104c,
            size: 112,
            name: "_Z9Function1v".into(),
        };
        let elf = RecordedFile {
            path: "/data/local/tmp/app".into(),
            kind: FileKind::ELF,
            min_vaddr: 0x1000,
            symbols: vec![symbol],
            detail: FileDetail::FileOffset(0x1000),
        };
        let of = |kind, detail| RecordedFile {
            kind,
            detail,
            ..RecordedFile::default()
        };
        round_trip(&SimpleperfFiles(vec![
            elf,
            of(FileKind::ELF, FileDetail::None),
            of(FileKind::DEX, FileDetail::DexOffsets(vec![0x2c, 0x91_b1c4])),
            of(FileKind::KERNEL_MODULE, FileDetail::MemoryOffset(24)),
        ]));
    }

    #[test]
    fn a_count_that_lies_is_a_fault() {
        let bytes = [
            &[20, 0, 0, 0, b'x', 0, 2, 0, 0, 0][..],
            &[0; 8],
            &[9, 0, 0, 0, 0, 0],
        ]
        .concat();
        assert!(from_little::<SimpleperfFiles>(&bytes).is_err());
    }
}
