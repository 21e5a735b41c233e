//! The options about the course of a recording: what is kept of it, and the commands that steer it.

use clap::{Arg, ArgMatches};

use super::super::ArgumentProblem;
use super::text;
use crate::arguments::kinds::{switch, value};
use crate::cmd::control::{self, ControlSource};

pub(super) fn options() -> [Arg; 2] {
    [
        switch("overwrite").help("Keep the newest records that fit into the rings, and write them at the end, or with --switch-output at each SIGUSR2"),
        value("control", "fd:ctl-fd[,ack-fd] or fifo:ctl-fifo[,ack-fifo]").help("Obey lines of commands from a descriptor or a named pipe: enable, disable, both also with an event behind, evlist with -v, -g or -F, ping, snapshot, stop; what was obeyed is answered with 'ack'"),
    ]
}

/// Where commands come from.
pub(super) fn control(matches: &ArgMatches) -> Result<Option<ControlSource>, ArgumentProblem> {
    let source = |text| {
        let source = ControlSource::parse(text);
        source.ok_or_else(|| ArgumentProblem::Value(control::no_source(text)))
    };
    text(matches, "control").map(source).transpose()
}
