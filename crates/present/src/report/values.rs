//! The value of a key for a row, for other programs: JSON and CSV write it each in its own way.

use std::borrow::Cow;

use oxperf_analysis::hist::{AccessKey, Row, SortKey, without_digits};
use oxperf_profile::{AccessAddress, DataPlace, Detail, NumberCell, Profile, SourceId};

use crate::text::mem_text::{block, level, lock, snoop, translation};

/// One value; text is as recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Text(Cow<'a, str>),
    Number(i64),
    /// The row does not say it.
    Nothing,
}

impl<'a> Value<'a> {
    fn text(text: Option<&'a str>) -> Value<'a> {
        text.map_or(Value::Nothing, |text| Value::Text(Cow::Borrowed(text)))
    }

    fn number(number: Option<u64>) -> Value<'a> {
        number.map_or(Value::Nothing, |number| Value::Number(number.cast_signed()))
    }
}

/// The name of a key's values: that of the key on the command line, but threads and processes by what they are.
pub(crate) fn word(profile: &Profile, key: SortKey) -> &str {
    match key {
        SortKey::Thread => "tid",
        SortKey::Process => "pid",
        SortKey::Field(number) => profile
            .details
            .fields
            .get(usize::from(number))
            .map_or("field", |field| field.name.as_str()),
        key => key.name(),
    }
}

/// The value of a key for a row.
pub(crate) fn value<'a>(profile: &'a Profile, row: &Row, key: SortKey) -> Value<'a> {
    let thread = profile.threads.get(row.thread.index());
    let comm = profile.comms.get(row.comm.index());
    match key {
        SortKey::Comm => Value::text(comm.map(String::as_str)),
        SortKey::CommNoDigit => comm.map_or(Value::Nothing, |comm| {
            Value::Text(Cow::Owned(without_digits(comm)))
        }),
        SortKey::Thread => Value::Number(thread.map_or(-1, |thread| thread.tid.0.into())),
        SortKey::Process => Value::Number(thread.map_or(-1, |thread| thread.pid.0.into())),
        SortKey::Number(key) => {
            let number = profile.details.value(row.detail, Detail::Number(key));
            match (number, key.cell) {
                (None, NumberCell::ZeroFilled { .. }) => Value::Number(-1),
                _ => Value::number(number),
            }
        }
        SortKey::Cgroup => {
            let id = profile.details.value(row.detail, Detail::Cgroup);
            let path = id.and_then(|id| profile.details.cgroups.get(&id));
            Value::text(path.map(String::as_str))
        }
        SortKey::Trace | SortKey::CgroupId | SortKey::Field(_) | SortKey::Parent => Value::text(
            key.detail()
                .and_then(|detail| profile.details.text(row.detail, detail)),
        ),
        SortKey::Access(key) => access(profile, row, key),
        key => code(profile, row, key),
    }
}

/// The value of a key for the code that a row is about, and for the data that the code works on.
fn code<'a>(profile: &'a Profile, row: &Row, key: SortKey) -> Value<'a> {
    let frame = profile.frames.get(row.frame.index());
    let symbol = frame.and_then(|frame| profile.symbols.get(frame.symbol?.index()));
    let source = frame.and_then(|frame| frame.source);
    let text = |text: SourceId| profile.sources.get(text.index()).map(String::as_str);
    let data = || profile.data_places.of(row.frame);
    match key {
        SortKey::Dso => {
            let dso = frame.and_then(|frame| profile.dsos.get(frame.dso?.index()));
            Value::text(dso.map(|dso| dso.short.as_str()))
        }
        SortKey::Symbol | SortKey::SymbolOffset => {
            Value::text(symbol.map(|symbol| symbol.name.as_str()))
        }
        SortKey::DsoSize => {
            let size = profile.map_sizes.get(row.frame.index());
            Value::number(size.copied().flatten())
        }
        SortKey::SymbolSize => {
            Value::number(symbol.map(|symbol| symbol.end.saturating_sub(symbol.start)))
        }
        SortKey::Address => Value::number(frame.map(|frame| frame.address)),
        SortKey::SourceLine => Value::text(source.and_then(|source| text(source.line))),
        SortKey::SourceFile => Value::text(source.and_then(|source| text(source.file))),
        SortKey::DataType => Value::text(data().map(|place| &*place.name)),
        SortKey::DataTypeOffset => Value::number(data().and_then(|place| place.offset)),
        SortKey::DataTypeLine => Value::number(data().map(DataPlace::line)),
        SortKey::Branch(_) | SortKey::NoIpc | SortKey::Ipc | SortKey::Simd => Value::Nothing,
        key => Value::number(
            key.detail()
                .and_then(|detail| profile.details.value(row.detail, detail)),
        ),
    }
}

/// The value of a key for the access to memory that a row is about.
fn access<'a>(profile: &'a Profile, row: &Row, key: AccessKey) -> Value<'a> {
    let Some(access) = profile.details.access(row.detail) else {
        return Value::Nothing;
    };
    let frame = |spot: Option<AccessAddress>| profile.frames.get(spot?.frame.index());
    let place = |spot: Option<AccessAddress>| match frame(spot).and_then(|frame| frame.symbol) {
        Some(symbol) => Value::text(
            profile
                .symbols
                .get(symbol.index())
                .map(|symbol| symbol.name.as_str()),
        ),
        None => Value::number(spot.map(|spot| spot.address)),
    };
    let words = |text: String| Value::Text(Cow::Owned(text));
    match key {
        AccessKey::DataSymbol => place(access.data),
        AccessKey::CodeSymbol => place(access.code),
        AccessKey::DataObject => {
            let dso = frame(access.data).and_then(|frame| profile.dsos.get(frame.dso?.index()));
            Value::text(dso.map(|dso| dso.short.as_str()))
        }
        AccessKey::Locked => Value::text(Some(lock(access.source))),
        AccessKey::Translation => words(translation(access.source)),
        AccessKey::Level => words(level(access.source)),
        AccessKey::Snoop => words(snoop(access.source)),
        AccessKey::Blocked => Value::text(Some(block(access.source).trim_start())),
        AccessKey::Line => Value::number(access.line.map(|line| line.address)),
        AccessKey::PhysicalAddress => Value::number(Some(access.physical)),
        AccessKey::PageSize => Value::number(Some(access.page_size)),
    }
}

/// The value of a key, or the address that rows show in the place of a symbol that is not known.
pub(super) fn value_or_address<'a>(profile: &'a Profile, row: &Row, key: SortKey) -> Value<'a> {
    match (key, value(profile, row, key)) {
        (SortKey::Symbol, Value::Nothing) => Value::Text(Cow::Owned(format!("{:#x}", row.address))),
        (_, value) => value,
    }
}

/// A frame's name, or its address where none is known.
pub(crate) fn frame_name(profile: &Profile, frame: oxperf_profile::FrameId) -> Cow<'_, str> {
    let frame = profile.frames.get(frame.index());
    match frame.and_then(|frame| profile.symbols.get(frame.symbol?.index())) {
        Some(symbol) => Cow::Borrowed(symbol.name.as_str()),
        None => Cow::Owned(format!("{:#x}", frame.map_or(0, |frame| frame.address))),
    }
}
