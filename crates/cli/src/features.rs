//! The features of perf's builds, by perf's names: those that this program has, and those that it has not.

use std::fmt::Write;

/// A feature.
struct Feature {
    name: &'static str,
    /// The name that perf's build gives it.
    macro_name: &'static str,
    is_on: bool,
    /// The way to get at the same, where the feature is missing.
    tip: &'static str,
}

const fn on(name: &'static str, macro_name: &'static str) -> Feature {
    Feature {
        name,
        macro_name,
        is_on: true,
        tip: "",
    }
}

const fn off(name: &'static str, macro_name: &'static str, tip: &'static str) -> Feature {
    Feature {
        name,
        macro_name,
        is_on: false,
        tip,
    }
}

/// All of them, in the order of perf 7.2. A feature is on if this program does what perf does with it, with whatever
/// library.
const ALL: &[Feature] = &[
    off("aio", "HAVE_AIO_SUPPORT", ""),
    off("bpf", "HAVE_LIBBPF_SUPPORT", ""),
    off("bpf_skeletons", "HAVE_BPF_SKEL", ""),
    on("debuginfod", "HAVE_DEBUGINFOD_SUPPORT"),
    on("dwarf", "HAVE_LIBDW_SUPPORT"),
    on("dwarf_getlocations", "HAVE_LIBDW_SUPPORT"),
    on("dwarf-unwind", "HAVE_DWARF_UNWIND_SUPPORT"),
    off(
        "libbfd",
        "HAVE_LIBBFD_SUPPORT",
        "names and lines are read without it",
    ),
    on(
        "babeltrace2-ctf-writer",
        "HAVE_BABELTRACE2_CTF_WRITER_SUPPORT",
    ),
    off("libbpf-strings", "HAVE_LIBBPF_STRINGS_SUPPORT", ""),
    off(
        "libcapstone",
        "HAVE_LIBCAPSTONE_SUPPORT",
        "instructions are shown without it",
    ),
    on("libdw-dwarf-unwind", "HAVE_LIBDW_SUPPORT"),
    on("libelf", "HAVE_LIBELF_SUPPORT"),
    off(
        "libLLVM",
        "HAVE_LIBLLVM_SUPPORT",
        "instructions are shown without it",
    ),
    off("libnuma", "HAVE_LIBNUMA_SUPPORT", ""),
    off("libopencsd", "HAVE_CSTRACE_SUPPORT", ""),
    off(
        "libperl",
        "HAVE_LIBPERL_SUPPORT",
        "script -s FILE.pl reads samples as lines of JSON",
    ),
    off("libpfm4", "HAVE_LIBPFM", ""),
    off(
        "libpython",
        "HAVE_LIBPYTHON_SUPPORT",
        "script -s FILE.py reads samples as lines of JSON",
    ),
    on("libslang", "HAVE_SLANG_SUPPORT"),
    on("libtraceevent", "HAVE_LIBTRACEEVENT"),
    off(
        "libunwind",
        "HAVE_LIBUNWIND_SUPPORT",
        "stacks are unwound without it",
    ),
    on("lzma", "HAVE_LZMA_SUPPORT"),
    off("numa_num_possible_cpus", "HAVE_LIBNUMA_SUPPORT", ""),
    on("zlib", "HAVE_ZLIB_SUPPORT"),
    on("zstd", "HAVE_ZSTD_SUPPORT"),
    off("rust", "HAVE_RUST_SUPPORT", ""),
];

/// The version, as `--version` prints it.
pub(crate) fn version(program: &str) -> String {
    format!("{program} version {}", env!("CARGO_PKG_VERSION"))
}

/// All features, a line each.
pub(crate) fn all() -> String {
    ALL.iter().map(|feature| line(feature) + "\n").collect()
}

/// The line about a feature, and whether it is there. The name is perf's for it, or that of the build, in either case of
/// letters. `None` if there is no such feature.
pub(crate) fn find(name: &str) -> Option<(String, bool)> {
    let named = |feature: &&Feature| {
        feature.name.eq_ignore_ascii_case(name) || feature.macro_name.eq_ignore_ascii_case(name)
    };
    let feature = ALL.iter().find(named)?;
    Some((line(feature), feature.is_on))
}

fn line(feature: &Feature) -> String {
    let state = if feature.is_on { " on  " } else { " OFF " };
    let mut line = format!("{:>22}: [{state}]  # {}", feature.name, feature.macro_name);
    if !feature.tip.is_empty() {
        let _ = write!(line, " ( tip: {} )", feature.tip);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_found_by_both_names() {
        let zstd = "                  zstd: [ on  ]  # HAVE_ZSTD_SUPPORT";
        assert_eq!(find("ZSTD"), Some((zstd.to_owned(), true)));
        assert_eq!(find("have_zstd_support"), find("zstd"));
        assert_eq!(find("libpfm4").map(|(_, is_on)| is_on), Some(false));
        assert_eq!(find(" zstd"), None);
        assert_eq!(all().lines().count(), 27);
    }
}
