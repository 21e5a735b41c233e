//! Tables in the making: from what was counted to rows in order, with their call graphs.

use std::cmp::Ordering;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::HistOptions;
use super::callgraph::{CallGraphOptions, CallTree};
use super::columns::{Columns, Places};
use super::contexts::Contexts;
use super::count::{Counted, Placed, Scope, Shared};
use super::graphs::{Gathered, may_draw, min_period};
use super::history::Histories;
use super::key::SortKey;
use super::level::{Seen, shown_level};
use super::location::{Location, LocationId};
use super::measure::{Field, Measure, PrivilegeMode};
use super::order::{ByWeight, Chain, Presorted, Ranked, Ranking, Rules};
use super::outline::outline;
use super::rank::ranks;
use super::rows::{GroupIndex, RowData};
use super::table::{Cell, Extra, Row, Table};
use super::task::TaskId;
use oxperf_profile::ChainOrder;
use oxperf_profile::{
    CommId, Detail, DetailId, EventProfile, FrameId, Level, Profile, SampleGroup, ThreadId,
};

/// The events of each table: every event with samples alone, or groups together at their first's place.
pub(crate) fn members(profile: &Profile, options: &HistOptions) -> Vec<Vec<usize>> {
    let group = options.group;
    let sampled = (0..profile.events.len())
        .filter(|&event| options.empty || !profile.events[event].is_empty());
    let leader = |event: usize| {
        let group = profile.events[event].group.as_ref().filter(|_| group);
        group.map_or(event, |group| group.leader)
    };
    let mut tables: Vec<Vec<usize>> = Vec::new();
    for event in sampled {
        match tables.iter_mut().find(|table| {
            table
                .first()
                .is_some_and(|&first| leader(first) == leader(event))
        }) {
            Some(table) => table.push(event),
            None => tables.push(vec![event]),
        }
    }
    tables
}

/// A table whose rows are not in order yet.
pub(crate) struct Draft<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) events: Vec<usize>,
    counted: Vec<Counted>,
    pub(super) options: &'a HistOptions,
    pub(super) scope: Scope,
    pub(super) rows: Vec<DraftRow>,
    cells: Vec<Cell>,
    extras: Vec<Extra>,
}

