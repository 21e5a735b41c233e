//! The words above columns.

use oxperf_analysis::hist::{Field, Measure, PrivilegeMode, SortKey};

use super::accesses::access_heading;
use super::branches::branch_heading;
use super::kinds::title;

/// The words above a column.
pub(super) fn heading(field: Field, own_is_self: bool) -> &'static str {
    match field {
        Field::Measure(measure) => measure_heading(measure, own_is_self),
        Field::Key(key) => heading_of_key(key),
    }
}

fn measure_heading(measure: Measure, own_is_self: bool) -> &'static str {
    match measure {
        Measure::Children => "Children",
        Measure::ChildrenLatency | Measure::OwnLatency => "Latency",
        Measure::Own if own_is_self => "Self",
        Measure::Own => "Overhead",
        Measure::Mode(PrivilegeMode::System) => "sys",
        Measure::Mode(PrivilegeMode::User) => "usr",
        Measure::Mode(PrivilegeMode::GuestSystem) => "guest sys",
        Measure::Mode(PrivilegeMode::GuestUser) => "guest usr",
        Measure::Samples => "Samples",
        Measure::Period => "Period",
        Measure::MeanWeight(0) => "Weight1",
        Measure::MeanWeight(1) => "Weight2",
        Measure::MeanWeight(_) => "Weight3",
        Measure::Predicted => "Predicted",
        Measure::Aborts => "Abort",
        Measure::BranchCycles => "Cycles",
        Measure::Kinds(kinds) => title(kinds),
    }
}

fn heading_of_key(key: SortKey) -> &'static str {
    match key {
        SortKey::Thread => "    Pid:Command",
        SortKey::Process => "   Tgid:Command",
        SortKey::Comm => "Command",
        SortKey::CommNoDigit => "CommandNoDigit",
        SortKey::Dso => "Shared Object",
        SortKey::Symbol => "Symbol",
        SortKey::NoIpc | SortKey::Ipc => "IPC   [IPC Coverage]",
        SortKey::Address => "Address",
        SortKey::SymbolOffset => "Symbol Offset",
        SortKey::SymbolSize => "Symbol size",
        SortKey::DsoSize => "DSO size",
        SortKey::Number(key) => key.heading,
        SortKey::Trace => "Trace output",
        SortKey::SourceLine => "Source:Line",
        SortKey::SourceFile => "Source File",
        SortKey::Time => "Time",
        SortKey::Transaction => "Transaction                ",
        SortKey::Cgroup => "Cgroup",
        SortKey::CgroupId => "cgroup id (dev/inode)",
        SortKey::Simd => "Simd   ",
        SortKey::DataType => "Data Type",
        SortKey::DataTypeOffset => "Data Type Offset",
        SortKey::DataTypeLine => "Data Type Cacheline",
        SortKey::Parent => "Parent symbol",
        SortKey::Branch(key) => branch_heading(key),
        SortKey::Access(key) => access_heading(key),
        // Its own name stands there.
        SortKey::Field(_) => "",
    }
}

/// The words above the column of a key.
pub(crate) fn key_heading(key: SortKey) -> &'static str {
    heading(Field::Key(key), false)
}
