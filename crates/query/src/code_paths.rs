//! Where the code that hardware trace ran through is looked for, as the options and the recording say.

use std::path::{Path, PathBuf};

use oxperf_data::Reader;
use oxperf_data::directory::KERNEL_COPY_NAME;
use oxperf_data::features::{BpfProgInfo, OsRelease};
use oxperf_itrace::{CodeSearchPaths, KernelSearchPaths};
use oxperf_objects::SearchPaths;
use oxperf_objects::running_kernel_build_id;

use crate::SymbolOptions;

/// The search paths for a recording.
pub(crate) fn find(
    options: &SymbolOptions,
    recording: &Path,
    reader: &Reader<'_>,
) -> CodeSearchPaths {
    let files = options.search_paths.clone();
    let cache = files.build_id_cache.as_ref();
    let kernel = KernelSearchPaths {
        parts: programs(reader),
        named_image: options.vmlinux.clone(),
        copies: copies(options.kallsyms.as_deref(), recording),
        cached_copies: cache.map(|cache| cache.join("[kernel.kcore]")),
        images: images(&files, reader),
        symbols: options.kallsyms.clone(),
        running: running_kernel_build_id().filter(|_| files.root.is_none()),
    };
    CodeSearchPaths {
        files,
        kernel,
        guest_kernels: options.guests.kernel_code(),
        guest_code: options.guests.code_in_host,
    }
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().map(Path::to_owned).unwrap_or_default()
}

/// The folder of the symbols that the user names, else the one in a recording that is a directory.
fn copies(kallsyms: Option<&Path>, recording: &Path) -> Vec<PathBuf> {
    vec![kallsyms.map_or_else(|| recording.join(KERNEL_COPY_NAME), folder_of)]
}

/// The usual places of the recorded kernel's image.
fn images(files: &SearchPaths, reader: &Reader<'_>) -> Vec<PathBuf> {
    let Some(OsRelease(release)) = reader.features().get().ok().flatten() else {
        return Vec::new();
    };
    let places = [
        format!("/boot/vmlinux-{release}"),
        format!("/usr/lib/debug/boot/vmlinux-{release}"),
        format!("/lib/modules/{release}/build/vmlinux"),
        format!("/usr/lib/debug/lib/modules/{release}/vmlinux"),
        format!("/usr/lib/debug/boot/vmlinux-{release}.debug"),
    ];
    places
        .iter()
        .filter_map(|path| files.recorded(path.as_bytes()).ok())
        .collect()
}

/// The code of the BPF programs that the recording holds.
fn programs(reader: &Reader<'_>) -> Vec<(u64, Vec<u8>)> {
    let programs = reader
        .features()
        .get::<BpfProgInfo>()
        .ok()
        .flatten()
        .unwrap_or_default();
    programs
        .0
        .iter()
        .flat_map(|program| program.code(reader.features().endian()))
        .collect()
}
