//! OpenTelemetry's profiles of a recording: where it was made, when, by which programs.

use std::borrow::Cow;

use oxperf_abi::Pid;
use oxperf_columns::WallClock;
use oxperf_data::Reader;
use oxperf_data::features::{Arch, Hostname, OsRelease};
use oxperf_machine::{Machine, ThreadId as MachineThread};
use oxperf_present::export::{
    Attribute, AttributeValue, CodeExport, MessageLimits, OtlpExport, OtlpMessage,
};
use oxperf_profile::Profile;
use rustc_hash::FxHashMap;

use crate::environment;
use crate::failure::Failure;
use crate::input::Input;
use crate::output::print_error;

/// Nanoseconds.
const SECOND: i64 = 1_000_000_000;

/// A recording that is exported.
pub(super) struct Recorded<'r> {
    pub(super) input: &'r Input,
    pub(super) reader: &'r Reader<'r>,
    /// The machine at its end.
    pub(super) machine: &'r Machine,
}

/// Makes the messages of an export, and hands each to `take`.
pub(super) fn messages(
    code: &CodeExport<'_>,
    recorded: &Recorded<'_>,
    limits: MessageLimits,
    mut take: impl FnMut(&OtlpMessage) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let clock = wall_clock(code, recorded);
    let modified = recorded.input.modified().max(0).saturating_mul(SECOND);
    let export = OtlpExport {
        code: *code,
        resource: &resource(code, recorded),
        attributes: &attributes(code, clock),
        executables: &executables(code.profile, recorded.machine),
        wall_offset: clock.offset.unwrap_or(0).cast_unsigned(),
        untimed: modified.cast_unsigned(),
    };
    export
        .messages(limits)
        .try_for_each(|message| take(&message))
}

/// The wall clock at the times of the samples; says so if it is a guess.
fn wall_clock(code: &CodeExport<'_>, recorded: &Recorded<'_>) -> WallClock {
    let modified = recorded.input.modified();
    let mut clock = WallClock::of(recorded.reader, Some(modified));
    if !clock.exact {
        print_error(&format!(
            "Warning:\n{} does not tell the wall clock: its last sample is taken to be as old as the file (record -k mono tells it)",
            recorded.input.path().display()
        ));
    }
    // A header that does not say when the last sample was leaves it to the samples.
    let moments = code.events.iter().flat_map(|event| &event.moments);
    let last = moments.filter_map(|moment| moment.time).max().unwrap_or(0);
    let by_samples = modified
        .saturating_mul(SECOND)
        .wrapping_sub(last.cast_signed());
    clock.offset.get_or_insert(by_samples);
    clock
}

/// What the samples have in common: the machine, and the service that the environment names.
fn resource(code: &CodeExport<'_>, recorded: &Recorded<'_>) -> Vec<Attribute> {
    let features = recorded.reader.features();
    let mut attributes = Vec::new();
    if let Ok(Some(Hostname(name))) = features.get::<Hostname>() {
        attributes.push(Attribute::text("host.name", name));
    }
    if let Ok(Some(Arch(name))) = features.get::<Arch>() {
        attributes.push(Attribute::text("host.arch", host_arch(&name)));
    }
    attributes.push(Attribute::text("os.type", "linux"));
    if let Ok(Some(OsRelease(release))) = features.get::<OsRelease>() {
        attributes.push(Attribute::text("os.version", release));
    }
    let main = code.objects.iter().position(|object| object.is_main);
    let main = main.and_then(|main| code.profile.dsos.get(main));
    let main = main.map_or("", |dso| base_name(&dso.long));
    // The name that the specification asks for where none is given.
    let unknown = match main {
        "" => "unknown_service".to_owned(),
        main => format!("unknown_service:{main}"),
    };
    attributes.push(Attribute::text("service.name", unknown));
    let given = environment::resource_attributes();
    let given = given.iter().flat_map(|text| pairs(text));
    let service = environment::service_name().map(|name| ("service.name".to_owned(), name));
    for (key, value) in given.chain(service) {
        attributes.retain(|known| known.key != key);
        attributes.push(Attribute::text(Cow::Owned(key), value));
    }
    attributes
}

/// The value of `host.arch` for a machine of `uname`.
fn host_arch(machine: &str) -> &str {
    match machine {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "i386" | "i486" | "i586" | "i686" => "x86",
        "ppc64le" => "ppc64",
        arm if arm.starts_with("armv") => "arm32",
        other => other,
    }
}

/// What the profiles have in common.
fn attributes(code: &CodeExport<'_>, clock: WallClock) -> Vec<Attribute> {
    let command = format!("command: {}", code.title);
    let comments = std::iter::once(command).chain(code.lost.iter().cloned());
    let source = if clock.exact { "recorded" } else { "file time" };
    vec![
        Attribute {
            key: "pprof.profile.comment".into(),
            value: AttributeValue::Texts(comments.collect()),
        },
        Attribute::text("oxperf.wall_clock", source),
    ]
}

/// The names of the programs that processes with samples run.
fn executables(profile: &Profile, machine: &Machine) -> FxHashMap<Pid, String> {
    let mut names = FxHashMap::default();
    for (number, thread) in (0u32..).zip(&profile.threads) {
        if names.contains_key(&thread.pid) {
            continue;
        }
        if let Some(program) = machine.program_of(MachineThread(number)) {
            names.insert(thread.pid, base_name(&program.name).to_owned());
        }
    }
    names
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The pairs of `KEY=VALUE,KEY=VALUE`, as the variables of OpenTelemetry have them: bytes may stand as `%XX`.
pub(super) fn pairs(text: &str) -> impl Iterator<Item = (String, String)> + '_ {
    text.split(',').filter_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        let key = key.trim();
        (!key.is_empty()).then(|| (percent_decoded(key), percent_decoded(value.trim())))
    })
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|_| first == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::pairs;

    #[test]
    fn pairs_of_a_variable_are_decoded() {
        let found: Vec<_> = pairs("a=b, c.d = x%20y%2Cz ,=no,nothing,e=%zz%4").collect();
        let known = [("a", "b"), ("c.d", "x y,z"), ("e", "%zz%4")];
        assert_eq!(
            found,
            known.map(|(key, value)| (key.to_owned(), value.to_owned()))
        );
    }
}
