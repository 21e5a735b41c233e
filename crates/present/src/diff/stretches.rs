//! `diff -c cycles`: the cells about the stretches of a row's function, a line of the table for each.

use oxperf_analysis::diff::{StretchChange, stretches};
use oxperf_profile::{Profile, SourceId, SymbolId};

use super::Compared;
use crate::text::sanitize;

/// Signs for how great a number is among others, the least first.
const SPARKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Bytes and signs that perf fills the scatter up to.
const SCATTER_BYTES: usize = 16;
const SCATTER_SIGNS: usize = 9;

/// The stretches of a row on each side; none on the baseline.
pub(super) struct Stretches<'a> {
    sides: Vec<Option<OneSide<'a>>>,
    lines: usize,
}

struct OneSide<'a> {
    profile: &'a Profile,
    changes: Vec<StretchChange<'a>>,
}

impl<'a> Stretches<'a> {
    pub(super) fn of(compared: &Compared<'a>, row: usize) -> Stretches<'a> {
        let function = |side: usize| -> Option<(&'a Profile, SymbolId)> {
            let at = &compared.sides[side];
            let row = at.table?.row(compared.table.place(row, side)?)?;
            Some((
                at.profile,
                at.profile.frames.get(row.frame.index())?.symbol?,
            ))
        };
        // What only one side has is compared with itself.
        let first = (0..compared.sides.len()).find_map(function);
        let of_side = |side: usize| {
            let (first, (profile, symbol)) = (first?, function(side)?);
            Some(OneSide {
                profile,
                changes: stretches(first, (profile, symbol)),
            })
        };
        let sides: Vec<Option<OneSide<'a>>> = (0..compared.sides.len())
            .map(|side| of_side(side).filter(|_| side > 0))
            .collect();
        let known = first.map_or(0, |(profile, symbol)| profile.blocks.of(symbol).len());
        let recorded =
            |side: &Option<OneSide<'a>>| side.as_ref().map_or(1, |side| side.changes.len());
        let recorded = sides.iter().skip(1).map(recorded).min().unwrap_or(1);
        Stretches {
            sides,
            lines: known.min(recorded),
        }
    }

    /// Lines that the row takes: as many as all sides have stretches, one where one of them has not the row. None where it
    /// has the row and no stretches.
    pub(super) fn lines(&self) -> usize {
        self.lines
    }

    /// The range of a stretch and how many cycles more it took.
    pub(super) fn range(&self, side: usize, line: usize) -> Option<String> {
        let (side, change) = self.at(side, line)?;
        let text = |[from, to]: [String; 2]| format!("[{from} -> {to}] {:4}", change.cycles);
        Some(text(ends(side.profile, change)?))
    }

    /// The scatter of the changes of single passes.
    pub(super) fn scatter(&self, side: usize, line: usize) -> Option<String> {
        let distances = &self.at(side, line)?.1.distances;
        let scatters = distances.len() > 1 && distances.iter().any(|&distance| distance > 0);
        scatters.then(|| {
            let signs: String = sparks(distances).collect();
            let text = format!(
                "±{:5.1}% {signs}",
                self.at(side, line).map_or(0.0, |at| at.1.scatter())
            );
            let before = " ".repeat(SCATTER_BYTES.saturating_sub(text.len()));
            format!(
                "{before}{text}{}",
                " ".repeat(SCATTER_SIGNS.saturating_sub(distances.len()))
            )
        })
    }

    fn at(&self, side: usize, line: usize) -> Option<(&OneSide<'a>, &StretchChange<'a>)> {
        let side = self.sides.get(side)?.as_ref()?;
        Some((side, side.changes.get(line)?))
    }
}

/// Both ends: source lines where they are known, else distances from the function's beginning.
fn ends(profile: &Profile, change: &StretchChange<'_>) -> Option<[String; 2]> {
    let symbol = profile.symbols.get(change.block.symbol.index())?;
    let line = |id: SourceId| {
        profile
            .sources
            .get(id.index())
            .map(|line| sanitize(line).into_owned())
    };
    if let Some([from, to]) = change.block.lines {
        return Some([line(from)?, line(to)?]);
    }
    let place = |address: u64| {
        format!(
            "{}+{}",
            sanitize(&symbol.name),
            address.wrapping_sub(symbol.start)
        )
    };
    Some([change.block.start.unwrap_or(symbol.start), change.block.end].map(place))
}

fn sparks(numbers: &[u64]) -> impl Iterator<Item = char> {
    let least = numbers.iter().copied().min().unwrap_or(0);
    let range = numbers.iter().copied().max().unwrap_or(0) - least;
    let step = ((range << 8) / (SPARKS.len() as u64 - 1)).max(1);
    numbers.iter().map(move |number| {
        SPARKS[usize::try_from(((number - least) << 8) / step)
            .unwrap_or(0)
            .min(7)]
    })
}