#[derive(Clone, Copy)]
pub(super) struct DraftRow {
    pub(super) task: TaskId,
    pub(super) location: LocationId,
    /// Which of the table's events saw the row first, and its first sample there.
    member: u32,
    first: GroupIndex,
    thread: ThreadId,
    depth: u32,
    passed_object: bool,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(
        shared: &'a Shared<'a>,
        events: &[usize],
        counted: Vec<Counted>,
        options: &'a HistOptions,
        scope: Scope,
    ) -> Draft<'a> {
        let mut draft = Draft {
            shared,
            events: events.to_vec(),
            counted,
            options,
            scope,
            rows: Vec::new(),
            cells: Vec::new(),
            extras: Vec::new(),
        };
        draft.join_rows();
        if options.extras {
            draft.count_extras();
            draft.count_branches();
        }
        draft
    }

    /// Puts rows of several events that are about the same into one.
    fn join_rows(&mut self) {
        let width = self.events.len();
        if width == 1 {
            return self.take_rows();
        }
        let count = self
            .counted
            .first()
            .map_or(0, |leader| leader.rows.iter().map(Vec::len).sum());
        self.rows.reserve(count);
        self.cells.reserve(count * width);
        let mut known: FxHashMap<(TaskId, LocationId), usize> = FxHashMap::default();
        for member in 0..width {
            for row in std::mem::take(&mut self.counted[member].rows)
                .into_iter()
                .flatten()
            {
                let next = self.rows.len();
                let index = *known.entry((row.task, row.location)).or_insert(next);
                if index == next {
                    self.rows.push(self.draft_row(member, &row));
                    self.cells.resize(self.cells.len() + width, Cell::default());
                }
                self.cells[index * width + member] = self.cell(&row);
            }
        }
    }

    /// The same for one event, whose rows are about different things.
    fn take_rows(&mut self) {
        let Some(counted) = self.counted.first_mut() else {
            return;
        };
        let counted = std::mem::take(&mut counted.rows);
        let ends: Vec<usize> = counted
            .iter()
            .scan(0, |end, part| {
                *end += part.len();
                Some(*end)
            })
            .collect();
        // All cores take rows wherever these stand, and put each in its place.
        let taken = (0..ends.last().copied().unwrap_or(0))
            .into_par_iter()
            .map(|place| {
                let part = ends.partition_point(|end| *end <= place);
                let row = &counted[part][counted[part].len() - (ends[part] - place)];
                (self.draft_row(0, row), self.cell(row))
            });
        (self.rows, self.cells) = taken.unzip();
    }

    fn draft_row(&self, member: usize, row: &RowData) -> DraftRow {
        let thread = self
            .group(member, row.first)
            .map_or(ThreadId(0), |group| group.thread);
        let &RowData {
            task,
            location,
            first,
            passed_object,
            ..
        } = row;
        // Chains count where the leading event has them; its table only borrows rows from the others.
        let depth = if member == 0 { row.depth } else { 0 };
        DraftRow {
            task,
            location,
            member: member as u32,
            first,
            thread,
            depth,
            passed_object,
        }
    }

    fn cell(&self, row: &RowData) -> Cell {
        Cell {
            own: row.own,
            all: if self.scope.children {
                row.all
            } else {
                row.own
            },
        }
    }

    /// Counts what is not counted with the rows, sample group by sample group.
    fn count_extras(&mut self) {
        let width = self.events.len();
        self.extras = vec![Extra::default(); self.cells.len()];
        let places = (0..)
            .zip(&self.rows)
            .map(|(index, row)| ((row.task, row.location), index));
        let places: FxHashMap<(TaskId, LocationId), usize> = places.collect();
        let details = &self.shared.profile.details;
        for member in 0..width {
            for placed in &self.counted[member].groups {
                let Some(group) = self.group(member, placed.group) else {
                    continue;
                };
                let location = self
                    .shared
                    .locations
                    .own(group.counted_at(&self.shared.profile.branches));
                let row = location.and_then(|location| places.get(&(placed.task, location)));
                let Some(extra) = row.and_then(|row| self.extras.get_mut(row * width + member))
                else {
                    continue;
                };
                let frame = self.shared.profile.frames.get(group.frame.index());
                if let Some(mode) = frame.and_then(|frame| mode(frame.level)) {
                    let sum = &mut extra.modes[mode as usize];
                    *sum = sum.wrapping_add(group.period);
                }
                let weights = [Detail::Weight, Detail::InsLat, Detail::RetireLat];
                for (sum, weight) in extra.weights.iter_mut().zip(weights) {
                    let weight = details.value(group.detail, weight).unwrap_or(0);
                    *sum = sum.wrapping_add(weight.wrapping_mul(group.samples));
                }
                if let Some(access) = details.access(group.detail) {
                    extra
                        .by_kind
                        .get_or_insert_default()
                        .count(access.source, group.period);
                }
            }
        }
    }

    /// Counts what the branches in chains say.
    fn count_branches(&mut self) {
        let width = self.events.len();
        for member in 0..width {
            let counted = &self.counted[member];
            let branch_histories =
                Histories::new(self.shared, self.event(member), counted, self.scope);
            for (row, extra) in self
                .rows
                .iter()
                .zip(self.extras.iter_mut().skip(member).step_by(width))
            {
                extra.passed = branch_histories.of_row((row.task, row.location));
            }
        }
    }

    /// Orders the rows and draws their call graphs.
    pub(crate) fn finish(self) -> Table {
        if !self.options.levels.is_empty() {
            return self.finish_outline();
        }
        // What is drawn and shown does not depend on the order, and perf's order takes one core its time.
        let sorted = self.usual_order();
        let order = || sorted.map_or_else(|| self.unusual_order(), Presorted::settle);
        let (order, (trees, rows)) =
            rayon::join(order, || rayon::join(|| self.trees(), || self.made_rows()));
        Table {
            trees: placed(trees, &order),
            grouped: self.is_grouped(),
            events: self.events,
            children: self.scope.children,
            order,
            rows,
            cells: self.cells,
            extras: self.extras,
            outline: Vec::new(),
        }
    }

    fn made_rows(&self) -> Vec<Row> {
        self.rows.par_iter().map(|row| self.row(row)).collect()
    }

    /// The same as an outline: call graphs stand below its leaves.
    fn finish_outline(self) -> Table {
        let entries = outline(&self);
        let leaves = (0u32..).zip(&entries).filter(|(_, entry)| entry.place.leaf);
        let mut trees = self.trees();
        let trees = leaves
            .filter_map(|(place, entry)| Some((place, trees.remove(&entry.row)?)))
            .collect();
        let mut table = Table {
            grouped: self.is_grouped(),
            children: self.scope.children,
            trees,
            ..Table::default()
        };
        table.order = (0..entries.len() as u32).collect();
        for entry in entries {
            table.rows.push(self.row(&self.rows[entry.row as usize]));
            table.cells.extend(entry.cells);
            table.extras.extend(entry.extras);
            table.outline.push(entry.place);
        }
        Table {
            events: self.events,
            ..table
        }
    }

    /// Whether the table has a key: fields of tracepoints are those of its events.
    pub(super) fn has(&self, key: SortKey) -> bool {
        let SortKey::Field(number) = key else {
            return true;
        };
        let field = self.shared.profile.details.fields.get(usize::from(number));
        field.is_some_and(|field| self.events.contains(&field.event))
    }

    fn is_grouped(&self) -> bool {
        self.options.group && self.event(0).group.is_some()
    }

    /// The rows by whatever they are to be in order by.
    fn unusual_order(&self) -> Vec<u32> {
        let (tasks, locations) = (&self.shared.tasks, &self.shared.locations);
        let rows = || self.rows.iter().map(|row| (row.task, row.location));
        let terms = self.options.order_by.iter().map(|field| match field {
            Field::Key(key) => {
                Columns::of_key(*key, &self.options.keys, tasks, locations)
                    .places(rows())
                    .shown
            }
            Field::Measure(measure) => {
                let members = 0..self.events.len() as u32;
                let first = self.options.order_by_event.min(self.events.len() - 1) as u32;
                let members =
                    std::iter::once(first).chain(members.filter(|&member| member != first));
                let members = members.take(if *measure == Measure::Children {
                    1
                } else {
                    usize::MAX
                });
                let members: Vec<u32> = members.collect();
                let rank = |row: u32| members.iter().map(move |&at| !self.rank(row, at, *measure));
                let ranks =
                    ranks((0..self.rows.len() as u32).map(|row| rank(row).collect::<Vec<u64>>()));
                ranks.into_iter().map(u64::from).collect()
            }
        });
        let terms: Vec<Vec<u64>> = terms.collect();
        let found = Columns::new(&self.options.keys, tasks, locations)
            .places(rows())
            .found;
        let Some(callees) = self.callees_in_order() else {
            let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
            order.par_sort_by(|&a, &b| {
                let place = |row: u32| {
                    terms
                        .iter()
                        .chain([&found])
                        .map(move |term| term[row as usize])
                };
                place(a).cmp(place(b))
            });
            return order;
        };
        let (first, rest) = terms.split_at(callees + 1);
        let joined = |terms: &[Vec<u64>]| {
            ranks(
                (0..self.rows.len())
                    .map(|row| terms.iter().map(|term| term[row]).collect::<Vec<u64>>()),
            )
        };
        let (first, rest) = (joined(first), joined(rest));
        let by_weight = ByWeight::new(first.par_iter().map(|&rank| !u64::from(rank)));
        let chain = |row: u32| self.chain(&self.rows[row as usize]);
        let ranked = |(row, &rest): (u32, &u32)| Ranked {
            own: 0,
            shown: rest.into(),
            chain: chain(row),
            row,
        };
        let rows: Vec<Ranked> = (0..).zip(&rest).map(ranked).collect();
        Presorted::new(
            by_weight,
            Rules {
                rows,
                found,
                direction: self.scope.order,
            },
        )
        .settle()
    }

    /// Where rows stand in order by what they called, too: which place of the order says so. Between rows that are equal up
    /// to there the length of their chains decides.
    fn callees_in_order(&self) -> Option<usize> {
        let callees = [Measure::Children, Measure::ChildrenLatency].map(Field::Measure);
        self.options
            .order_by
            .iter()
            .position(|field| callees.contains(field))
            .filter(|_| self.chains_count())
    }

    fn chains_count(&self) -> bool {
        self.scope.children && self.options.call_graph.is_some()
    }

    /// The thread and the length of the longest chain of a row, if chains count.
    fn chain(&self, row: &DraftRow) -> Option<Chain> {
        self.chains_count().then_some((row.thread, row.depth))
    }

    /// Measures that the order goes on with behind the keys tell rows apart that show the same.
    fn put_measures_behind(&self, shown: &mut Vec<u64>) {
        let later = self
            .options
            .order_by
            .iter()
            .skip_while(|field| matches!(field, Field::Measure(_)));
        let later: Vec<Measure> = later
            .filter_map(|field| match field {
                Field::Measure(measure) => Some(*measure),
                Field::Key(_) => None,
            })
            .collect();
        if !later.is_empty() {
            let weights = |row: u32| {
                later
                    .iter()
                    .map(|&at| !self.rank(row, 0, at))
                    .collect::<Vec<u64>>()
            };
            let ranks = ranks(
                (0..)
                    .zip(&*shown)
                    .map(|(row, &shown)| (shown, weights(row))),
            );
            *shown = ranks.into_iter().map(u64::from).collect();
        }
    }

    fn rank(&self, row: u32, member: u32, measure: Measure) -> u64 {
        let index = row as usize * self.events.len() + member as usize;
        let none = Extra::default();
        measure.rank(&self.cells[index], self.extras.get(index).unwrap_or(&none))
    }

    /// The rows in the usual order, as far as all cores can bring them there; `None` if they are to stand otherwise.
    fn usual_order(&self) -> Option<Presorted<ByKeys<'_>>> {
        if !self.options.is_usual_order() {
            return None;
        }
        let weights = self
            .cells
            .par_chunks(self.events.len())
            .map(|cells| cells[0].all.period);
        let (Places { shown, found }, by_weight) =
            rayon::join(|| self.places(), || ByWeight::new(weights));
        let rows = ByKeys { draft: self, shown };
        Some(Presorted::new(
            by_weight,
            Rules {
                rows,
                found,
                direction: self.scope.order,
            },
        ))
    }

    /// The places of the rows by their keys.
    fn places(&self) -> Places {
        let columns = Columns::new(
            &self.options.keys,
            &self.shared.tasks,
            &self.shared.locations,
        );
        let mut places = columns.places(self.rows.iter().map(|row| (row.task, row.location)));
        self.put_measures_behind(&mut places.shown);
        places
    }

    /// The call graphs of the rows that show one, by row.
    fn trees(&self) -> FxHashMap<u32, CallTree> {
        let (Some(options), Some(counted)) = (&self.options.call_graph, self.counted.first())
        else {
            return FxHashMap::default();
        };
        let drawn = self.drawn(options);
        if drawn.is_empty() {
            return FxHashMap::default();
        }
        let event = self.event(0);
        let limit = min_period(options, event);
        let identity = |row: u32| {
            (
                self.rows[row as usize].task,
                self.rows[row as usize].location,
            )
        };
        let wanted = drawn.iter().map(|&row| identity(row));
        let contexts = Contexts::new(self.shared, event, &counted.groups);
        let gathered = Gathered::new(self.shared, event, &contexts, self.scope, wanted);
        let branch_histories = Histories::new(self.shared, event, counted, self.scope);
        let trees = drawn.par_iter().map(|&row| {
            let (task, location) = identity(row);
            let mut tree = gathered.tree(task, location, options, limit);
            branch_histories.note((task, location), &mut tree);
            (row, tree)
        });
        trees.filter(|(_, tree)| !tree.is_empty()).collect()
    }

    /// The rows that can show a call graph.
    fn drawn(&self, options: &CallGraphOptions) -> Vec<u32> {
        let event = self.event(0);
        let limit = min_period(options, event);
        let shown = |&row: &u32| {
            let all = self.leader(row).all.period;
            may_draw(options, all, limit)
                && percent(all, event.period_total) >= self.options.min_percent
        };
        (0..self.rows.len() as u32).filter(shown).collect()
    }

    /// The sample groups of the first event that ran in rows that can show a call graph.
    pub(crate) fn graphed(&self) -> Vec<GroupIndex> {
        let (Some(options), Some(counted)) = (&self.options.call_graph, self.counted.first())
        else {
            return Vec::new();
        };
        let identity = |row: u32| {
            (
                self.rows[row as usize].task,
                self.rows[row as usize].location,
            )
        };
        let drawn: FxHashSet<(TaskId, LocationId)> =
            self.drawn(options).into_iter().map(identity).collect();
        let ran_there = |placed: &&Placed| {
            let group = self.group(0, placed.group);
            let own = group.and_then(|group| self.shared.locations.own(group.frame));
            own.is_some_and(|own| drawn.contains(&(placed.task, own)))
        };
        counted
            .groups
            .iter()
            .filter(ran_there)
            .map(|placed| placed.group)
            .collect()
    }

    fn row(&self, row: &DraftRow) -> Row {
        let location = self.shared.locations.get(row.location);
        let (frame, address) = (location.frame, location.address);
        let Some(group) = self.group(row.member as usize, row.first) else {
            let thread = row.thread;
            return Row {
                thread,
                comm: CommId(0),
                detail: DetailId(0),
                branch: None,
                frame,
                address,
                level: Level::User,
            };
        };
        let branches = &self.shared.profile.branches;
        let (frame, level) = match group.branch {
            Some(_) => {
                let own = self.shared.profile.frames.get(group.frame.index());
                (
                    group.counted_at(branches),
                    own.map_or(Level::User, |own| own.level),
                )
            }
            None => (frame, self.level(row, group, frame)),
        };
        Row {
            thread: row.thread,
            comm: group.comm,
            detail: group.detail,
            branch: group.branch,
            frame,
            address: self.first_address(row, group, location),
            level,
        }
    }

    /// The address at which the first sample of a row was in it. As in perf it is the recorded one where the sample was
    /// called from there, and else that in the object.
    fn first_address(&self, row: &DraftRow, group: &SampleGroup, location: Location) -> u64 {
        let profile = self.shared.profile;
        let frame = |id: FrameId| profile.frames.get(id.index());
        if !frame(location.frame).is_some_and(|frame| frame.alone && frame.symbol.is_some()) {
            return location.address;
        }
        let own = group.counted_at(&profile.branches);
        if self.shared.locations.own(own) == Some(row.location) {
            return frame(own).map_or(location.address, |frame| frame.dso_address);
        }
        let mut callers = profile.chains.path_to_root(group.chain);
        let is_row = |id: &FrameId| self.shared.locations.called(*id) == Some(row.location);
        let met = match self.scope.order {
            ChainOrder::Callee => callers.find(is_row),
            ChainOrder::Caller => callers.filter(is_row).last(),
        };
        met.and_then(frame)
            .map_or(location.address, |frame| frame.address)
    }

    fn level(&self, row: &DraftRow, group: &SampleGroup, frame: FrameId) -> Level {
        let ran_there = self.shared.locations.own(group.frame) == Some(row.location);
        let is_row = |id| self.shared.locations.called(id) == Some(row.location);
        let seen = Seen {
            group,
            ran_there,
            passed_object: row.passed_object,
        };
        shown_level(self.shared.profile, &seen, frame, self.scope.order, is_row)
    }

    fn event(&self, member: usize) -> &'a EventProfile {
        &self.shared.profile.events[self.events[member]]
    }

    fn group(&self, member: usize, group: GroupIndex) -> Option<&'a SampleGroup> {
        self.event(member).groups.get(group as usize)
    }

    fn leader(&self, row: u32) -> &Cell {
        &self.cells[row as usize * self.events.len()]
    }

    pub(super) fn cells(&self, row: u32) -> &[Cell] {
        let width = self.events.len();
        &self.cells[row as usize * width..(row as usize + 1) * width]
    }

    pub(super) fn extras(&self, row: u32) -> &[Extra] {
        let width = self.events.len();
        self.extras
            .get(row as usize * width..(row as usize + 1) * width)
            .unwrap_or(&[])
    }
}

