//! `data check --json`: the findings for programs. docs/commands.md describes the object; [`VERSION`] counts its shapes.

use oxperf_data::{Container, Damage, FeatureId};
use oxperf_session::{
    CheckedEvent, LostCounts, RecordCounts, RecorderInfo, RecordingCheck, RecordingForm,
};
use oxperf_wire::Endian;

use super::{tool_name, with_cause};
use crate::json::object::{Object, array, null, number, object, text};

/// The shape of the object. It grows by one when a key changes its meaning or goes; new keys may come without.
const VERSION: u32 = 1;

/// Appends the findings about the recording that is called `name`.
pub fn write(out: &mut Vec<u8>, name: &str, found: &RecordingCheck) {
    let verdict = if found.is_whole() { "whole" } else { "damaged" };
    object(out, |object| {
        begin(object, name, verdict);
        object.key("form", |out| form(out, &found.form));
        object.key("recorder", |out| recorder(out, &found.recorder));
        object.key("events", |out| array(out, &found.events, event));
        object.key("records", |out| records(out, &found.records));
        object.key("span", |out| match found.span {
            None => null(out),
            Some((first, last)) => self::object(out, |span| {
                span.number("first", first.0);
                span.number("last", last.0);
            }),
        });
        object.key("lost", |out| lost(out, &found.lost));
        object.key("features", |out| {
            array(out, &found.features, |out, id| text(out, &id.to_string()))
        });
        object.key("broken_features", |out| {
            array(out, &found.broken_features, |out, (id, error)| {
                broken_feature(out, *id, error)
            })
        });
        object.key("damage", |out| damage(out, found));
    });
    out.push(b'\n');
}

/// Appends that the file cannot be read, with the reason.
pub fn write_unreadable(out: &mut Vec<u8>, name: &str, reason: &str) {
    object(out, |object| {
        begin(object, name, "unreadable");
        object.text("reason", reason);
    });
    out.push(b'\n');
}

fn begin(object: &mut Object<'_>, name: &str, verdict: &str) {
    object.number("oxperf_data_check", VERSION);
    object.text("file", name);
    object.text("verdict", verdict);
}

fn form(out: &mut Vec<u8>, form: &RecordingForm) {
    object(out, |object| {
        object.text(
            "container",
            match form.container {
                Container::File => "file",
                Container::Directory => "directory",
                Container::Stream => "stream",
            },
        );
        object.number("version", form.version);
        object.number("further_files", form.further_files);
        object.text(
            "byte_order",
            match form.endian {
                Endian::Little => "little",
                Endian::Big => "big",
            },
        );
        object.key("compression_level", |out| match form.compression {
            Some(compression) => number(out, compression.level),
            None => null(out),
        });
    });
}

fn recorder(out: &mut Vec<u8>, recorder: &RecorderInfo) {
    object(out, |object| {
        object.optional("tool", recorder.tool.map(tool_name));
        object.optional("version", recorder.version.as_deref());
        object.optional("host", recorder.host.as_deref());
        object.optional("os_release", recorder.os_release.as_deref());
        object.optional("arch", recorder.arch.as_deref());
        object.key("word_bits", |out| match recorder.word_bits {
            Some(bits) => number(out, bits),
            None => null(out),
        });
        object.key("command", |out| {
            array(out, &recorder.command, |out, word| text(out, word))
        });
    });
}

fn event(out: &mut Vec<u8>, event: &CheckedEvent) {
    object(out, |object| {
        object.text("name", &event.name);
        object.number("ids", event.ids);
        object.number("attr_size", event.attr_size);
        object.key("newer", |out| {
            out.extend_from_slice(if event.newer { b"true" } else { b"false" })
        });
    });
}

fn records(out: &mut Vec<u8>, records: &RecordCounts) {
    let RecordCounts {
        total,
        samples,
        unknown,
        undecodable,
        unlisted,
    } = *records;
    object(out, |object| {
        object.number("total", total);
        object.number("samples", samples);
        object.number("unknown", unknown);
        object.number("undecodable", undecodable);
        object.number("unlisted", unlisted);
    });
}

fn lost(out: &mut Vec<u8>, lost: &LostCounts) {
    let LostCounts {
        records,
        chunks,
        samples,
        filtered,
        throttled,
        aux_truncated,
    } = *lost;
    object(out, |object| {
        object.number("records", records);
        object.number("chunks", chunks);
        object.number("samples", samples);
        object.number("filtered", filtered);
        object.number("throttled", throttled);
        object.number("aux_truncated", aux_truncated);
    });
}

fn broken_feature(out: &mut Vec<u8>, id: FeatureId, error: &oxperf_data::DataError) {
    object(out, |object| {
        object.text("feature", &id.to_string());
        object.text("text", &with_cause(error));
    });
}

fn damage(out: &mut Vec<u8>, found: &RecordingCheck) {
    object(out, |object| {
        object.number("places", found.damage.count());
        object.number("lost_bytes", found.damage.lost_bytes());
        object.key("listed", |out| array(out, found.damage.listed(), place));
    });
}

fn place(out: &mut Vec<u8>, damage: &Damage) {
    object(out, |object| {
        object.text("kind", damage.kind());
        object.number("offset", damage.offset().0);
        object.number("lost_bytes", damage.lost_bytes());
        object.text("text", &damage.to_string());
    });
}
