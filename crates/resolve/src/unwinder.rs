//! Call chains from copies of stacks: the unwinder's walk over the machine's address spaces, for many samples at once.

use std::sync::OnceLock;

use oxperf_abi::CpuMode;
use oxperf_machine::{Dso, DsoKind, JitSymbol, Machine, ThreadId};
use oxperf_objects::{Elf, Locator, ObjectKind, ObjectQuery, SearchPaths};
use oxperf_session::SampleEvent;
use oxperf_unwind::{
    AddressSpace, Arch, Location, ObjectKey, Snapshot, StackCopy, UnwindCache, UnwindEnd,
    UnwindInfo, walk,
};
use oxperf_wire::{Endian, Registers, Sample};
use rayon::prelude::*;

/// The values of a sample's "which registers" for those of a 32-bit program and of a 64-bit one.
const ABI_32: u64 = 1;
const ABI_64: u64 = 2;

/// Unwinds the stacks that samples hold. Each object is opened once, each instruction's rules are read once.
#[derive(Debug)]
pub struct Unwinder {
    arch: Option<Arch>,
    objects: Objects,
    /// One for each core: none waits for another.
    workers: Vec<Worker>,
    /// For a sample alone.
    alone: Worker,
    /// Number of samples that each worker had of those that were unwound at once.
    share: usize,
}

/// A stack that was unwound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unwound<'a> {
    /// The addresses, innermost first.
    pub addresses: &'a [u64],
    /// The reason why there are no more.
    pub end: UnwindEnd,
}

/// The tables and the counts of one core.
#[derive(Debug, Default)]
struct Worker {
    cache: UnwindCache,
    addresses: Vec<u64>,
    /// For each sample, where its addresses end, and why; `None` for one without a stack.
    done: Vec<(usize, Option<UnwindEnd>)>,
}

impl Unwinder {
    /// Unwinds stacks of a machine of this kind, with the objects in these places. Where the kind is not told it is
    /// taken from the registers that were recorded.
    pub fn new(places: SearchPaths, machine: Option<&str>) -> Unwinder {
        let workers = (0..rayon::current_num_threads().max(1))
            .map(|_| Worker::default())
            .collect();
        let arch = machine.and_then(Arch::by_name);
        Unwinder {
            arch,
            objects: Objects::new(places, arch),
            workers,
            alone: Worker::default(),
            share: 1,
        }
    }

    /// Unwinds many samples on all cores; see [`Unwinder::unwound`].
    pub(crate) fn unwind_all(
        &mut self,
        machine: &Machine,
        samples: &[SampleEvent<'_>],
        limit: usize,
    ) {
        self.objects.grow(machine);
        self.share = samples.len().div_ceil(self.workers.len()).max(1);
        let (arch, objects) = (self.arch, &self.objects);
        self.workers.iter_mut().for_each(Worker::clear);
        let shares = self
            .workers
            .par_iter_mut()
            .zip(samples.par_chunks(self.share));
        shares.for_each(|(worker, samples)| {
            for event in samples {
                worker.unwind(
                    arch,
                    Thread {
                        machine,
                        objects,
                        thread: event.thread,
                    },
                    &event.sample,
                    limit,
                );
            }
        });
    }

    /// One of the samples that were unwound together; `None` when it had no stack.
    pub(crate) fn unwound(&self, place: usize) -> Option<Unwound<'_>> {
        self.workers
            .get(place / self.share)?
            .unwound(place % self.share)
    }

    /// Unwinds one sample; `None` when it holds no stack.
    pub(crate) fn unwind(
        &mut self,
        machine: &Machine,
        thread: ThreadId,
        sample: &Sample<'_>,
        limit: usize,
    ) -> Option<Unwound<'_>> {
        self.objects.grow(machine);
        let (arch, objects) = (self.arch, &self.objects);
        self.alone.clear();
        self.alone.unwind(
            arch,
            Thread {
                machine,
                objects,
                thread,
            },
            sample,
            limit,
        );
        self.alone.unwound(0)
    }
}

impl Worker {
    fn clear(&mut self) {
        self.addresses.clear();
        self.done.clear();
    }

    fn unwind(&mut self, arch: Option<Arch>, space: Thread<'_>, sample: &Sample<'_>, limit: usize) {
        let end = snapshot(arch, sample).map(|found| match found {
            Ok(snapshot) => walk(
                &snapshot,
                &space,
                &mut self.cache,
                limit,
                &mut self.addresses,
            ),
            Err(end) => end,
        });
        self.done.push((self.addresses.len(), end));
    }

    fn unwound(&self, index: usize) -> Option<Unwound<'_>> {
        let (until, end) = *self.done.get(index)?;
        let from = index.checked_sub(1).map_or(0, |before| self.done[before].0);
        Some(Unwound {
            addresses: &self.addresses[from..until],
            end: end?,
        })
    }
}

