//! Reading a file image.

mod buffered;
mod compact;
mod events;
mod features;
mod framed;
pub(crate) mod framing;
mod inflate;
mod layout;
mod prefix_scan;
mod prologue;
mod records;
mod resync;
mod sanity;
mod source;
mod stream;
mod unpacked;
mod walk;

use std::fs::File;
use std::io::Read;

use oxperf_abi::RecordType;
use oxperf_wire::Endian;

pub use buffered::BufferedBytes;
pub use events::EventEntry;
pub use features::Features;
pub use framed::{Framed, RawRecord};
pub use records::Records;
pub use source::{BufferedRecords, RecordSource};

use framing::Framing;
use layout::Layout;
use prologue::Prologue;
use sanity::SanityCheck;
use stream::{Once, Streamed};
use unpacked::Unpacked;

use crate::features::{Compression, EventDesc};
use crate::{Damage, DamageList, DataError, FeatureId, FileHeader, Section};

/// The form in which a recording lies in files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Container {
    /// One file with a header.
    File,
    /// A file with a header, most records in further files of its directory.
    Directory,
    /// A stream: what a header holds comes as records.
    Stream,
}

/// A recording whose bytes are at hand, or come as a stream. Opening reads the header, the events and the place of
/// the features; records and features are read when asked for.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    file: &'a [u8],
    /// The open file that `file` is the image of.
    opened: Option<&'a File>,
    /// The further files of a directory; `None` when nobody looked for any.
    parts: Option<Vec<&'a [u8]>>,
    /// The rest of a stream that is no file image.
    stream: Option<Once>,
    endian: Endian,
    header: FileHeader,
    data: Section,
    events: Vec<EventEntry>,
    features: Features<'a>,
    damage: DamageList,
    /// The shape of its records.
    plausible: SanityCheck,
}

impl<'a> Reader<'a> {
    /// Opens a recording from the bytes of its file, which may be a saved stream.
    ///
    /// # Errors
    /// The file is no perf.data, or ends inside its header. Everything else that is broken stands in
    /// [`Reader::damage`].
    pub fn open(file: &'a [u8]) -> Result<Reader<'a>, DataError> {
        let (endian, header) = FileHeader::decode(file)?;
        if header.is_of_stream() {
            return Ok(Reader::open_saved_stream(file, endian, header));
        }
        Ok(Reader::open_file(file, endian, header))
    }

    /// Opens a recording whose records are also in further files: `data` is the one with the header, `parts` are the
    /// others in the order of their numbers.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn open_directory(data: &'a [u8], parts: Vec<&'a [u8]>) -> Result<Reader<'a>, DataError> {
        Ok(Reader {
            parts: Some(parts),
            ..Reader::open(data)?
        })
    }

