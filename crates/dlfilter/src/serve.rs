//! The helper's side: a filter is loaded, called for each sample, and may call back.

use std::ffi::{CString, c_char, c_int, c_void};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::ptr;

use crate::DlfilterError;
use crate::client::question;
use crate::interface::{CFunctions, CPlace, CSample};
use crate::loaded::Loaded;
use crate::message::{FilterSample, Kind, Reading, ResolvedAddress, Which, Writing};

/// Serves a filter until the program behind the socket lets go. Standard output of the process becomes the filter's: what
/// it prints goes to the program with each decision, so that it stands where it belongs.
///
/// # Errors
/// The socket failed, or the program sent what makes no sense. What is wrong with the filter is told to the program.
pub fn serve(path: &Path, mut socket: UnixStream) -> Result<(), DlfilterError> {
    let arguments = arguments(&mut socket)?;
    let printed = Printed::begin()?;
    let mut loaded = match Loaded::load(path) {
        Ok(loaded) => loaded,
        Err(error) => return fail(&mut socket, &error.to_string()),
    };
    let context = Box::into_raw(Box::new(Context::new(socket, arguments)));
    let served = serve_loaded(&mut loaded, context, printed);
    // SAFETY: made by `Box::into_raw` above, and no call of the filter is under way any more.
    drop(unsafe { Box::from_raw(context) });
    served
}

/// The filter's own description: a line, and perhaps more; `None` for a filter that says nothing.
///
/// # Errors
/// It cannot be loaded.
pub fn describe(path: &Path) -> Result<Option<(String, Option<String>)>, DlfilterError> {
    Ok(Loaded::load(path)?.description())
}

fn arguments(socket: &mut UnixStream) -> Result<Vec<CString>, DlfilterError> {
    let mut message = Reading::receive(socket)?;
    if message.kind() != Kind::Start {
        return Err(DlfilterError::Message("a kind that was not due"));
    }
    let count = message.number()?;
    (0..count).map(|_| Ok(c_string(message.bytes()?))).collect()
}

fn fail(socket: &mut UnixStream, why: &str) -> Result<(), DlfilterError> {
    let mut message = Writing::new(Kind::Failed);
    message.bytes(why.as_bytes());
    Ok(message.send(socket)?)
}

/// The loop over samples. `context` is alive until it returns; while the filter runs it is used by the callbacks alone.
fn serve_loaded(
    loaded: &mut Loaded,
    context: *mut Context,
    mut printed: Printed,
) -> Result<(), DlfilterError> {
    loaded.set_functions(FUNCTIONS);
    let code = loaded.start(context.cast());
    if code != 0 {
        let why = format!("its start failed with {code}");
        return with(context, |context| fail(&mut context.socket, &why));
    }
    let text = printed.take()?;
    let mut started = Writing::new(Kind::Started);
    started
        .number(loaded.has(true).into())
        .number(loaded.has(false).into())
        .bytes(&text);
    with(context, |context| started.send(&mut context.socket))?;
    loop {
        let mut message = with(context, |context| Reading::receive(&mut context.socket))?;
        let code = match message.kind() {
            Kind::Sample => {
                let early = message.number()? != 0;
                let held = Held::new(FilterSample::read(&mut message)?);
                with(context, |context| context.begin());
                let code = loaded.filter(early, &held.as_c(), context.cast());
                with(context, |context| context.in_sample = false);
                code
            }
            Kind::Stop => loaded.stop(context.cast()),
            _ => return Err(DlfilterError::Message("a kind that was not due")),
        };
        let mut decided = Writing::new(Kind::Decided);
        decided.number(code as i64 as u64).bytes(&printed.take()?);
        with(context, |context| decided.send(&mut context.socket))?;
        if message.kind() == Kind::Stop {
            return Ok(());
        }
    }
}

/// Uses the context while the filter does not run.
fn with<T>(context: *mut Context, act: impl FnOnce(&mut Context) -> T) -> T {
    // SAFETY: the caller holds it alive, and nothing else refers to it now: the filter is not running.
    act(unsafe { &mut *context })
}

/// The output of the filter: standard output is a file in memory.
struct Printed {
    file: File,
}

