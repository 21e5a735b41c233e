//! Tables and source lines of the recorded kernel, and of guests' kernels.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use oxperf_abi::{BuildId, Pid};
use oxperf_objects::{
    Contents, Elf, Found, ObjectKind, ObjectOrigin, ObjectQuery, running_kernel_build_id,
};

use super::{
    GuestPlaces, KernelSource, Lookup, SourceLookup, SymbolStore, Unavailable, elf_of, filled,
};
use crate::cache::{CacheLookup, Topic};
use crate::demangle::Demangling;
use crate::elf::shift_of;
use crate::kallsyms::kallsyms_table;
use crate::kernel::vmlinux_table;
use crate::names_from::NamesFrom;
use crate::reference_symbol::ReferenceSymbol;
use crate::source::DebugInfo;

impl SymbolStore {
    /// The table of the recorded kernel, from where the options say.
    pub(super) fn build_kernel(
        &self,
        build_id: Option<BuildId>,
        reference: Option<&ReferenceSymbol<'_>>,
    ) -> Lookup {
        let demangling = self.options.kernel_demangling.unwrap_or(Demangling::Off);
        match &self.options.kernel {
            KernelSource::RunningIfSame if other_kernel_runs(build_id) => {
                Err(Unavailable::OtherKernel)
            }
            KernelSource::Running | KernelSource::RunningIfSame => {
                self.running_kernel(reference, demangling)
            }
            KernelSource::Kallsyms(path) => {
                kallsyms(path, reference, demangling, NamesFrom::KernelList)
            }
            KernelSource::Vmlinux(path) => {
                vmlinux(path, reference, demangling, NamesFrom::KernelImage)
            }
            KernelSource::Nothing => Err(Unavailable::Off),
        }
    }

    fn running_kernel(
        &self,
        reference: Option<&ReferenceSymbol<'_>>,
        demangling: Demangling,
    ) -> Lookup {
        let recall = self
            .recall
            .get()
            .map(|CacheLookup(recall)| &**recall as &dyn Fn(BuildId, Topic) -> Option<Vec<u8>>);
        let unusable = |why| Unavailable::Unusable {
            path: PathBuf::from("/proc/kallsyms"),
            why,
        };
        filled(
            self.running
                .table(reference, demangling, recall)
                .map_err(unusable)?,
            NamesFrom::KernelList,
        )
    }

    /// The table of the kernel of the guest that a process runs.
    pub(super) fn build_guest_kernel(
        &self,
        process: Option<Pid>,
        reference: Option<&ReferenceSymbol<'_>>,
    ) -> Lookup {
        let GuestPlaces {
            mounted,
            vmlinux: image,
            kallsyms: list,
        } = &self.options.guests;
        let demangling = self.options.kernel_demangling.unwrap_or(Demangling::Off);
        let own = mounted.as_ref().zip(process);
        let own = own.map(|(mounted, process)| mounted.join(format!("{process}/proc/kallsyms")));
        let own =
            own.and_then(|list| kallsyms(&list, reference, demangling, NamesFrom::GuestList).ok());
        match (own, image, list) {
            (Some(table), ..) => Ok(table),
            (None, Some(image), _) => vmlinux(image, reference, demangling, NamesFrom::GuestImage),
            (None, None, Some(list)) => kallsyms(list, reference, demangling, NamesFrom::GuestList),
            (None, None, None) => Err(Unavailable::Off),
        }
    }

    /// The source lines of a kernel image.
    pub(super) fn open_kernel_source(
        &self,
        path: &Path,
        reference: Option<&ReferenceSymbol<'_>>,
    ) -> SourceLookup {
        let found = Found {
            path: path.to_owned(),
            origin: ObjectOrigin::RecordedPath,
            contents: open(path)?,
        };
        let found = Arc::new(found);
        let image = elf_of(&found)?;
        if !image.has_debug_section(".debug_info") {
            return Err(Unavailable::NoDebugInfo);
        }
        let shift = reference.map_or(0, |reference| shift_of(&image, reference));
        let name = path.as_os_str().as_encoded_bytes();
        let wanted = ObjectQuery {
            path: name,
            build_id: None,
            kind: ObjectKind::User,
            process: None,
        };
        let demangling = self.options.kernel_demangling.unwrap_or(Demangling::Off);
        let info = DebugInfo::of_kernel(
            Arc::clone(&found),
            shift,
            &wanted,
            &self.locator,
            demangling,
        );
        if let Some(recall) = self.recall.get() {
            info.remember(recall.clone());
        }
        Ok(Arc::new(info))
    }
}

fn other_kernel_runs(recorded: Option<BuildId>) -> bool {
    match (recorded, running_kernel_build_id()) {
        (Some(recorded), Some(running)) => recorded.padded() != running.padded(),
        _ => false,
    }
}

fn kallsyms(
    path: &Path,
    reference: Option<&ReferenceSymbol<'_>>,
    demangling: Demangling,
    from: NamesFrom,
) -> Lookup {
    filled(kallsyms_table(&read(path)?, reference, demangling), from)
}

fn vmlinux(
    path: &Path,
    reference: Option<&ReferenceSymbol<'_>>,
    demangling: Demangling,
    from: NamesFrom,
) -> Lookup {
    let contents = read(path)?;
    let unusable = |why: oxperf_objects::ElfError| Unavailable::Unusable {
        path: path.to_owned(),
        why: why.into(),
    };
    let image = Elf::parse(&contents).map_err(unusable)?;
    filled(vmlinux_table(&image, reference, demangling), from)
}

fn read(path: &Path) -> Result<Contents, Unavailable> {
    Contents::read(path).map_err(|why| Unavailable::Unusable {
        path: path.to_owned(),
        why,
    })
}

fn open(path: &Path) -> Result<Contents, Unavailable> {
    Contents::open(path).map_err(|why| Unavailable::Unusable {
        path: path.to_owned(),
        why,
    })
}
