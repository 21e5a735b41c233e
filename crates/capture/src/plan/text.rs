//! A plan as text, two lines an event: the fields of its attribute that are set, and its sites.
//!
//! Fields that are zero are left out; the order is that of the attribute.

use std::fmt;

use oxperf_abi::{AttrFlags, BranchSampleType, EventAttr, ReadFormat, SampleType};

use super::{OpenSite, Plan, PlannedEvent, TargetTask};

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.events
            .iter()
            .try_for_each(|event| write_event(f, event))
    }
}

fn write_event(f: &mut fmt::Formatter<'_>, event: &PlannedEvent) -> fmt::Result {
    write!(f, "{}:", event.request.name)?;
    write_attr(f, &event.attr)?;
    f.write_str("\n ")?;
    if let Some(leader) = event.request.leader {
        write!(f, " member of {leader}")?;
    }
    event
        .sites
        .iter()
        .try_for_each(|&site| write_site(f, site))?;
    f.write_str("\n")
}

fn write_attr(f: &mut fmt::Formatter<'_>, attr: &EventAttr) -> fmt::Result {
    write!(f, " type={} config={:#x}", attr.kind.0, attr.config)?;
    write_number(
        f,
        if attr.flags.contains(AttrFlags::FREQ) {
            "freq"
        } else {
            "period"
        },
        attr.sample_period,
    )?;
    write_names(
        f,
        "sample",
        attr.sample_type.names(),
        attr.sample_type != SampleType::EMPTY,
    )?;
    write_names(
        f,
        "read",
        attr.read_format.names(),
        attr.read_format != ReadFormat::EMPTY,
    )?;
    for name in attr.flags.names().filter(|name| *name != "freq") {
        write!(f, " {name}")?;
    }
    write_number(f, "precise_ip", attr.flags.precise_ip().into())?;
    write_number(f, "config1", attr.config1)?;
    write_number(f, "config2", attr.config2)?;
    write_names(
        f,
        "branch",
        attr.branch_sample_type.names(),
        attr.branch_sample_type != BranchSampleType::EMPTY,
    )?;
    for (name, mask) in [
        ("regs_user", attr.sample_regs_user),
        ("regs_intr", attr.sample_regs_intr),
    ] {
        if mask != 0 {
            write!(f, " {name}={mask:#x}")?;
        }
    }
    write_number(f, "stack_user", attr.sample_stack_user.into())?;
    write_number(f, "max_stack", attr.sample_max_stack.into())?;
    write_number(f, "aux_watermark", attr.aux_watermark.into())?;
    write_number(f, "aux_sample_size", attr.aux_sample_size.into())?;
    write_number(f, "aux_action", attr.aux_action.into())
}

fn write_number(f: &mut fmt::Formatter<'_>, name: &str, value: u64) -> fmt::Result {
    if value == 0 {
        Ok(())
    } else {
        write!(f, " {name}={value}")
    }
}

fn write_names<'a>(
    f: &mut fmt::Formatter<'_>,
    field: &str,
    names: impl Iterator<Item = &'a str>,
    any: bool,
) -> fmt::Result {
    if !any {
        return Ok(());
    }
    write!(f, " {field}={}", names.collect::<Vec<_>>().join("|"))
}

fn write_site(f: &mut fmt::Formatter<'_>, site: OpenSite) -> fmt::Result {
    match site.task {
        TargetTask::Anyone => f.write_str(" anyone")?,
        TargetTask::Workload => f.write_str(" workload")?,
        TargetTask::Thread(tid) => write!(f, " thread {tid}")?,
    }
    match site.cpu {
        Some(cpu) => write!(f, "@cpu{cpu}"),
        None => f.write_str("@any"),
    }
}
