//! The commands, an [`Entry`] each: a new command is a file with one, and a line of [`ALL`].

mod annotate;
mod archive;
mod buildid_cache;
mod buildid_list;
mod bundle;
mod bundle_keeper;
mod check;
mod complete;
mod completions;
mod config;
mod control;
mod data;
mod diff;
mod dlfilter_helper;
mod dump;
mod evlist;
mod export;
mod help;
mod kallsyms;
pub(crate) mod kvm;
mod list;
mod manual;
mod profile;
mod query;
mod ranges;
mod record;
mod report;
mod script;
mod stat;
mod symbols;
mod test;
mod version;

pub(crate) use crate::arguments::Entry;

/// All commands, in the order of the help.
pub(crate) static ALL: &[Entry] = &[
    profile::ENTRY,
    record::ENTRY,
    stat::ENTRY,
    kvm::ENTRY,
    report::ENTRY,
    diff::ENTRY,
    annotate::ENTRY,
    script::ENTRY,
    export::ENTRY,
    query::ENTRY,
    evlist::ENTRY,
    list::ENTRY,
    buildid_cache::ENTRY,
    buildid_list::ENTRY,
    archive::ENTRY,
    bundle::ENTRY,
    symbols::ENTRY,
    test::ENTRY,
    data::ENTRY,
    completions::ENTRY,
    config::ENTRY,
    kallsyms::ENTRY,
    check::ENTRY,
    version::ENTRY,
    help::ENTRY,
    bundle_keeper::ENTRY,
    dlfilter_helper::ENTRY,
    manual::ENTRY,
    complete::ENTRY,
];
