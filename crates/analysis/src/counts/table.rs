//! The counts of all events at all their sites, and the rows that they add up to.

use oxperf_abi::{CountReading, Cpu};
use rustc_hash::FxHashMap;

use super::grouping::{CountGroup, CountGrouping, CpuPlaces};
use super::statistics::Statistics;

/// A place where an event is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CountSite {
    /// The CPU; `None` where a task is followed over all.
    pub cpu: Option<Cpu>,
    /// The index of the thread in the list of the target's threads.
    pub thread: usize,
}

/// An event that is counted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CountEvent {
    /// Its name.
    pub name: String,
    /// The PMU that counts it.
    pub pmu: String,
    /// The unit of its values.
    pub unit: String,
    /// The factor from a count to that unit.
    pub scale: f64,
    /// The control group that it is counted in.
    pub cgroup: Option<String>,
    /// Nothing here counts it.
    pub is_supported: bool,
    /// It belongs to a PMU of the system, of which there may be several that count one thing.
    pub of_system: bool,
    /// It is known by what its PMU calls it, so that its PMU stands in its name where PMUs are shown apart.
    pub belongs_to_pmu: bool,
    /// The sites where it is counted.
    pub sites: Vec<CountSite>,
    /// What is shown of it.
    pub display: EventDisplay,
    /// What becomes of the counts of a core where CPUs are shown apart.
    pub core_counts: CoreCounts,
}

/// What becomes of the counts of the CPUs of one core where CPUs are shown apart ([`CountGrouping::Cpu`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CoreCounts {
    /// Each CPU has its own.
    #[default]
    Apart,
    /// They are added up to a row for the core.
    Summed,
    /// They are added up, and the sum stands on each CPU.
    SummedOnEachCpu,
}

/// What is shown of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EventDisplay {
    /// Its count, with the metrics beside it.
    #[default]
    Count,
    /// The same, where there are such metrics; nothing else.
    WithMetrics,
    /// The metrics alone.
    MetricsAlone,
    /// Nothing.
    Nothing,
}

/// A sum of counts.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct CountTotal {
    /// The scaled count, or the mean over all runs.
    pub value: f64,
    /// Nanoseconds enabled, all counters together.
    pub enabled: u64,
    /// Nanoseconds counting, all counters together.
    pub running: u64,
    /// The number of counters that it is the sum of.
    pub counters: usize,
    /// The standard error over all runs, in percent of the mean.
    pub relative_error: f64,
}

impl CountTotal {
    /// Returns whether anything was counted.
    pub fn is_counted(&self) -> bool {
        self.enabled > 0 && self.running > 0
    }
}

/// One row: an event in a group.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CountRow {
    /// The index of the event.
    pub event: usize,
    /// The group.
    pub group: CountGroup,
    /// The sum.
    pub total: CountTotal,
}

/// The readings of all counters, as differences to the readings before them where a run is read more than once.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CountTable {
    events: Vec<CountEvent>,
    /// For each event, what each of its sites counted.
    readings: Vec<Vec<CountReading>>,
    /// For each event, the sums of all runs.
    runs: Vec<Statistics>,
    /// For each event, the first of those that count the same thing on other PMUs of the system.
    alike: Vec<usize>,
}

impl CountTable {
    /// A table of events that counted nothing yet.
    pub fn new(events: Vec<CountEvent>) -> CountTable {
        let blank = |event: &CountEvent| vec![CountReading::default(); event.sites.len()];
        CountTable {
            readings: events.iter().map(blank).collect(),
            runs: vec![Statistics::default(); events.len()],
            alike: first_alike(&events),
            events,
        }
    }

    /// The events.
    pub fn events(&self) -> &[CountEvent] {
        &self.events
    }

    /// Takes what the counters say; a counter that could not be read says nothing. Counts are scaled up for the time in
    /// which they did not run, if `scales`.
    pub fn set(&mut self, readings: &[Vec<Option<CountReading>>], scales: bool) {
        for (own, read) in self.readings.iter_mut().zip(readings) {
            for (own, read) in own.iter_mut().zip(read) {
                let read = read.unwrap_or_default();
                *own = if scales { read.scaled() } else { read };
            }
        }
    }

