//! Mapfiles: the first line is the identification of a CPU, the rest a mapfile. Nothing may panic, and a row is chosen
//! once for each type.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oxperf_pmu_events::{Mapfile, is_identifier};

fuzz_target!(|text: &str| {
    let (cpu_id, map) = text.split_once('\n').unwrap_or((text, ""));
    let (map, refused) = Mapfile::parse(map);
    let rows = map.rows_of(cpu_id);
    assert!(rows.len() <= map.rows().len());
    for (index, row) in rows.iter().enumerate() {
        let same = |other: &&oxperf_pmu_events::MapRow<'_>| {
            (other.kind, other.more) == (row.kind, row.more)
        };
        assert_eq!(rows[index..].iter().filter(same).count(), 1);
        assert!(!row.path.contains(',') && !refused.contains(&row.line));
        let _ = is_identifier(row.cpu, cpu_id);
    }
});
