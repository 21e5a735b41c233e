//! Runs every example: each asserts what it shows. One that this machine or this user cannot run says so.

// An example that cannot run says so.
#![allow(clippy::print_stderr)]

use oxperf_sys::{OpenError, ProbeError};
use std::error::Error;
use std::io::ErrorKind;

macro_rules! examples {
    ($($name:ident)*) => {
        #[path = "../examples"]
        mod shown {
            $(pub(crate) mod $name;)*
        }

        mod run {
            $(
                #[test]
                fn $name() {
                    super::check(stringify!($name), super::shown::$name::main());
                }
            )*

            /// No example is left out.
            #[test]
            fn all_of_them() {
                let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
                let mut files: Vec<String> = std::fs::read_dir(folder)
                    .unwrap()
                    .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                    .collect();
                files.sort_unstable();
                let mut run = [$(concat!(stringify!($name), ".rs")),*];
                run.sort_unstable();
                assert_eq!(files, run);
            }
        }
    };
}

examples! {
    breakpoints cgroups counting cpus event_kinds groups inheritance multiplexing newest_records own_events
    pinned_and_exclusive privilege_levels refreshing sampling shared_ring side_records signals switching tasks traces
    tracepoints uprobes user_reads waiting
}

/// Fails but for reasons that are the machine's.
fn check(name: &str, result: Result<(), Box<dyn Error>>) {
    match result {
        Ok(()) => {}
        Err(error) if is_machines(&*error) => {
            eprintln!("SKIPPED: {name} cannot run here: {error}");
        }
        Err(error) => panic!("{name}: {error}"),
    }
}

fn is_machines(error: &(dyn Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref() {
        return matches!(
            error,
            OpenError::AccessDenied | OpenError::NotPermitted | OpenError::NotImplemented
        );
    }
    if let Some(error) = error.downcast_ref() {
        return matches!(error, ProbeError::NoPmu { .. });
    }
    let kind = error
        .downcast_ref::<std::io::Error>()
        .map(std::io::Error::kind);
    matches!(
        kind,
        Some(ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
    )
}