    /// Takes the sums of all events as those of one more run.
    pub fn finish_run(&mut self) {
        for (runs, readings) in self.runs.iter_mut().zip(&self.readings) {
            let sum: u64 = readings
                .iter()
                .fold(0, |sum, own| sum.wrapping_add(own.value));
            runs.add(sum as f64);
        }
    }

    /// The sum of each event in the last run.
    pub fn last_run(&self) -> Vec<CountRow> {
        self.sums(CountGrouping::All, &CpuPlaces::default(), false)
    }

    /// The rows of all events by `grouping`: for each event all groups, or for each place all events. Events that several
    /// PMUs of the system count are one, if `merges`.
    pub fn rows(&self, grouping: CountGrouping, places: &CpuPlaces, merges: bool) -> Vec<CountRow> {
        let mut rows = self.sums(grouping, places, merges);
        self.take_means(grouping, &mut rows);
        if grouping.is_by_place() {
            rows.sort_by_key(|row| row.group);
        }
        rows
    }

    fn sums(&self, grouping: CountGrouping, places: &CpuPlaces, merges: bool) -> Vec<CountRow> {
        let are_apart = self.alike.iter().zip(0..).all(|(first, own)| *first == own);
        let mut sums = match grouping == CountGrouping::All && (are_apart || !merges) {
            true => Sums::in_order(),
            false => Sums::of_events(self.events.len()),
        };
        for (index, event) in self.events.iter().enumerate() {
            let shown = if merges { self.alike[index] } else { index };
            if grouping == CountGrouping::Cpu && event.core_counts != CoreCounts::Apart {
                self.add_core_sums(&mut sums, index, places);
                continue;
            }
            sums.needs_all = !matches!(grouping, CountGrouping::All | CountGrouping::Thread);
            for (site, reading) in event.sites.iter().zip(&self.readings[index]) {
                let group = CountGroup::of(grouping, site.cpu, site.thread, places);
                sums.add(shown, group, *reading);
            }
        }
        sums.into_rows()
    }

    /// Adds the sums of an event by core. A CPU that counted nothing adds nothing, its time included: what the others of its
    /// core counted is shown.
    fn add_core_sums(&self, sums: &mut Sums, index: usize, places: &CpuPlaces) {
        let event = &self.events[index];
        let of_core =
            |site: &CountSite| CountGroup::of(CountGrouping::Core, site.cpu, site.thread, places);
        let mut cores = Sums::of_events(1);
        for (site, reading) in event.sites.iter().zip(&self.readings[index]) {
            let reading = match reading.is_counted() {
                true => *reading,
                false => CountReading::default(),
            };
            cores.add(index, of_core(site), reading);
        }
        sums.needs_all = false;
        if event.core_counts == CoreCounts::Summed {
            for core in cores.sums {
                sums.add(index, core.group, core.reading);
            }
            return;
        }
        for site in &event.sites {
            let sum = cores.reading(index, of_core(site)).unwrap_or_default();
            sums.add(index, CountGroup::Cpu(site.cpu), sum);
        }
    }

    /// Returns whether several PMUs of the system count the event at `index`.
    pub fn has_alike(&self, index: usize) -> bool {
        let first = self.alike[index];
        let mut others = self.alike.iter().enumerate();
        others.any(|(other, own_first)| other != index && *own_first == first)
    }

    /// Several runs have means where everything is added up; elsewhere the counts are those of the last run.
    fn take_means(&self, grouping: CountGrouping, rows: &mut [CountRow]) {
        if grouping != CountGrouping::All {
            return;
        }
        for row in rows {
            let runs = &self.runs[row.event];
            if runs.number() > 1 {
                // Counts are whole numbers, and so is their mean.
                row.total.value = runs.mean().trunc();
                row.total.relative_error = percent(runs.standard_error(), row.total.value);
            }
        }
    }
}

/// `part` in percent of `whole`; 0 of nothing.
fn percent(part: f64, whole: f64) -> f64 {
    if whole == 0.0 {
        0.0
    } else {
        100.0 * part / whole
    }
}

/// What events have in common that may count one thing on several PMUs: name, unit and control group.
type Likeness<'a> = (&'a str, &'a str, Option<&'a str>);

