//! Words for what a recording lost and what is broken in it: warnings, and sentences for pages.

use oxperf_data::DamageList;
use oxperf_present::text::sanitize;
use oxperf_profile::Profile;
use oxperf_resolve::ChainLosses;
use oxperf_session::{AuxLosses, Diagnostics, JitTrouble};

use crate::output::print_error;

/// A sentence for each kind of loss.
pub(crate) fn losses(profile: &Profile, found: &Diagnostics) -> Vec<String> {
    // A sample that found its ring full is among the ring's lost records, too.
    let lost_samples: u64 = profile.events.iter().map(|event| event.lost).sum();
    let lost_samples = lost_samples.saturating_sub(found.lost_records);
    let counts = [
        (
            found.lost_records,
            "records were lost because a ring was full: try larger rings (-m 4M) or a lower rate (-F 999)",
        ),
        (
            lost_samples,
            "samples were lost in the kernel: try a lower rate (-F 999)",
        ),
        (
            found.aux.total(),
            "pieces of an instruction trace are not whole: try larger rings for it (-m ,16M)",
        ),
        (
            found.trace_errors,
            "errors of decoding an instruction trace",
        ),
        (found.undecodable, "records could not be decoded"),
        (
            found.damage.count(),
            "stretches of the file could not be read",
        ),
    ];
    let present = counts.iter().filter(|(count, _)| *count > 0);
    let counted = present.map(|(count, what)| format!("{count} {what}"));
    counted.chain(chain_losses(&profile.chain_losses)).collect()
}

/// Warns of damage, a line each.
pub(crate) fn report_damage(damage: &DamageList) {
    for line in damage.to_string().lines() {
        print_error(&format!("Warning: {line}"));
    }
}

/// Warns of losses and broken records, each kind once.
pub(crate) fn report_trouble(found: &Diagnostics) {
    report_damage(&found.damage);
    if found.lost_chunks > 0 {
        let (records, chunks) = (found.records, found.lost_chunks);
        print_error(&format!(
            "Warning:\nProcessed {records} events and lost {chunks} chunks!\n\nCheck IO/CPU overload!\n"
        ));
    }
    report_lost_samples(found);
    report_lost_aux(&found.aux);
    for JitTrouble { path, what, more } in &found.jit_trouble {
        let more = if *more > 0 {
            format!(" (as {more} more such files)")
        } else {
            String::new()
        };
        print_error(&format!("Warning:\n{}: {what}{more}", sanitize(path)));
    }
    for record in &found.undecodable_listed {
        print_error(&format!("Warning: {record}"));
    }
    let counts = [
        (found.undecodable, "records could not be decoded"),
        (
            found.unknown_ids,
            "samples with id not present in the header",
        ),
        (
            found.unknown_records,
            "records of unknown kinds were passed over",
        ),
        (found.out_of_order, "out of order events recorded."),
        (found.trace_errors, "instruction trace errors"),
    ];
    for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
        print_error(&format!("Warning:\n{count} {what}"));
    }
}

/// Warns of samples that the kernel did not take, if their share is large.
fn report_lost_samples(found: &Diagnostics) {
    let all = found.samples + found.lost_samples;
    let share = found.lost_samples as f64 / all.max(1) as f64;
    if share > 0.05 {
        print_error(&format!(
            "Warning:\nProcessed {all} samples and lost {:3.2}%!\n",
            100.0 * share
        ));
    }
}

/// Warns of data that hardware wrote, such as an instruction trace, and that is not whole.
fn report_lost_aux(aux: &AuxLosses) {
    let of = format!("times out of {}!\n", aux.records);
    let counts = [
        (aux.lost, "AUX data lost", of.clone()),
        (
            aux.gaps,
            "AUX data had gaps in it",
            format!("{of}\nAre you running a KVM guest in the background?\n"),
        ),
        (aux.collisions, "AUX data detected collision ", of),
    ];
    for (count, what, rest) in counts.iter().filter(|(count, ..)| *count > 0) {
        print_error(&format!("Warning:\n{what} {count} {rest}"));
    }
}

/// Warns of call chains that are cut, each reason once. Those with unknown markers are named on pages only: as in perf,
/// they do no harm but to be missing.
pub(crate) fn report_chains(losses: &ChainLosses) {
    cut_chains(losses).for_each(|line| print_error(&format!("Warning:\n{line}")));
}

/// A sentence for each reason for which call chains are left out or cut.
pub(crate) fn chain_losses(losses: &ChainLosses) -> Vec<String> {
    let faulty = (losses.faulty > 0).then(|| {
        format!(
            "{} call chains hold unknown markers and were left out",
            losses.faulty
        )
    });
    faulty.into_iter().chain(cut_chains(losses)).collect()
}

fn cut_chains(losses: &ChainLosses) -> impl Iterator<Item = String> {
    let all = losses.ends.total();
    losses
        .ends
        .cut()
        .map(move |(end, count)| match end.advice() {
            Some(advice) => format!("{count} of {all} stacks are cut: {end} ({advice})"),
            None => format!("{count} of {all} stacks are cut: {end}"),
        })
}