    /// Opens a recording that comes as a stream; reads it up to its first sample. Its records can be taken once.
    ///
    /// # Errors
    /// As [`Reader::open`]; also for a recording in the form of a file, which must be given as one.
    pub fn open_stream(mut input: Box<dyn Read + Send>) -> Result<Reader<'static>, DataError> {
        let (endian, header) = read_stream_header(&mut *input)?;
        let mut stream = Streamed::new(input, header.size, SanityCheck::new(Framing { endian }));
        let (mut prologue, mut ahead) = (Prologue::new(endian), Vec::new());
        prologue.read(&mut stream, |record| ahead.push(record));
        stream.put_back(ahead);
        Ok(Reader {
            stream: Some(Once::new(stream)),
            ..Reader::after(prologue, &[], endian, header)
        })
    }

    /// Returns whether a stream says before its first sample that it carries trace of instructions, whose decoding
    /// needs all of it at hand: then it is better kept and given to [`Reader::open`]. Reads as far as
    /// [`Reader::open_stream`].
    ///
    /// # Errors
    /// As [`Reader::open_stream`].
    pub fn stream_announces_trace(mut input: Box<dyn Read + Send>) -> Result<bool, DataError> {
        let (endian, header) = read_stream_header(&mut *input)?;
        let mut prologue = Prologue::new(endian);
        prologue.read(
            &mut Streamed::new(input, header.size, SanityCheck::new(Framing { endian })),
            |_| (),
        );
        Ok(prologue.traced)
    }

    fn open_saved_stream(file: &'a [u8], endian: Endian, header: FileHeader) -> Reader<'a> {
        let data = Section {
            offset: header.size,
            size: (file.len() as u64).saturating_sub(header.size),
        };
        let mut prologue = Prologue::new(endian);
        prologue.read(
            Records::new(file, data, SanityCheck::new(Framing { endian })),
            |_| (),
        );
        Reader {
            data,
            ..Reader::after(prologue, file, endian, header)
        }
    }

    /// A stream whose beginning was read.
    fn after(prologue: Prologue, file: &'a [u8], endian: Endian, header: FileHeader) -> Reader<'a> {
        let mut reader = Reader {
            file,
            opened: None,
            parts: None,
            stream: None,
            endian,
            header,
            data: Section::default(),
            events: prologue.events,
            features: Features::of_stream(prologue.features, endian),
            damage: prologue.damage,
            plausible: SanityCheck::new(Framing { endian }),
        };
        reader.name_events();
        reader
    }

    fn open_file(file: &'a [u8], endian: Endian, mut header: FileHeader) -> Reader<'a> {
        let mut damage = DamageList::default();
        let layout = Layout::find(file, endian, &header, &mut damage);
        header.features = layout.features;
        let features = Features::locate(file, endian, &layout, &mut damage);
        let mut lists = DamageList::default();
        let events = events::read(file, endian, &header, &mut lists);
        let (opened, parts, stream) = (None, None, None);
        let plausible = SanityCheck::new(Framing { endian });
        let data = layout.data;
        let mut reader = Reader {
            file,
            opened,
            parts,
            stream,
            endian,
            header,
            data,
            events,
            features,
            damage,
            plausible,
        };
        reader.complete_events(lists);
        reader.name_events();
        reader
    }

    /// Takes the events from elsewhere when their list is broken.
    fn complete_events(&mut self, broken: DamageList) {
        let missing = self.events.is_empty() || !broken.is_empty();
        self.damage.append(broken);
        if !missing {
            // Ids that cannot be read would be missed in the records.
            self.plausible = self.plausible.clone().with_events(&self.events);
            return;
        }
        let described = self
            .features
            .get::<EventDesc>()
            .ok()
            .flatten()
            .map(|desc| desc.events)
            .unwrap_or_default();
        let found = if !described.is_empty() && described.len() >= self.events.len() {
            let events: Vec<EventEntry> = described.into_iter().map(EventEntry::from).collect();
            Some((self.header.attrs.offset, "their description", events))
        } else if self.events.is_empty() {
            let found = events::find(self.file, self.endian, &self.header, self.data);
            found.map(|(offset, events)| (offset.0, "the place before the data", events))
        } else {
            None
        };
        if let Some((offset, from, events)) = found {
            let (offset, found) = (oxperf_abi::FileOffset(offset), events.len() as u64);
            self.damage.add(Damage::EventsFromElsewhere {
                offset,
                found,
                from,
            });
            self.events = events;
        }
    }

    /// Also knows the open file whose bytes it was opened from: [`Records::skim`] then reads it in pieces.
    #[must_use]
    pub fn with_file(self, file: &'a File) -> Reader<'a> {
        Reader {
            opened: Some(file),
            ..self
        }
    }

    /// The recorder's byte order.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// The header; its features are none when the data were never closed.
    pub fn header(&self) -> &FileHeader {
        &self.header
    }

    /// The section of the records, up to the end of the file when the recorder was killed.
    pub fn data(&self) -> Section {
        self.data
    }

    /// The events in file order.
    pub fn events(&self) -> &[EventEntry] {
        &self.events
    }

    /// The features behind the data.
    pub fn features(&self) -> &Features<'a> {
        &self.features
    }

    /// The damage of the header and its parts. Records report their own damage while they are read.
    pub fn damage(&self) -> &DamageList {
        &self.damage
    }

    /// The form in which the recording lies in files.
    pub fn container(&self) -> Container {
        if self.header.is_of_stream() {
            Container::Stream
        } else if self.header.features.contains(FeatureId::DIR_FORMAT) {
            Container::Directory
        } else {
            Container::File
        }
    }

    /// Returns whether [`Reader::source`] can give the records more than once: those of a stream that is no file it
    /// cannot.
    pub fn is_rereadable(&self) -> bool {
        self.stream.is_none()
    }

    /// Number of further files that hold records.
    pub fn part_count(&self) -> usize {
        self.parts.as_ref().map_or(0, Vec::len)
    }

    /// The compression of the records, if they are.
    pub fn compression(&self) -> Option<Compression> {
        if !self.features.bits().contains(FeatureId::COMPRESSED) {
            return self.holds_compressed().then_some(UNKNOWN_COMPRESSION);
        }
        // A feature that cannot be read still says that there is something to decompress.
        let stated = self
            .features
            .get::<Compression>()
            .ok()
            .flatten()
            .unwrap_or(UNKNOWN_COMPRESSION);
        // `perf stat record` sets the bit without compressing; then the method is none.
        Some(stated).filter(|stated| stated.method != 0)
    }

    /// Returns whether records are compressed although no feature says so: a recorder that was killed had no time to.
    /// In any of the files the first record that can be compressed says it.
    fn holds_compressed(&self) -> bool {
        let telling = [
            RecordType::SAMPLE,
            RecordType::COMPRESSED,
            RecordType::COMPRESSED2,
        ];
        let first = |records: Records<'a>| {
            let mut kinds = records
                .filter_map(Result::ok)
                .map(|record| record.header.kind);
            kinds.find(|kind| telling.contains(kind))
        };
        let packed = |records| first(records).is_some_and(|kind| kind != RecordType::SAMPLE);
        let unfinished = self.header.features.is_empty() || self.header.data.size == 0;
        unfinished && self.images().into_iter().any(packed)
    }

    /// The records of a file image in their order, compressed ones as they are.
    ///
    /// # Errors
    /// They are compressed, or not all in this file: [`Reader::source`] reads all forms.
    pub fn records(&self) -> Result<Records<'a>, DataError> {
        if self.compression().is_some() {
            return Err(DataError::Compressed);
        }
        match self.container() {
            Container::Directory => Err(DataError::Directory),
            _ if self.stream.is_some() => Err(DataError::Stream),
            _ => Ok(self.walk(self.file, self.data)),
        }
    }

    /// All records, whatever form the recording has.
    ///
    /// # Errors
    /// The records of a stream were taken before; a directory's further files are not there; the compression is of
    /// an unknown method.
    pub fn source(&self) -> Result<RecordSource<'a>, DataError> {
        let compression = self.compression();
        if let Some(method) = compression
            .map(|found| found.method)
            .filter(|method| *method != ZSTD)
        {
            return Err(DataError::CompressionMethod { method });
        }
        if let Some(stream) = &self.stream {
            let records = stream.take().ok_or(DataError::Stream)?;
            let records = records.map(outliving);
            // A stream may hold compressed records without having said so.
            let stated = compression.map_or(0, |found| found.mmap_size);
            return Ok(RecordSource::Buffered(Box::new(Unpacked::new(
                records,
                self.plausible.clone(),
                stated,
            ))));
        }
        if self.container() == Container::Directory && self.parts.is_none() {
            return Err(DataError::Directory);
        }
        let parts = self.images();
        Ok(match compression {
            None => RecordSource::Borrowed(parts),
            Some(found) => RecordSource::Buffered(self.unpacked(parts, found.mmap_size)),
        })
    }

    /// Looks whether a file that was cut has anything left to show: in a whole one there need not be a sample.
    ///
    /// # Errors
    /// [`DataError::NoSampleLeft`].
    pub fn check_cut(&self) -> Result<(), DataError> {
        let cut = self
            .damage
            .listed()
            .iter()
            .find_map(|damage| match *damage {
                Damage::PartCut {
                    part,
                    offset,
                    expected,
                    found,
                } => Some((part, offset, expected, found)),
                _ => None,
            });
        match cut {
            Some((part, offset, expected, found))
                if self.is_rereadable() && !self.has_samples() =>
            {
                Err(DataError::NoSampleLeft {
                    part,
                    offset,
                    expected,
                    found,
                })
            }
            _ => Ok(()),
        }
    }

    /// Returns whether there is a record that somebody recorded for; also where the records cannot be had.
    fn has_samples(&self) -> bool {
        let kinds = [
            RecordType::SAMPLE,
            RecordType::AUXTRACE,
            RecordType::STAT,
            RecordType::STAT_ROUND,
        ];
        let wanted = |kind: RecordType| kinds.contains(&kind);
        match self.source() {
            Ok(RecordSource::Borrowed(parts)) => parts
                .into_iter()
                .flatten()
                .flatten()
                .any(|record| wanted(record.header.kind)),
            Ok(RecordSource::Buffered(records)) => {
                records.flatten().any(|record| wanted(record.header.kind))
            }
            Err(_) => true,
        }
    }

    /// The records of each file, undecompressed.
    fn images(&self) -> Vec<Records<'a>> {
        let whole = |part: &&'a [u8]| {
            self.walk(
                part,
                Section {
                    offset: 0,
                    size: part.len() as u64,
                },
            )
        };
        let first = self.walk(self.file, self.data).read_from(self.opened);
        std::iter::once(first)
            .chain(self.parts.iter().flatten().map(whole))
            .collect()
    }

    /// Each file of a directory is a compressed stream of its own.
    fn unpacked(&self, parts: Vec<Records<'a>>, stated: u32) -> BufferedRecords<'a> {
        let plausible = self.plausible.clone();
        Box::new(parts.into_iter().flat_map(move |records| {
            Unpacked::new(
                records.map(|item| item.map(Framed::from)),
                plausible.clone(),
                stated,
            )
        }))
    }

    fn walk(&self, file: &'a [u8], data: Section) -> Records<'a> {
        Records::new(file, data, self.plausible.clone())
    }

    /// Gives the events their names from the feature that holds them.
    fn name_events(&mut self) {
        let Ok(Some(desc)) = self.features.get::<EventDesc>() else {
            return;
        };
        for (entry, named) in self.events.iter_mut().zip(desc.events) {
            entry.name = Some(named.name);
        }
    }
}

/// The method of a compressed recording.
const ZSTD: u32 = 1;
/// The compression that is assumed where one is stated and cannot be read.
const UNKNOWN_COMPRESSION: Compression = Compression {
    version: 1,
    method: ZSTD,
    level: 0,
    ratio: 0,
    mmap_size: 0,
};

/// A record that borrows nothing is as good as one that borrows.
fn outliving<'a>(
    item: Result<Framed<BufferedBytes<'static>>, Damage>,
) -> Result<Framed<BufferedBytes<'a>>, Damage> {
    item
}

/// Reads the 16 bytes before a stream's records, and no more.
fn read_stream_header(input: &mut dyn Read) -> Result<(Endian, FileHeader), DataError> {
    let mut bytes = Vec::new();
    // What cannot be read is an end: the header says what is missing.
    let _ = input
        .take(FileHeader::SIZE_OF_STREAM)
        .read_to_end(&mut bytes);
    match FileHeader::decode(&bytes) {
        // The rest of a file's header was not read.
        Err(DataError::HeaderCut { expected, .. }) if expected > FileHeader::SIZE_OF_STREAM => {
            let whole = bytes.len() as u64 == FileHeader::SIZE_OF_STREAM;
            let found = bytes.len() as u64;
            Err(if whole {
                DataError::FileInStream
            } else {
                DataError::HeaderCut { expected, found }
            })
        }
        outcome => outcome,
    }
}

#[cfg(test)]
mod resync_tests;
#[cfg(test)]
mod tests;
