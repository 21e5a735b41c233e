//! Programs to begin with: they read events as lines of JSON and print what each one says.

use std::io::{self, Write};

use crate::text::sanitize;

/// A language that such a program is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// Python 3.
    Python,
    /// Perl 5.
    Perl,
}

/// An event that the program handles.
#[derive(Clone, Debug)]
pub struct HandledEvent {
    /// Its name; untrusted.
    pub name: String,
    /// The fields that a tracepoint records; untrusted.
    pub fields: Vec<String>,
}

impl Language {
    /// The language that goes by a name, or by the suffix of its files.
    pub fn parse(name: &str) -> Option<Language> {
        match name.to_ascii_lowercase().as_str() {
            "python" | "python3" | "py" => Some(Language::Python),
            "perl" | "pl" => Some(Language::Perl),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "Python",
            Language::Perl => "Perl",
        }
    }

    /// The suffix of its files.
    pub fn suffix(self) -> &'static str {
        match self {
            Language::Python => "py",
            Language::Perl => "pl",
        }
    }

    /// Writes a program with a function for each event.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(self, events: &[HandledEvent], out: &mut impl Write) -> io::Result<()> {
        let (begin, end) = match self {
            Language::Python => (PYTHON_BEGIN, PYTHON_END),
            Language::Perl => (PERL_BEGIN, PERL_END),
        };
        out.write_all(begin.as_bytes())?;
        let named: Vec<(String, &HandledEvent)> = events
            .iter()
            .enumerate()
            .map(|(number, event)| (function(number, &event.name), event))
            .collect();
        for (function, event) in &named {
            self.write_function(function, event, out)?;
        }
        self.write_table(&named, out)?;
        out.write_all(end.as_bytes())
    }

    fn write_function(
        self,
        function: &str,
        event: &HandledEvent,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let fields: Vec<String> = event.fields.iter().map(|field| quoted(field)).collect();
        let fields = fields.join(", ");
        match self {
            Language::Python => writeln!(
                out,
                "def {function}(sample):\n    show(sample, [{fields}])\n\n"
            ),
            Language::Perl => {
                writeln!(
                    out,
                    "sub {function} {{\n    my ($sample) = @_;\n    show($sample, {fields});\n}}\n"
                )
            }
        }
    }

    fn write_table(
        self,
        named: &[(String, &HandledEvent)],
        out: &mut impl Write,
    ) -> io::Result<()> {
        let (begin, to, mark, end) = match self {
            Language::Python => ("HANDLERS = {", ":", "", "}\n"),
            Language::Perl => ("my %handlers = (", " =>", "\\&", ");"),
        };
        writeln!(out, "{begin}")?;
        for (function, event) in named {
            writeln!(out, "    {}{to} {mark}{function},", quoted(&event.name))?;
        }
        writeln!(out, "{end}")
    }
}

/// The name of an event's function: another one for each event.
fn function(number: usize, name: &str) -> String {
    let letters: String = name
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '_'
            }
        })
        .collect();
    format!("on_{number}_{letters}")
}

/// A text as both languages have it, without anything that they would read as more than text.
fn quoted(text: &str) -> String {
    let text = sanitize(text).replace('\\', "\\\\").replace('\'', "\\'");
    format!("'{text}'")
}

const PYTHON_BEGIN: &str = r#"#!/usr/bin/env python3
"""Reads the events of a recording, one JSON object a line:

    oxperf script -s perf-script.py
"""

import json
import sys


def begin(header):
    """The first line: format, version, file, host, command, events."""


def end(totals):
    """The last line: how many samples there were, and what was lost."""


def other(event):
    """What is no sample, or of an event that has no function here."""


def show(sample, fields):
    """Prints who, when and where, and fields of a tracepoint's record."""
    trace = sample.get('trace', {})
    values = ['%s=%s' % (field, trace[field]) for field in fields if field in trace]
    print('%-16s %7s [%03d] %s:' % (sample['comm'], sample['tid'], sample.get('cpu', 0), sample['event']),
          sample.get('time', ''), sample.get('symbol', sample.get('ip', '')), ' '.join(values))
    for frame in sample.get('callchain', []):
        print('\t%s %s (%s)' % (frame['ip'], frame.get('symbol', '[unknown]'), frame.get('dso', '[unknown]')))


"#;

const PYTHON_END: &str = r#"
def main():
    for line in sys.stdin:
        event = json.loads(line)
        if event['type'] == 'header':
            begin(event)
        elif event['type'] == 'end':
            end(event)
        else:
            HANDLERS.get(event.get('event'), other)(event)


if __name__ == '__main__':
    main()
"#;

const PERL_BEGIN: &str = r#"#!/usr/bin/env perl
# Reads the events of a recording, one JSON object a line:
#
#     oxperf script -s perf-script.pl

use strict;
use warnings;
use utf8;
use JSON::PP;

binmode(STDOUT, ':encoding(UTF-8)');

# The first line: format, version, file, host, command, events.
sub begin {
    my ($header) = @_;
}

# The last line: how many samples there were, and what was lost.
sub end {
    my ($totals) = @_;
}

# What is no sample, or of an event that has no function here.
sub other {
    my ($event) = @_;
}

# Prints who, when and where, and fields of a tracepoint's record.
sub show {
    my ($sample, @fields) = @_;
    my $trace = $sample->{trace} // {};
    my @values = map { "$_=$trace->{$_}" } grep { defined $trace->{$_} } @fields;
    printf("%-16s %7s [%03d] %s: %s %s %s\n", $sample->{comm}, $sample->{tid}, $sample->{cpu} // 0,
        $sample->{event}, $sample->{time} // '', $sample->{symbol} // $sample->{ip} // '', join(' ', @values));
    for my $frame (@{$sample->{callchain} // []}) {
        printf("\t%s %s (%s)\n", $frame->{ip}, $frame->{symbol} // '[unknown]', $frame->{dso} // '[unknown]');
    }
}

"#;

const PERL_END: &str = r"
while (my $line = <STDIN>) {
    my $event = decode_json($line);
    if ($event->{type} eq 'header') {
        begin($event);
    } elsif ($event->{type} eq 'end') {
        end($event);
    } else {
        my $handler = $handlers{$event->{event} // ''} // \&other;
        $handler->($event);
    }
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_has_a_function_and_no_name_leaves_its_quotes() {
        let events = [
            HandledEvent {
                name: "sched:switch".to_owned(),
                fields: vec!["pid".to_owned(), "x'y".to_owned()],
            },
            HandledEvent {
                name: "it's\\\n".to_owned(),
                fields: Vec::new(),
            },
        ];
        let text = |language: Language| {
            let mut out = Vec::new();
            language.write(&events, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let python = text(Language::Python);
        assert!(
            python.contains("def on_0_sched_switch(sample):\n    show(sample, ['pid', 'x\\'y'])\n")
        );
        let name = quoted(&events[1].name);
        assert!(!name.contains('\n') && python.contains(&format!("\n    {name}: on_1_it_s__,\n")));
        assert!(text(Language::Perl).contains("    'sched:switch' => \\&on_0_sched_switch,\n"));
    }

    #[test]
    fn languages_go_by_names_and_suffixes() {
        let known = ["Python", "py", "perl", "cobol"].map(Language::parse);
        assert_eq!(
            known,
            [
                Some(Language::Python),
                Some(Language::Python),
                Some(Language::Perl),
                None
            ]
        );
    }
}
