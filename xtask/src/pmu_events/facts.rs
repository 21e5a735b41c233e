//! The facts: a mapfile, a file of events for each model, and a list of encodings to be corrected.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use oxperf_pmu_events::Mapfile;
use oxperf_pmu_events::packed::{PackedEvent, PackedModel};

/// What a column says that the source does not.
const UNKNOWN: &str = "-";

/// Full terms by path, name and PMU of encodings that lose bits in perf.
type Corrections = HashMap<[String; 3], String>;

/// The mapfile and the models that it names, in order of their paths.
pub(super) fn read(folder: &Path) -> Result<(String, Vec<PackedModel>)> {
    let mapfile = read_text(&folder.join("mapfile.csv"))?;
    let corrections = read_corrections(&folder.join("corrections.tsv"))?;
    let (rows, refused) = Mapfile::parse(&mapfile);
    if !refused.is_empty() {
        bail!("mapfile.csv: lines {refused:?} are no rows");
    }
    let paths: BTreeSet<&str> = rows.rows().iter().map(|row| row.path).collect();
    let models = paths.into_iter().map(|path| {
        let text = read_text(&folder.join(path))?;
        let events = events(path, &text, &corrections).with_context(|| path.to_owned())?;
        Ok(PackedModel {
            path: path.to_owned(),
            events,
        })
    });
    let models = models.collect::<Result<_>>()?;
    Ok((mapfile, models))
}

fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// Lines `path name pmu terms_as_perf terms_full reason`; none without the file.
fn read_corrections(path: &Path) -> Result<Corrections> {
    if !path.exists() {
        return Ok(Corrections::new());
    }
    let text = read_text(path)?;
    let rows = text.lines().skip(1).map(|line| {
        let [path, name, pmu, _, full, _] = fields(line)?;
        Ok(([path, name, pmu].map(str::to_owned), in_terms_of(pmu, full)))
    });
    rows.collect()
}

/// Full terms as the PMU has formats for them: what is published as an extension of the umask is a mask of its own there.
fn in_terms_of(pmu: &str, full: &str) -> String {
    match pmu {
        "uncore_iio" => full.replace("umask=0x7000000", "fc_mask=7"),
        _ => full.to_owned(),
    }
}

/// Lines `name pmu terms pebs counters deprecated topic`.
fn events(path: &str, text: &str, corrections: &Corrections) -> Result<Vec<PackedEvent>> {
    text.lines()
        .skip(1)
        .map(|line| event(path, line, corrections))
        .collect()
}

fn event(path: &str, line: &str, corrections: &Corrections) -> Result<PackedEvent> {
    let [name, pmu, terms, pebs, counters, deprecated, topic] = fields(line)?;
    let key = [path, name, pmu].map(str::to_owned);
    let precise = known(pebs).map(str::parse).transpose();
    Ok(PackedEvent {
        name: name.to_owned(),
        pmu: pmu.to_owned(),
        terms: corrections
            .get(&key)
            .map_or(terms, String::as_str)
            .to_owned(),
        topic: topic.to_owned(),
        deprecated: deprecated == "1",
        // The published files say so of every uncore event; the facts leave it out.
        per_package: pmu.starts_with("uncore_"),
        counters: known(counters).map(str::to_owned),
        precise: precise.with_context(|| line.to_owned())?,
    })
}

fn known(text: &str) -> Option<&str> {
    (text != UNKNOWN).then_some(text)
}

fn fields<const N: usize>(line: &str) -> Result<[&str; N]> {
    let fields: Vec<&str> = line.split('\t').collect();
    let found = fields.len();
    <[&str; N]>::try_from(fields)
        .map_err(|_| anyhow::anyhow!("{found} fields instead of {N}: {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_pmu_events::packed;

    const MAPFILE: &str = "CPUID,Version,Path,Type\nx-6-1,v1,a.tsv,core\nx-6-1,v1,a.tsv,uncore\n";
    const EVENTS: &str = "\
name\tpmu\tterms\tpebs\tcounters\tdeprecated\ttopic
one.a\tcpu\tevent=1\t2\t0,1\t1\tcache
two\tuncore_cha\tevent=2\t-\t-\t0\tuncore cache
";
    const CORRECTIONS: &str = "\
path\tname\tpmu\tterms_as_perf\tterms_full\treason
a.tsv\ttwo\tuncore_cha\tevent=2\tevent=0x102\textsel
";

    #[test]
    fn facts_become_packed_tables() {
        let folder = std::env::temp_dir().join(format!("oxperf-facts-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("mapfile.csv"), MAPFILE).unwrap();
        fs::write(folder.join("a.tsv"), EVENTS).unwrap();
        fs::write(folder.join("corrections.tsv"), CORRECTIONS).unwrap();
        let (mapfile, models) = read(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();

        let events = &models[0].events;
        assert_eq!(
            (mapfile.as_str(), models.len(), events.len()),
            (MAPFILE, 1, 2)
        );
        assert_eq!(
            (events[0].precise, events[0].counters.as_deref()),
            (Some(2), Some("0,1"))
        );
        assert!(events[0].deprecated && !events[0].per_package);
        assert_eq!(
            (events[1].terms.as_str(), events[1].precise),
            ("event=0x102", None)
        );
        assert!(events[1].per_package && events[1].counters.is_none());

        let bytes = packed::write(&mapfile, &models).unwrap();
        let tables = packed::PackedTables::read(&bytes).unwrap();
        assert_eq!(tables.events(&["a.tsv"]).unwrap(), *events);
    }

    #[test]
    fn a_mask_is_named_as_the_pmu_names_it() {
        let terms = in_terms_of("uncore_iio", "event=0x8f,umask=0x7000000");
        assert_eq!(terms, "event=0x8f,fc_mask=7");
        assert_eq!(
            in_terms_of("uncore_cha", "umask=0x7000000"),
            "umask=0x7000000"
        );
    }

    #[test]
    fn lines_of_another_form_are_refused() {
        assert!(events("a", "title\none\tcpu\n", &Corrections::new()).is_err());
    }
}
