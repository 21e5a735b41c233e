//! The text that describes a trace: the file `metadata`.

use std::fmt::Write;

use oxperf_data::features::{Arch, ClockData, Hostname, OsRelease, Version};
use oxperf_data::{Feature, Reader};

use super::EventClass;
use super::layout::Integer;
use super::names::quoted;

/// The clock of the recording's times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// As recorded: since some moment that only the recorded machine knows.
    Recorded,
    /// By the wall clock, from the one moment that the recording has by both.
    Wall(ClockData),
}

/// The metadata of a trace.
pub struct Metadata<'a> {
    /// The recording, for what it says of its machine.
    pub reader: &'a Reader<'a>,
    /// The clock.
    pub clock: Clock,
    /// The kinds of events by their numbers.
    pub classes: &'a [&'a EventClass],
}

const NANOSECONDS: i128 = 1_000_000_000;

impl Metadata<'_> {
    /// Writes the text.
    pub fn write(&self, out: &mut String) {
        out.push_str(TRACE);
        self.environment(out);
        self.clock(out);
        for integer in Integer::ALL {
            let (bits, signed, base) = (8 * integer.bytes(), integer.signed(), integer.base());
            let alias = integer.alias();
            let _ = writeln!(
                out,
                "typealias integer {{ size = {bits}; align = 8; signed = {signed}; base = {base}; }} := {alias};"
            );
        }
        out.push_str(STREAM);
        self.classes
            .iter()
            .enumerate()
            .for_each(|(id, class)| class.declare(id, out));
    }

    fn environment(&self, out: &mut String) {
        let texts = [
            ("host", self.get::<Hostname>().0),
            ("sysname", "Linux".to_owned()),
            ("release", self.get::<OsRelease>().0),
            ("version", self.get::<Version>().0),
            ("machine", self.get::<Arch>().0),
            ("domain", "kernel".to_owned()),
            ("tracer_name", "perf".to_owned()),
        ];
        out.push_str("env {\n");
        for (name, text) in texts {
            let _ = writeln!(out, "\t{name} = {};", quoted(&text));
        }
        out.push_str("};\n\n");
    }

    fn clock(&self, out: &mut String) {
        let (description, offset) = match self.clock {
            Clock::Recorded => ("perf clock", 0),
            Clock::Wall(data) => (
                "wall clock",
                i128::from(data.wall_nanoseconds) - i128::from(data.clock_nanoseconds),
            ),
        };
        let (seconds, rest) = (
            offset.div_euclid(NANOSECONDS),
            offset.rem_euclid(NANOSECONDS),
        );
        let description = quoted(description);
        let _ = writeln!(
            out,
            "clock {{\n\tname = perf_clock;\n\tdescription = {description};\n\tfreq = 1000000000;\n\
             \toffset_s = {seconds};\n\toffset = {rest};\n}};\n"
        );
    }

    /// A feature's value; what is absent or broken counts as empty.
    fn get<F: Feature + Default>(&self) -> F {
        self.reader
            .features()
            .get()
            .ok()
            .flatten()
            .unwrap_or_default()
    }
}

const TRACE: &str = "/* CTF 1.8 */

typealias integer { size = 32; align = 8; signed = false; } := word;
typealias integer { size = 64; align = 8; signed = false; } := long_word;

trace {
\tmajor = 1;
\tminor = 8;
\tbyte_order = le;
\tpacket.header := struct {
\t\tword magic;
\t\tword stream_id;
\t} align(8);
};

";

const STREAM: &str = "\
typealias integer { size = 64; align = 8; signed = false; map = clock.perf_clock.value; } := moment;

stream {
\tid = 0;
\tpacket.context := struct {
\t\tmoment timestamp_begin;
\t\tmoment timestamp_end;
\t\tlong_word content_size;
\t\tlong_word packet_size;
\t\tlong_word events_discarded;
\t\tword cpu_id;
\t} align(8);
\tevent.header := struct {
\t\tword id;
\t\tmoment timestamp;
\t} align(8);
};

";