impl Printed {
    fn begin() -> io::Result<Printed> {
        // SAFETY: a name that ends with NUL; a descriptor that is not negative is new and ours.
        let file = unsafe {
            match libc::memfd_create(c"dlfilter".as_ptr(), libc::MFD_CLOEXEC) {
                fd if fd < 0 => return Err(io::Error::last_os_error()),
                fd => File::from_raw_fd(fd),
            }
        };
        // SAFETY: both are open descriptors.
        if unsafe { libc::dup2(file.as_raw_fd(), libc::STDOUT_FILENO) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Printed { file })
    }

    /// The text that was printed since the last time.
    fn take(&mut self) -> io::Result<Vec<u8>> {
        // SAFETY: null stands for all streams.
        unsafe { libc::fflush(ptr::null_mut()) };
        let length = self.file.stream_position()?;
        if length == 0 {
            return Ok(Vec::new());
        }
        let mut text = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        (&self.file).take(length).read_to_end(&mut text)?;
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        Ok(text)
    }
}

/// A sample with all that its C form points at.
struct Held {
    sample: FilterSample,
    event: CString,
}

impl Held {
    fn new(sample: FilterSample) -> Held {
        let event = c_string(sample.event.clone().into_bytes());
        Held { sample, event }
    }

    fn as_c(&self) -> CSample {
        let FilterSample {
            raw,
            branches,
            callchain,
            ..
        } = &self.sample;
        let sample = &self.sample;
        CSample {
            size: size_of::<CSample>() as u32,
            ins_lat: sample.ins_lat,
            p_stage_cyc: sample.p_stage_cyc,
            ip: sample.ip,
            pid: sample.pid,
            tid: sample.tid,
            time: sample.time,
            addr: sample.addr,
            id: sample.id,
            stream_id: sample.stream_id,
            period: sample.period,
            weight: sample.weight,
            transaction: sample.transaction,
            insn_cnt: sample.insn_cnt,
            cyc_cnt: sample.cyc_cnt,
            cpu: sample.cpu,
            flags: sample.flags,
            data_src: sample.data_src,
            phys_addr: sample.phys_addr,
            data_page_size: sample.data_page_size,
            code_page_size: sample.code_page_size,
            cgroup: sample.cgroup,
            cpumode: (sample.misc & 7) as u8,
            addr_correlates_sym: sample.addr_correlates_sym.into(),
            misc: sample.misc,
            raw_size: raw.as_ref().map_or(0, |raw| raw.len() as u32),
            raw_data: raw.as_ref().map_or(ptr::null(), |raw| raw.as_ptr()),
            brstack_nr: branches.as_ref().map_or(0, |list| list.len() as u64),
            brstack: branches.as_ref().map_or(ptr::null(), |list| list.as_ptr()),
            raw_callchain_nr: callchain.as_ref().map_or(0, |chain| chain.len() as u64),
            raw_callchain: callchain
                .as_ref()
                .map_or(ptr::null(), |chain| chain.as_ptr()),
            event: self.event.as_ptr(),
            machine_pid: sample.machine_pid,
            vcpu: sample.vcpu,
        }
    }
}

/// A place with all that its C form points at.
struct HeldPlace {
    place: CPlace,
    _texts: [Option<CString>; 3],
    _build_id: Vec<u8>,
}

impl HeldPlace {
    fn new(place: ResolvedAddress) -> Box<HeldPlace> {
        let (start, end) = place
            .symbol
            .as_ref()
            .map_or((0, 0), |(_, start, end)| (*start, *end));
        let symbol = place.symbol.map(|(name, ..)| c_string(name.into_bytes()));
        let dso = place.dso.map(|name| c_string(name.into_bytes()));
        let comm = Some(c_string(place.comm.into_bytes()));
        let pointer =
            |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        let symoff = if symbol.is_some() {
            place.address.wrapping_sub(start) as u32
        } else {
            0
        };
        let c = CPlace {
            size: size_of::<CPlace>() as u32,
            symoff,
            sym: pointer(&symbol),
            addr: place.address,
            sym_start: start,
            sym_end: end,
            dso: pointer(&dso),
            sym_binding: place.binding,
            is_64_bit: place.is_64_bit.into(),
            is_kernel_ip: place.is_kernel.into(),
            buildid_size: place.build_id.len() as u32,
            buildid: if place.build_id.is_empty() {
                ptr::null()
            } else {
                place.build_id.as_ptr()
            },
            filtered: place.filtered.into(),
            comm: pointer(&comm),
            private: ptr::null_mut(),
        };
        // Moving texts and bytes does not move what the pointers point at.
        Box::new(HeldPlace {
            place: c,
            _texts: [symbol, dso, comm],
            _build_id: place.build_id,
        })
    }
}