/// Rows in the usual order.
struct ByKeys<'d> {
    draft: &'d Draft<'d>,
    /// The places of their keys as shown.
    shown: Vec<u64>,
}

impl Ranking for ByKeys<'_> {
    fn look(&self, row: u32) -> Ranked {
        let draft = self.draft;
        let (own, shown) = (draft.leader(row).own.period, self.shown[row as usize]);
        Ranked {
            own,
            shown,
            chain: draft.chain(&draft.rows[row as usize]),
            row,
        }
    }

    fn other_weights(&self, a: u32, b: u32) -> Ordering {
        let own = |row| {
            self.draft
                .cells(row)
                .iter()
                .skip(1)
                .map(|cell| cell.own.period)
        };
        own(b).cmp(own(a))
    }
}

/// The graphs of rows with their places. The rows that show one are few, and mostly the first.
fn placed(mut trees: FxHashMap<u32, CallTree>, order: &[u32]) -> Vec<(u32, CallTree)> {
    let mut placed = Vec::with_capacity(trees.len());
    for (place, row) in (0..).zip(order) {
        if trees.is_empty() {
            break;
        }
        placed.extend(trees.remove(row).map(|tree| (place, tree)));
    }
    placed
}

/// The mode that a level counts for.
fn mode(level: Level) -> Option<PrivilegeMode> {
    match level {
        Level::Kernel => Some(PrivilegeMode::System),
        Level::User => Some(PrivilegeMode::User),
        Level::GuestKernel => Some(PrivilegeMode::GuestSystem),
        Level::GuestUser => Some(PrivilegeMode::GuestUser),
        Level::Hypervisor => None,
    }
}

/// A part of all samples in hundredths; 0 of nothing.
pub(crate) fn percent(part: u64, all: u64) -> f64 {
    if all == 0 {
        0.0
    } else {
        part as f64 * 100.0 / all as f64
    }
}
