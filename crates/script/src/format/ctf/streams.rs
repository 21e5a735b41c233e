//! The files of a trace: for each CPU one stream of packets, in order of time.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use oxperf_present::ctf::CtfPacket;
use oxperf_sys::files::is_trusted_owner;

/// A packet is written when it is so large.
const PACKET: usize = 256 << 10;
/// More CPUs than any machine has would be more files than any disk likes.
const MAX_CPUS: usize = 4096;
/// Streams of one CPU, so many are needed only for records that are hopelessly out of order.
const MAX_STREAMS: usize = 16;

const METADATA: &str = "metadata";
const STREAM: &str = "perf_stream_";

/// The streams of all CPUs.
pub(crate) struct Streams {
    folder: PathBuf,
    /// Readers of traces take no step back in time: an event that is older than the last of a stream begins another.
    streams: BTreeMap<u32, Vec<Stream>>,
    written: u64,
    /// Events whose time or CPU could not be kept.
    pub(crate) displaced: u64,
}

struct Stream {
    packet: CtfPacket,
    file: PathBuf,
    begun: bool,
}

impl Streams {
    /// Makes the folder; a trace that was there is removed. A folder of somebody else is refused, as the owner could put
    /// links in the places of the files.
    pub(crate) fn create(folder: &Path) -> io::Result<Streams> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let owner = fs::metadata(folder)?.uid();
        if !is_trusted_owner(owner) {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("the folder belongs to user {owner}"),
            ));
        }
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if entry.file_type()?.is_file() && (name == METADATA || name.starts_with(STREAM)) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(Streams {
            folder: folder.to_path_buf(),
            streams: BTreeMap::new(),
            written: 0,
            displaced: 0,
        })
    }

    /// Writes the description.
    pub(crate) fn describe(&mut self, text: &str) -> io::Result<()> {
        let mut file = new_file(&self.folder.join(METADATA))?;
        file.write_all(text.as_bytes())?;
        self.written += text.len() as u64;
        Ok(())
    }

    /// Begins an event: gives the place that its fields are appended to.
    pub(crate) fn event(&mut self, cpu: u32, class: usize, time: u64) -> io::Result<&mut Vec<u8>> {
        let known = self.streams.contains_key(&cpu) || self.streams.len() < MAX_CPUS;
        let cpu = if known {
            cpu
        } else {
            self.streams.keys().next().copied().unwrap_or(cpu)
        };
        let streams = self.streams.entry(cpu).or_default();
        let fitting = streams
            .iter()
            .position(|stream| stream.packet.last_time() <= time);
        if fitting.is_none() && streams.len() < MAX_STREAMS {
            streams.push(Stream::new(&self.folder, cpu, streams.len()));
        }
        let index = fitting.unwrap_or(streams.len() - 1);
        let stream = &mut streams[index];
        if stream.packet.len() >= PACKET {
            self.written += stream.write()?;
        }
        let last = stream.packet.last_time();
        self.displaced += u64::from(!known || time < last);
        Ok(stream.packet.event(class, time.max(last)))
    }

    /// Notes events of a CPU that were lost.
    pub(crate) fn discard(&mut self, cpu: u32, lost: u64) {
        if let Some(stream) = self
            .streams
            .get_mut(&cpu)
            .and_then(|streams| streams.first_mut())
        {
            stream.packet.discard(lost);
        }
    }

    /// Writes what is left; gives the bytes of all files.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        for stream in self.streams.values_mut().flatten() {
            self.written += stream.write()?;
        }
        Ok(self.written)
    }
}

/// A file for its owner alone, as the recording is.
fn new_file(path: &Path) -> io::Result<File> {
    File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

impl Stream {
    fn new(folder: &Path, cpu: u32, number: usize) -> Stream {
        let name = if number == 0 {
            format!("{STREAM}{cpu}")
        } else {
            format!("{STREAM}{cpu}_{number}")
        };
        Stream {
            packet: CtfPacket::new(cpu),
            file: folder.join(name),
            begun: false,
        }
    }

    /// Appends the packet to its file, which is open no longer than that: there may be many.
    fn write(&mut self) -> io::Result<u64> {
        let bytes = self.packet.len() as u64;
        if bytes > 0 {
            let mut file = match self.begun {
                true => File::options().append(true).open(&self.file)?,
                false => new_file(&self.file)?,
            };
            self.begun = true;
            self.packet.finish(|packet| file.write_all(packet))?;
        }
        Ok(bytes)
    }
}
