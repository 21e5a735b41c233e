//! The traffic of PCI root ports: a line for each port, a column for each way that data goes.

use super::{CountForm, CountMoment, CountStyle};
use crate::text::put;

/// The columns, in megabytes.
const COLUMNS: [&str; 4] = [
    "Inbound Read(MB)",
    "Inbound Write(MB)",
    "Outbound Read(MB)",
    "Outbound Write(MB)",
];

/// What went through a root port.
#[derive(Clone, PartialEq, Debug)]
pub struct PortTraffic {
    /// The port.
    pub port: String,
    /// Megabytes that devices read from memory and wrote to it, and that CPUs read from devices and wrote to them.
    pub megabytes: [f64; 4],
}

/// Appends the names of the columns; JSON has them in every object.
pub fn port_heading(out: &mut Vec<u8>, style: &CountStyle, moment: CountMoment) {
    let is_interval = matches!(moment, CountMoment::Interval(_));
    match &style.form {
        CountForm::Text => {
            put!(out, " ");
            if is_interval {
                put!(out, "#          time ");
            }
            put!(out, "   port         ");
            for column in COLUMNS {
                put!(out, "{column:>20} ");
            }
        }
        CountForm::Csv { separator } => {
            if is_interval {
                put!(out, "time{separator}");
            }
            put!(out, "port{separator}");
            for column in COLUMNS {
                put!(out, "{column}{separator}");
            }
        }
        CountForm::Json => return,
    }
    out.push(b'\n');
}

/// Appends a line for each port.
pub fn port_lines(
    out: &mut Vec<u8>,
    ports: &[PortTraffic],
    style: &CountStyle,
    moment: CountMoment,
) {
    let time = match moment {
        CountMoment::Interval(time) => Some((time.as_secs(), time.subsec_nanos())),
        CountMoment::Whole | CountMoment::Summary => None,
    };
    for PortTraffic { port, megabytes } in ports {
        match &style.form {
            CountForm::Text => {
                if let Some((seconds, nanoseconds)) = time {
                    put!(out, "{seconds:6}.{nanoseconds:09} ");
                }
                put!(out, "{port} ");
                megabytes
                    .iter()
                    .for_each(|amount| put!(out, "{amount:>20.0}"));
            }
            CountForm::Csv { separator } => {
                if let Some((seconds, nanoseconds)) = time {
                    put!(out, "{seconds:6}.{nanoseconds:09}{separator}");
                }
                put!(out, "{port}{separator}");
                megabytes
                    .iter()
                    .for_each(|amount| put!(out, "{amount:.0}{separator}"));
            }
            CountForm::Json => {
                put!(out, "{{");
                if let Some((seconds, nanoseconds)) = time {
                    put!(out, "\"interval\" : {seconds}.{nanoseconds:09}, ");
                }
                put!(out, "\"port\" : \"{port}\"");
                for (column, amount) in COLUMNS.iter().zip(megabytes) {
                    put!(out, ", \"{column}\" : \"{amount:.0}\"");
                }
                put!(out, "}}");
            }
        }
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn shown(form: CountForm, moment: CountMoment) -> String {
        let style = CountStyle {
            form,
            ..CountStyle::default()
        };
        let port = PortTraffic {
            port: "0000:3d".to_owned(),
            megabytes: [10.6, 0.0, 1e6, 1.4],
        };
        let mut out = Vec::new();
        port_heading(&mut out, &style, moment);
        port_lines(&mut out, &[port], &style, moment);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_port_has_a_line_in_every_form() {
        let text = shown(CountForm::Text, CountMoment::Whole);
        let line = "0000:3d                   11                   0             1000000                   1\n";
        assert!(text.starts_with("    port             Inbound Read(MB) "));
        assert!(text.ends_with(line), "{text}");
        let separator = ",".to_owned();
        let interval = CountMoment::Interval(Duration::from_millis(1500));
        assert_eq!(
            shown(CountForm::Csv { separator }, interval),
            "time,port,Inbound Read(MB),Inbound Write(MB),Outbound Read(MB),Outbound Write(MB),\n     1.500000000,0000:3d,11,0,1000000,1,\n"
        );
        assert_eq!(
            shown(CountForm::Json, interval),
            "{\"interval\" : 1.500000000, \"port\" : \"0000:3d\", \"Inbound Read(MB)\" : \"11\", \"Inbound Write(MB)\" : \"0\", \"Outbound Read(MB)\" : \"1000000\", \"Outbound Write(MB)\" : \"1\"}\n"
        );
    }
}