/// The state of the callbacks; the filter has a pointer to it that it hands back.
struct Context {
    socket: UnixStream,
    _arguments: Vec<CString>,
    argument_pointers: Vec<*mut c_char>,
    in_sample: bool,
    /// The answers for the sample at hand; pointers into it are the filter's until the next.
    ip: Option<Option<Box<HeldPlace>>>,
    addr: Option<Option<Box<HeldPlace>>>,
    others: Vec<HeldPlace>,
    instruction: Vec<u8>,
    source_file: Option<CString>,
    attribute: Vec<u64>,
}

impl Context {
    fn new(socket: UnixStream, arguments: Vec<CString>) -> Context {
        let mut argument_pointers: Vec<*mut c_char> = arguments
            .iter()
            .map(|argument| argument.as_ptr().cast_mut())
            .collect();
        argument_pointers.push(ptr::null_mut());
        Context {
            socket,
            _arguments: arguments,
            argument_pointers,
            in_sample: false,
            ip: None,
            addr: None,
            others: Vec::new(),
            instruction: Vec::new(),
            source_file: None,
            attribute: Vec::new(),
        }
    }

    /// Comes to another sample.
    fn begin(&mut self) {
        self.in_sample = true;
        (self.ip, self.addr, self.source_file) = (None, None, None);
        self.others.clear();
        self.instruction.clear();
        self.attribute.clear();
    }

    /// Asks the program; `None` when that fails or no sample is at hand.
    fn ask(&mut self, what: u64, write: impl FnOnce(&mut Writing)) -> Option<Reading> {
        if !self.in_sample {
            return None;
        }
        let mut message = Writing::new(Kind::Question);
        message.number(what);
        write(&mut message);
        message.send(&mut self.socket).ok()?;
        Reading::receive(&mut self.socket)
            .ok()
            .filter(|answer| answer.kind() == Kind::Answer)
    }

    fn place(&mut self, which: Which) -> Option<Box<HeldPlace>> {
        let mut answer = self.ask(question::PLACE, |message| which.write(message))?;
        answer
            .optional(ResolvedAddress::read)
            .ok()?
            .map(HeldPlace::new)
    }
}

/// The context behind the pointer that the filter hands back; `None` for null.
fn context<'a>(pointer: *mut c_void) -> Option<&'a mut Context> {
    // SAFETY: the filter got this pointer from us and may call only while we are in a call of it, on that thread: then the
    // context is alive and nothing else refers to it.
    unsafe { pointer.cast::<Context>().as_mut() }
}

/// The functions that every filter may call.
const FUNCTIONS: CFunctions = CFunctions {
    resolve_ip,
    resolve_addr,
    args,
    resolve_address,
    insn,
    srcline,
    attr,
    object_code,
    al_cleanup,
    reserved: [ptr::null(); 119],
};

extern "C" fn resolve_ip(pointer: *mut c_void) -> *const CPlace {
    let Some(context) = context(pointer).filter(|context| context.in_sample) else {
        return ptr::null();
    };
    if context.ip.is_none() {
        context.ip = Some(context.place(Which::Ip));
    }
    known(&context.ip)
}

extern "C" fn resolve_addr(pointer: *mut c_void) -> *const CPlace {
    let Some(context) = context(pointer).filter(|context| context.in_sample) else {
        return ptr::null();
    };
    if context.addr.is_none() {
        context.addr = Some(context.place(Which::Addr));
    }
    known(&context.addr)
}

fn known(place: &Option<Option<Box<HeldPlace>>>) -> *const CPlace {
    place
        .as_ref()
        .and_then(Option::as_ref)
        .map_or(ptr::null(), |held| &raw const held.place)
}

