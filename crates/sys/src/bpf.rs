//! The BPF programs of the running kernel: their numbers, what the kernel tells of them, the types that they use.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::errno::check;

/// Commands of `bpf(2)`.
mod command {
    pub(super) const PROG_LOAD: libc::c_int = 5;
    pub(super) const PROG_GET_NEXT_ID: libc::c_int = 11;
    pub(super) const PROG_GET_FD_BY_ID: libc::c_int = 13;
    pub(super) const OBJ_GET_INFO_BY_FD: libc::c_int = 15;
    pub(super) const BTF_GET_FD_BY_ID: libc::c_int = 19;
}

/// Bytes of the kernel's `bpf_prog_info`, as far as it is known here; an older kernel fills less.
const INFO_SIZE: usize = 232;
/// Most bytes of types, or of the arrays of a program, that are read.
const LARGEST: usize = 64 << 20;
/// Most programs that are listed.
const MOST_PROGRAMS: usize = 1 << 16;

/// What the kernel tells of a program, with the arrays that it refers to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BpfProgramInfo {
    /// The arrays that are in `data`, a bit each, by perf's numbers.
    pub arrays: u64,
    /// The kernel's `bpf_prog_info`. Fields that point to arrays hold the offsets in `data`.
    pub info: Vec<u8>,
    /// The arrays, one after another.
    pub data: Vec<u8>,
}

/// An array of a program.
struct InfoArray {
    /// perf's number of it.
    bit: u32,
    /// The place of the address in the information.
    pointer: usize,
    /// The place of the number of entries.
    count: usize,
    /// Bytes of an entry.
    entry: EntrySize,
}

/// The size of the entries of an array.
enum EntrySize {
    /// So many bytes.
    Fixed(u32),
    /// As many as the information says at a place.
    Told(usize),
}

/// The code, addresses, sizes, types, lines and tags of a program's functions.
const ARRAYS: [InfoArray; 7] = [
    array(0, 24, 16, EntrySize::Fixed(1)),
    array(3, 112, 104, EntrySize::Fixed(8)),
    array(4, 120, 108, EntrySize::Fixed(4)),
    array(5, 136, 144, EntrySize::Told(132)),
    array(6, 152, 148, EntrySize::Told(172)),
    array(7, 160, 168, EntrySize::Told(176)),
    array(8, 184, 180, EntrySize::Fixed(8)),
];

const fn array(bit: u32, pointer: usize, count: usize, entry: EntrySize) -> InfoArray {
    InfoArray {
        bit,
        pointer,
        count,
        entry,
    }
}