/// The registers and the stack that a sample holds of its thread: `None` where nothing was running in user space.
///
/// # Errors
/// The registers are not those of a program of a known processor.
fn snapshot<'a>(
    arch: Option<Arch>,
    sample: &Sample<'a>,
) -> Option<Result<Snapshot<'a>, UnwindEnd>> {
    let (recorded, stack) = (sample.regs_user?, sample.stack_user?);
    let copied = usize::try_from(stack.dyn_size).unwrap_or(usize::MAX);
    let bytes = stack.bytes.get(..copied).unwrap_or(stack.bytes);
    if recorded.values.is_empty() || bytes.is_empty() {
        return None;
    }
    let arch = arch.unwrap_or_else(|| guessed(&recorded));
    let arch = match recorded.abi {
        ABI_32 => arch.compatible(),
        ABI_64 => Some(arch),
        _ => None,
    };
    let registers = arch.and_then(|arch| arch.registers(recorded.mask, recorded.values.iter()));
    let start = registers.and_then(|registers| registers.get(registers.arch().stack_pointer()));
    let little_endian = recorded.values.endian() == Endian::Little;
    let snapshot = registers.zip(start).map(|(registers, start)| {
        let word_size = registers.arch().address_size();
        Snapshot {
            registers,
            stack: StackCopy {
                start,
                bytes,
                little_endian,
                word_size,
            },
        }
    });
    Some(snapshot.ok_or(UnwindEnd::ForeignRegisters))
}

/// The processor that has such registers: arm64 has its program counter where x86 has none.
fn guessed(registers: &Registers<'_>) -> Arch {
    if registers.mask >> Arch::Aarch64.recorded_ip() & 1 == 1 {
        Arch::Aarch64
    } else {
        Arch::X86_64
    }
}

/// The unwind tables of a machine's objects, each looked for once.
#[derive(Debug)]
struct Objects {
    locator: Locator,
    /// The recording's machine.
    arch: Option<Arch>,
    known: Vec<OnceLock<Option<UnwindInfo>>>,
}

impl Objects {
    fn new(places: SearchPaths, arch: Option<Arch>) -> Objects {
        Objects {
            locator: Locator::new(places),
            arch,
            known: Vec::new(),
        }
    }

    /// Makes room for the objects that the machine knows now.
    fn grow(&mut self, machine: &Machine) {
        self.known.resize_with(
            machine.objects().dsos().len().max(self.known.len()),
            OnceLock::new,
        );
    }

    fn open(&self, dso: &Dso) -> Option<UnwindInfo> {
        if let Some(function) = &dso.jit {
            return of_function(function, self.arch);
        }
        let kind = if dso.kind == DsoKind::Vdso {
            ObjectKind::Vdso
        } else {
            ObjectKind::User
        };
        let wanted = ObjectQuery {
            path: dso.name.as_bytes(),
            build_id: dso.build_id,
            kind,
            process: dso.process,
        };
        let image = self.locator.image(&wanted).ok()?;
        let parsed = Elf::parse(&image.contents).ok();
        let debug = self.locator.debug_file(&wanted, parsed.as_ref()).ok();
        UnwindInfo::new(image.contents, debug.as_ref().map(|found| &found.contents))
    }
}

/// The unwind table of a function that was made at run time, where its maker told it. A maker that names no machine
/// (CPython does) means the one that it ran on.
fn of_function(function: &JitSymbol, recorded: Option<Arch>) -> Option<UnwindInfo> {
    let table = function.unwinding.as_ref()?;
    let behind = function.end.checked_next_multiple_of(8)?;
    let arch = arch_of_table(table.machine, recorded)?;
    Some(UnwindInfo::of_table(
        arch,
        table.little_endian,
        function.start,
        behind,
        &table.entries,
    ))
}

/// The processor of a table whose maker gave this number; 0 stands for the recording's.
fn arch_of_table(machine: u32, recorded: Option<Arch>) -> Option<Arch> {
    match machine {
        0 => recorded,
        machine => Arch::by_elf_machine(u16::try_from(machine).ok()?),
    }
}

/// A thread's address space at a moment.
#[derive(Clone, Copy)]
struct Thread<'m> {
    machine: &'m Machine,
    objects: &'m Objects,
    thread: ThreadId,
}

impl AddressSpace for Thread<'_> {
    #[inline]
    fn spot(&self, address: u64) -> Location<'_> {
        let Some(located) = self.machine.locate(self.thread, CpuMode::User, address) else {
            return Location::Nothing;
        };
        let dso = self.machine.dso(located.dso);
        match dso.kind {
            DsoKind::Anonymous => return Location::Memory,
            DsoKind::Jit
                if dso
                    .jit
                    .as_ref()
                    .is_none_or(|function| function.unwinding.is_none()) =>
            {
                return Location::Memory;
            }
            DsoKind::Kernel
            | DsoKind::Module
            | DsoKind::GuestKernel(_)
            | DsoKind::GuestModule(_)
            | DsoKind::KernelSymbol => return Location::Nothing,
            DsoKind::File | DsoKind::Vdso | DsoKind::Jit => {}
        }
        let Some(slot) = self.objects.known.get(located.dso.0 as usize) else {
            return Location::Missing;
        };
        match slot.get_or_init(|| self.objects.open(dso)) {
            Some(info) => Location::Object {
                key: ObjectKey(located.dso.0),
                info,
                offset: located.address,
            },
            // A table for another processor than those that are known.
            None if dso.kind == DsoKind::Jit => Location::Memory,
            None => Location::Missing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_names_no_machine_is_of_the_recordings() {
        assert_eq!(arch_of_table(0, Some(Arch::X86_64)), Some(Arch::X86_64));
        assert_eq!(arch_of_table(0, None), None);
        assert_eq!(arch_of_table(183, Some(Arch::X86_64)), Some(Arch::Aarch64));
        assert_eq!(arch_of_table(1 << 16, Some(Arch::X86_64)), None);
    }
}
