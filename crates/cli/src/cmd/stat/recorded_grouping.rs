//! What counts are added up by, as recordings number it.

use oxperf_analysis::counts::CountGrouping;
use oxperf_capture::count::StatSettings;
use oxperf_session::CountSettings;

/// The groupings by their numbers: those of perf from 6.9 on, those of 6.5 to 6.8, which knew caches and no clusters, and
/// those of perf before it recorded a cache level.
const NOW: [(u64, Named); 9] = [
    (0, Named::Cpu),
    (1, Named::All),
    (2, Named::Socket),
    (3, Named::Die),
    (4, Named::Cluster),
    (5, Named::Cache),
    (6, Named::Core),
    (7, Named::Thread),
    (9, Named::Node),
];
const WITHOUT_CLUSTERS: [(u64, Named); 8] = [
    (0, Named::Cpu),
    (1, Named::All),
    (2, Named::Socket),
    (3, Named::Die),
    (4, Named::Cache),
    (5, Named::Core),
    (6, Named::Thread),
    (8, Named::Node),
];
const BEFORE: [(u64, Named); 7] = [
    (0, Named::Cpu),
    (1, Named::All),
    (2, Named::Socket),
    (3, Named::Die),
    (4, Named::Core),
    (5, Named::Thread),
    (7, Named::Node),
];

/// The levels of caches that there are, and the number behind them, which stands for the last one.
const LEVELS: std::ops::RangeInclusive<u32> = 1..=4;
const LAST_LEVEL: u64 = 5;

/// A grouping, without the level of its cache.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Cpu,
    All,
    Socket,
    Die,
    Cluster,
    Cache,
    Core,
    Thread,
    Node,
}

impl Named {
    fn grouping(self, level: Option<u32>) -> CountGrouping {
        match self {
            Named::Cpu => CountGrouping::Cpu,
            Named::All => CountGrouping::All,
            Named::Socket => CountGrouping::Socket,
            Named::Die => CountGrouping::Die,
            Named::Cluster => CountGrouping::Cluster,
            Named::Cache => CountGrouping::Cache(level),
            Named::Core => CountGrouping::Core,
            Named::Thread => CountGrouping::Thread,
            Named::Node => CountGrouping::Node,
        }
    }

    fn of(grouping: CountGrouping) -> Named {
        match grouping {
            CountGrouping::Cpu => Named::Cpu,
            CountGrouping::All => Named::All,
            CountGrouping::Socket => Named::Socket,
            CountGrouping::Die => Named::Die,
            CountGrouping::Cluster => Named::Cluster,
            CountGrouping::Cache(_) => Named::Cache,
            CountGrouping::Core => Named::Core,
            CountGrouping::Thread => Named::Thread,
            CountGrouping::Node => Named::Node,
        }
    }
}

/// The grouping that counts were recorded with by a perf of a version; everything is added up where it is not known.
pub(super) fn of(settings: CountSettings, recorder: Option<&str>) -> CountGrouping {
    let numbers = match settings.cache_level {
        Some(_) if recorder.is_some_and(knows_no_clusters) => &WITHOUT_CLUSTERS[..],
        Some(_) => &NOW[..],
        None => &BEFORE[..],
    };
    let number = settings.aggregation;
    let named = numbers.iter().find(|(own, _)| Some(*own) == number);
    let level = settings
        .cache_level
        .and_then(|level| u32::try_from(level).ok());
    let level = level.filter(|level| LEVELS.contains(level));
    named.map_or(CountGrouping::All, |(_, named)| named.grouping(level))
}

/// Returns whether a version is one of perf 6.5 to 6.8.
fn knows_no_clusters(version: &str) -> bool {
    let mut numbers = version.split(|character: char| !character.is_ascii_digit());
    let (major, minor) = (numbers.next(), numbers.next());
    major == Some("6") && matches!(minor, Some("5" | "6" | "7" | "8"))
}

/// The settings of a recording of counts that are added up so.
pub(super) fn settings(grouping: CountGrouping) -> StatSettings {
    let named = Named::of(grouping);
    let number = NOW.iter().find(|(_, own)| *own == named);
    let level = match grouping {
        CountGrouping::Cache(Some(level)) => u64::from(level),
        _ => LAST_LEVEL,
    };
    StatSettings {
        aggregation: number.map_or(0, |(number, _)| *number),
        cache_level: level,
        ..StatSettings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: StatSettings) -> CountGrouping {
        let settings = CountSettings {
            aggregation: Some(settings.aggregation),
            cache_level: Some(settings.cache_level),
            ..CountSettings::default()
        };
        of(settings, Some("7.2.13"))
    }

    #[test]
    fn every_grouping_is_read_as_it_is_written() {
        for grouping in [
            CountGrouping::All,
            CountGrouping::Cpu,
            CountGrouping::Socket,
            CountGrouping::Die,
            CountGrouping::Cluster,
            CountGrouping::Cache(None),
            CountGrouping::Cache(Some(2)),
            CountGrouping::Core,
            CountGrouping::Thread,
            CountGrouping::Node,
        ] {
            assert_eq!(read(settings(grouping)), grouping);
        }
    }

    #[test]
    fn tools_that_knew_caches_and_no_clusters_have_numbers_of_their_own() {
        let with_level = |aggregation| CountSettings {
            aggregation: Some(aggregation),
            cache_level: Some(3),
            ..CountSettings::default()
        };
        let grouping = |aggregation, version| of(with_level(aggregation), Some(version));
        assert_eq!(
            grouping(4, "6.5.0-9-generic"),
            CountGrouping::Cache(Some(3))
        );
        assert_eq!(grouping(5, "6.6.87"), CountGrouping::Core);
        assert_eq!(grouping(6, "6.8.12"), CountGrouping::Thread);
        assert_eq!(grouping(8, "6.7"), CountGrouping::Node);
        assert_eq!(grouping(4, "6.9.1"), CountGrouping::Cluster);
        assert_eq!(grouping(4, "6.60.1"), CountGrouping::Cluster);
        assert_eq!(of(with_level(9), None), CountGrouping::Node);
    }

    #[test]
    fn older_tools_number_groupings_in_another_way() {
        let old = |aggregation| CountSettings {
            aggregation: Some(aggregation),
            ..CountSettings::default()
        };
        assert_eq!(of(old(5), None), CountGrouping::Thread);
        assert_eq!(of(old(4), Some("6.1.187")), CountGrouping::Core);
        assert_eq!(of(old(99), None), CountGrouping::All);
    }
}
