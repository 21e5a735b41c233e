//! Lines of the features that simpleperf adds.

use oxperf_data::FeatureId;
use oxperf_data::features::{
    DebugUnwind, FileKind, MetaInfo, RecordedFile, SimpleperfFiles, SimpleperfFiles2,
};

use super::{Lines, Page};
use crate::text::sanitize;

impl Page<'_> {
    pub(super) fn simpleperf(&mut self, id: FeatureId) -> Lines {
        match id {
            FeatureId::SIMPLEPERF_META_INFO => self.meta_info(),
            FeatureId::SIMPLEPERF_DEBUG_UNWIND => self.debug_unwind(),
            FeatureId::SIMPLEPERF_FILE => {
                let files = self.get::<SimpleperfFiles>()?.0;
                self.recorded_files(&files)
            }
            FeatureId::SIMPLEPERF_FILE2 => {
                let files = self.get::<SimpleperfFiles2>()?.0;
                self.recorded_files(&files)
            }
            _ => {
                let size = self.features.raw(id)?.map_or(0, <[u8]>::len);
                self.line(format_args!("simpleperf {id} : {size} bytes"));
                Ok(())
            }
        }
    }

    fn meta_info(&mut self) -> Lines {
        for (key, value) in self.get::<MetaInfo>()?.0 {
            // One value may hold the lines of several events.
            for line in value.split('\n') {
                self.line(format_args!(
                    "simpleperf {} : {}",
                    sanitize(&key),
                    sanitize(line)
                ));
            }
        }
        Ok(())
    }

    fn debug_unwind(&mut self) -> Lines {
        for file in self.get::<DebugUnwind>()?.0 {
            self.line(format_args!(
                "simpleperf kept file : {}, {} bytes",
                sanitize(&file.path),
                file.size
            ));
        }
        Ok(())
    }

    fn recorded_files(&mut self, files: &[RecordedFile]) -> Lines {
        for file in files {
            let (path, kind, count) = (
                sanitize(&file.path),
                kind_name(file.kind),
                file.symbols.len(),
            );
            self.line(format_args!(
                "simpleperf file : {path} ({kind}), {count} symbols"
            ));
        }
        Ok(())
    }
}

fn kind_name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::KERNEL => "kernel",
        FileKind::KERNEL_MODULE => "kernel module",
        FileKind::ELF => "ELF",
        FileKind::DEX => "dex",
        FileKind::SYMBOL_MAP => "map file",
        _ => "unknown",
    }
}