/// The numbers of the programs that are loaded, ascending.
///
/// # Errors
/// The kernel's answer: `EPERM` for who may not see them.
pub fn program_ids() -> io::Result<Vec<u32>> {
    let mut ids: Vec<u32> = Vec::new();
    while ids.len() < MOST_PROGRAMS {
        let start = ids.last().copied().unwrap_or(0);
        let mut attr = [start, 0, 0, 0];
        match call(command::PROG_GET_NEXT_ID, &mut attr) {
            Ok(_) if attr[1] > start => ids.push(attr[1]),
            Ok(_) => break,
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(ids)
}

/// What the kernel tells of a program.
///
/// # Errors
/// The kernel's answer; an error of kind `InvalidData` where what it tells does not fit together.
pub fn program(id: u32) -> io::Result<BpfProgramInfo> {
    let fd = by_id(command::PROG_GET_FD_BY_ID, id)?;
    let mut told = [0u8; INFO_SIZE];
    let size = info_of(&fd, &mut told)?;
    let mut asked = [0u8; INFO_SIZE];
    let (mut data, mut places) = (Vec::new(), Vec::new());
    for one in ARRAYS.iter().filter(|one| one.pointer + 8 <= size) {
        let count = number(&told, one.count);
        let entry = match one.entry {
            EntrySize::Fixed(size) => size,
            EntrySize::Told(place) => {
                let size = number(&told, place);
                set(&mut asked, place, &size.to_ne_bytes());
                size
            }
        };
        let bytes = count as usize * entry as usize;
        if bytes == 0 {
            continue;
        }
        set(&mut asked, one.count, &count.to_ne_bytes());
        places.push((one, count, data.len()));
        data.resize(data.len() + bytes.next_multiple_of(8), 0);
        if data.len() > LARGEST {
            return Err(unfit());
        }
    }
    let start = data.as_mut_ptr().expose_provenance() as u64;
    for (one, _, offset) in &places {
        set(
            &mut asked,
            one.pointer,
            &(start + *offset as u64).to_ne_bytes(),
        );
    }
    let size = info_of(&fd, &mut asked)?;
    let mut arrays = 0;
    for (one, count, offset) in &places {
        // The kernel wrote as many as there was room for, and tells how many there are.
        if number(&asked, one.count) != *count {
            return Err(unfit());
        }
        let is_shown = number(&asked, one.pointer) != 0 || number(&asked, one.pointer + 4) != 0;
        if is_shown {
            arrays |= 1 << one.bit;
            set(&mut asked, one.pointer, &(*offset as u64).to_ne_bytes());
        }
    }
    Ok(BpfProgramInfo {
        arrays,
        info: asked[..size.min(INFO_SIZE)].to_vec(),
        data,
    })
}

/// The types with a number, as BTF.
///
/// # Errors
/// The kernel's answer; an error of kind `InvalidData` for types of no reasonable size.
pub fn types(id: u32) -> io::Result<Vec<u8>> {
    let fd = by_id(command::BTF_GET_FD_BY_ID, id)?;
    // The address and the size of the buffer, the number.
    let mut info = [0u8; 16];
    info_of(&fd, &mut info)?;
    let size = number(&info, 8) as usize;
    if size == 0 || size > LARGEST {
        return Err(unfit());
    }
    let mut bytes = vec![0; size];
    let mut info = [0u8; 16];
    let start = bytes.as_mut_ptr().expose_provenance() as u64;
    set(&mut info, 0, &start.to_ne_bytes());
    set(&mut info, 8, &(size as u32).to_ne_bytes());
    info_of(&fd, &mut info)?;
    match number(&info, 8) as usize == size {
        true => Ok(bytes),
        false => Err(unfit()),
    }
}

/// Loads a program for tracepoints that does nothing. It is gone when the descriptor is closed.
///
/// # Errors
/// The kernel's answer.
pub fn load_idle_program(name: &str) -> io::Result<OwnedFd> {
    const OF_TRACEPOINTS: u32 = 5;
    // mov r0, 0; exit
    let code: [u64; 2] = [0xb7, 0x95];
    let license = c"MIT";
    let mut attr = [0u32; 32];
    attr[0] = OF_TRACEPOINTS;
    attr[1] = code.len() as u32;
    let pointers = [code.as_ptr().addr() as u64, license.as_ptr().addr() as u64];
    for (place, pointer) in [2, 4].into_iter().zip(pointers) {
        let halves: [[u8; 4]; 2] = [
            *pointer.to_ne_bytes().first_chunk().unwrap_or(&[0; 4]),
            *pointer.to_ne_bytes().last_chunk().unwrap_or(&[0; 4]),
        ];
        attr[place] = u32::from_ne_bytes(halves[0]);
        attr[place + 1] = u32::from_ne_bytes(halves[1]);
    }
    let letters = name.as_bytes().chunks(4).take(3).zip(&mut attr[12..15]);
    for (letters, word) in letters {
        let mut bytes = [0; 4];
        bytes[..letters.len()].copy_from_slice(letters);
        *word = u32::from_ne_bytes(bytes);
    }
    owned(call(command::PROG_LOAD, &mut attr)?)
}

fn by_id(command: libc::c_int, id: u32) -> io::Result<OwnedFd> {
    owned(call(command, &mut [id, 0, 0, 0])?)
}

fn owned(fd: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: the kernel just returned this descriptor, so nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Fills the information about what is open; how many bytes the kernel knows of it.
fn info_of(fd: &OwnedFd, info: &mut [u8]) -> io::Result<usize> {
    let start = (info.as_mut_ptr().expose_provenance() as u64).to_ne_bytes();
    let half = |at: usize| {
        let bytes = [start[at], start[at + 1], start[at + 2], start[at + 3]];
        u32::from_ne_bytes(bytes)
    };
    let fd = fd.as_raw_fd().cast_unsigned();
    let mut attr = [fd, info.len() as u32, half(0), half(4)];
    call(command::OBJ_GET_INFO_BY_FD, &mut attr)?;
    Ok(attr[1] as usize)
}

/// Calls `bpf(2)`. What the attribute points to has to be live for as long as the call takes: the callers above point to
/// buffers of theirs, of the sizes that they tell.
fn call(command: libc::c_int, attr: &mut [u32]) -> io::Result<libc::c_int> {
    let (start, size) = (attr.as_mut_ptr(), size_of_val(attr));
    // SAFETY: the attribute is live and as large as told; it points to live buffers, whose sizes it tells.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, command, start, size) };
    check(answer as libc::c_int)
}

fn number(info: &[u8], place: usize) -> u32 {
    let bytes = info.get(place..).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

fn set(info: &mut [u8], place: usize, value: &[u8]) {
    if let Some(bytes) = info.get_mut(place..place + value.len()) {
        bytes.copy_from_slice(value);
    }
}

fn unfit() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the kernel's description of a BPF program changed while it was read",
    )
}

#[cfg(test)]
#[allow(clippy::print_stderr, reason = "a test that cannot run says so")]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_listed_and_described_while_it_is_loaded() {
        let Ok(program_fd) = load_idle_program("oxperf_idle") else {
            return eprintln!("SKIPPED: no BPF program can be loaded");
        };
        let mut info = [0; INFO_SIZE];
        info_of(&program_fd, &mut info).unwrap();
        let id = number(&info, 4);
        assert!(program_ids().unwrap().contains(&id));
        let described = program(id).unwrap();
        assert_eq!(number(&described.info, 4), id);
        assert_eq!(&described.info[64..75], b"oxperf_idle");
        assert!(described.data.len() <= LARGEST);
        drop(program_fd);
        assert!(program(id).is_err() || !program_ids().unwrap().contains(&id));
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        assert!(program(u32::MAX - 1).is_err());
        assert!(types(u32::MAX - 1).is_err());
    }
}