/// Events that count one thing on a PMU each.
#[derive(Default)]
struct Alike<'a> {
    first: usize,
    pmus: Vec<&'a str>,
}

/// For each event the first of its run of events that count the same thing, on a PMU each.
fn first_alike(events: &[CountEvent]) -> Vec<usize> {
    let mut runs: FxHashMap<Likeness<'_>, Alike<'_>> = FxHashMap::default();
    let mut firsts = Vec::with_capacity(events.len());
    for (index, event) in events.iter().enumerate() {
        if !event.of_system {
            firsts.push(index);
            continue;
        }
        let likeness = (&*event.name, &*event.unit, event.cgroup.as_deref());
        let run = runs.entry(likeness).or_default();
        if run.pmus.is_empty() || run.pmus.contains(&&*event.pmu) {
            run.first = index;
            run.pmus.clear();
        }
        run.pmus.push(&event.pmu);
        firsts.push(run.first);
    }
    firsts
}

/// Sums of readings, in the order in which their events and groups came.
struct Sums {
    /// A group of which one counter did not count has no sum.
    needs_all: bool,
    sums: Vec<Sum>,
    /// The places of the sums; none where each reading belongs to the last sum or begins one.
    places: Option<FxHashMap<(usize, CountGroup), usize>>,
}

struct Sum {
    event: usize,
    group: CountGroup,
    reading: CountReading,
    counters: usize,
    is_void: bool,
}

impl Sums {
    /// No sums yet, of so many events.
    fn of_events(events: usize) -> Sums {
        let mut places = FxHashMap::default();
        places.reserve(events);
        Sums {
            places: Some(places),
            ..Sums::in_order()
        }
    }

    /// No sums yet, each of which is complete before the next one begins.
    fn in_order() -> Sums {
        Sums {
            needs_all: false,
            sums: Vec::new(),
            places: None,
        }
    }

    fn reading(&self, event: usize, group: CountGroup) -> Option<CountReading> {
        let place = self.places.as_ref()?.get(&(event, group))?;
        self.sums.get(*place).map(|sum| sum.reading)
    }

    fn add(&mut self, event: usize, group: CountGroup, reading: CountReading) {
        let is_void = self.needs_all && !reading.is_counted();
        let next = self.sums.len();
        let is_last = |last: &Sum| (last.event, last.group) == (event, group);
        let place = match self.sums.last() {
            // Where all sites of an event are one group, this is the way of all but the first.
            Some(last) if is_last(last) => next - 1,
            _ => match &mut self.places {
                Some(places) => *places.entry((event, group)).or_insert(next),
                None => next,
            },
        };
        match self.sums.get_mut(place) {
            Some(sum) => {
                sum.reading = sum.reading.plus(reading);
                sum.counters += 1;
                sum.is_void |= is_void;
            }
            None => self.sums.push(Sum {
                event,
                group,
                reading,
                counters: 1,
                is_void,
            }),
        }
    }