extern "C" fn args(pointer: *mut c_void, count: *mut c_int) -> *mut *mut c_char {
    let Some(context) = context(pointer) else {
        return ptr::null_mut();
    };
    let given = context.argument_pointers.len() - 1;
    // SAFETY: not null, so it is a place for a number, as the interface says.
    if let Some(count) = unsafe { count.as_mut() } {
        *count = given as c_int;
    }
    if given == 0 {
        ptr::null_mut()
    } else {
        context.argument_pointers.as_mut_ptr()
    }
}

extern "C" fn resolve_address(pointer: *mut c_void, address: u64, into: *mut CPlace) -> i32 {
    let Some(context) = context(pointer) else {
        return -1;
    };
    if into.is_null() {
        return -1;
    }
    let Some(held) = context.place(Which::Address(address)) else {
        return -1;
    };
    // SAFETY: not null, so it is a place of which the filter has set the size, and so much is written at most. The filter
    // may be built against an older and smaller one.
    unsafe {
        let size = (*into).size;
        let most = (size as usize).min(size_of::<CPlace>());
        ptr::copy_nonoverlapping(
            (&raw const held.place).cast::<u8>(),
            into.cast::<u8>(),
            most,
        );
        (*into).size = size;
    }
    context.others.push(*held);
    0
}

extern "C" fn insn(pointer: *mut c_void, length: *mut u32) -> *const u8 {
    let Some(context) = context(pointer) else {
        return ptr::null();
    };
    let answer = context.ask(question::INSTRUCTION, |_| {});
    let Some(bytes) = answer.and_then(|mut answer| answer.optional(Reading::bytes).ok().flatten())
    else {
        return ptr::null();
    };
    // SAFETY: as for `args`.
    let Some(length) = (unsafe { length.as_mut() }) else {
        return ptr::null();
    };
    *length = bytes.len() as u32;
    context.instruction = bytes;
    context.instruction.as_ptr()
}

extern "C" fn srcline(pointer: *mut c_void, line: *mut u32) -> *const c_char {
    let Some(context) = context(pointer) else {
        return ptr::null();
    };
    let answer = context.ask(question::SOURCE_LINE, |_| {});
    let read = |answer: &mut Reading| Ok((answer.bytes()?, answer.number()?));
    let Some((file, number)) = answer.and_then(|mut answer| answer.optional(read).ok().flatten())
    else {
        return ptr::null();
    };
    // SAFETY: as for `args`.
    let Some(line) = (unsafe { line.as_mut() }) else {
        return ptr::null();
    };
    *line = number as u32;
    context.source_file.insert(c_string(file)).as_ptr()
}

extern "C" fn attr(pointer: *mut c_void) -> *mut u8 {
    let Some(context) = context(pointer) else {
        return ptr::null_mut();
    };
    let answer = context.ask(question::ATTRIBUTE, |_| {});
    let Some(bytes) = answer
        .and_then(|mut answer| answer.bytes().ok())
        .filter(|bytes| !bytes.is_empty())
    else {
        return ptr::null_mut();
    };
    // Words, so that the structure is aligned.
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    };
    context.attribute = bytes.chunks(8).map(word).collect();
    context.attribute.as_mut_ptr().cast()
}

extern "C" fn object_code(pointer: *mut c_void, ip: u64, buffer: *mut c_void, length: u32) -> i32 {
    let Some(context) = context(pointer) else {
        return -1;
    };
    if buffer.is_null() {
        return -1;
    }
    let answer = context.ask(question::CODE, |message| {
        message.number(ip).number(length.into());
    });
    let Some(bytes) = answer.and_then(|mut answer| answer.optional(Reading::bytes).ok().flatten())
    else {
        return -1;
    };
    let count = bytes.len().min(length as usize);
    // SAFETY: the filter's buffer has room for `length` bytes, as the interface says, and no more are written.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.cast::<u8>(), count) };
    count as i32
}

/// Frees nothing: the answer of [`resolve_address`] lives until the next sample.
extern "C" fn al_cleanup(_: *mut c_void, _: *mut CPlace) {}

/// A text for C: up to its first NUL.
fn c_string(mut bytes: Vec<u8>) -> CString {
    if let Some(end) = bytes.iter().position(|&byte| byte == 0) {
        bytes.truncate(end);
    }
    CString::new(bytes).unwrap_or_default()
}