    fn into_rows(self) -> Vec<CountRow> {
        let row = |sum: Sum| {
            let reading = if sum.is_void {
                CountReading::default()
            } else {
                sum.reading
            };
            CountRow {
                event: sum.event,
                group: sum.group,
                total: CountTotal {
                    value: reading.value as f64,
                    enabled: reading.enabled,
                    running: reading.running,
                    counters: sum.counters,
                    relative_error: 0.0,
                },
            }
        };
        self.sums.into_iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::grouping::CpuPlace;
    use super::*;

    fn event(name: &str, cpus: &[u32]) -> CountEvent {
        let site = |&cpu: &u32| CountSite {
            cpu: Some(Cpu(cpu)),
            thread: 0,
        };
        CountEvent {
            name: name.to_owned(),
            sites: cpus.iter().map(site).collect(),
            ..CountEvent::default()
        }
    }

    fn reading(value: u64, enabled: u64, running: u64) -> Option<CountReading> {
        Some(CountReading {
            value,
            enabled,
            running,
        })
    }

    /// Two sockets with two CPUs each.
    fn places() -> CpuPlaces {
        let place = |cpu: u32| {
            let place = CpuPlace {
                socket: Some(cpu / 2),
                ..CpuPlace::default()
            };
            (Cpu(cpu), place)
        };
        CpuPlaces::new((0..4).map(place).collect())
    }

    fn shown(rows: &[CountRow]) -> Vec<(usize, f64, usize)> {
        let cells = |row: &CountRow| (row.event, row.total.value, row.total.counters);
        rows.iter().map(cells).collect()
    }

    #[test]
    fn each_counter_is_scaled_and_then_added_up() {
        let mut table = CountTable::new(vec![event("a", &[0, 1, 2, 3]), event("b", &[0, 2])]);
        let first = vec![reading(10, 4, 2), reading(1, 4, 4), None, reading(5, 4, 0)];
        table.set(&[first, vec![reading(7, 1, 1), reading(8, 1, 1)]], true);
        let all = table.rows(CountGrouping::All, &places(), true);
        assert_eq!(shown(&all), [(0, 21.0, 4), (1, 15.0, 2)]);
        assert_eq!((all[0].total.enabled, all[0].total.running), (12, 6));
        let sockets = table.rows(CountGrouping::Socket, &places(), true);
        // One CPU of the second socket counted nothing.
        let expected = [(0, 21.0, 2), (1, 7.0, 1), (0, 0.0, 2), (1, 8.0, 1)];
        assert_eq!(shown(&sockets), expected);
    }

    #[test]
    fn counts_of_a_core_are_added_up_where_cpus_stand_apart() {
        let core = |cpu: u32| CpuPlace {
            core: Some(cpu % 2),
            ..CpuPlace::default()
        };
        let places = CpuPlaces::new((0..4).map(|cpu| (Cpu(cpu), core(cpu))).collect());
        let of_cores = |core_counts| CountEvent {
            core_counts,
            ..event("a", &[0, 1, 2, 3])
        };
        let counted = vec![reading(1, 4, 4), reading(2, 4, 4), None, reading(8, 4, 4)];
        let rows = |core_counts, grouping| {
            let mut table = CountTable::new(vec![of_cores(core_counts)]);
            table.set(std::slice::from_ref(&counted), true);
            let rows = table.rows(grouping, &places, false);
            rows.iter().map(|row| row.total.value).collect::<Vec<f64>>()
        };
        let apart = rows(CoreCounts::Apart, CountGrouping::Cpu);
        assert_eq!(apart, [1.0, 2.0, 0.0, 8.0]);
        let summed = rows(CoreCounts::Summed, CountGrouping::Cpu);
        assert_eq!(summed, [1.0, 10.0]);
        let on_cpus = rows(CoreCounts::SummedOnEachCpu, CountGrouping::Cpu);
        assert_eq!(on_cpus, [1.0, 10.0, 1.0, 10.0]);
        assert_eq!(rows(CoreCounts::Summed, CountGrouping::All), [11.0]);
    }

    #[test]
    fn one_event_of_several_units_is_one_row() {
        let of_system = |name, pmu: &str| CountEvent {
            of_system: true,
            pmu: pmu.to_owned(),
            ..event(name, &[0])
        };
        let mut table = CountTable::new(vec![
            of_system("a", "imc_0"),
            of_system("b", "imc_0"),
            of_system("a", "imc_1"),
        ]);
        assert!(table.has_alike(2) && !table.has_alike(1));
        table.set(
            &[
                vec![reading(1, 1, 1)],
                vec![reading(2, 1, 1)],
                vec![reading(4, 1, 1)],
            ],
            true,
        );
        let merged = table.rows(CountGrouping::All, &places(), true);
        assert_eq!(shown(&merged), [(0, 5.0, 2), (1, 2.0, 1)]);
        let apart = table.rows(CountGrouping::All, &places(), false);
        assert_eq!(shown(&apart), [(0, 1.0, 1), (1, 2.0, 1), (2, 4.0, 1)]);
    }

    #[test]
    fn repeated_runs_show_their_mean() {
        let mut table = CountTable::new(vec![event("a", &[0])]);
        for value in [100, 107, 114, 121] {
            table.set(&[vec![reading(value, 1, 1)]], true);
            table.finish_run();
        }
        let rows = table.rows(CountGrouping::All, &places(), true);
        assert_eq!(rows[0].total.value, 110.0);
        assert_eq!(format!("{:.2}", rows[0].total.relative_error), "4.11");
    }
}
