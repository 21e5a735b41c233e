//! What is said of an event text that cannot be read, in a form that two programs have in common.

/// The beginning of a finding.
const FINDING: &str = "event syntax error: ";
/// The beginning of the list of terms, and what stands between those of a PMU and those of all events.
const TERMS: &str = "valid terms: ";
const OF_ALL: &str = ",config,";

/// The text with each finding once, of a list of terms those of the PMU alone, which stand in the order of a folder.
pub(super) fn said_once(text: &str) -> String {
    if !text.contains(FINDING) {
        return text.to_owned();
    }
    let mut said: Vec<String> = Vec::new();
    for finding in text.split(FINDING) {
        let lines = finding.lines().filter(|line| !line.trim().is_empty());
        let finding: String = lines.map(|line| of_pmu(line) + "\n").collect();
        let closing = said.iter().position(|other| finding.starts_with(&**other));
        match closing {
            // The last one has what is said in the end behind it.
            Some(place) if finding != said[place] => said[place] = finding,
            Some(_) => {}
            None => said.push(finding),
        }
    }
    said.join(FINDING)
}

fn of_pmu(line: &str) -> String {
    let Some(terms) = line.strip_prefix(TERMS) else {
        return line.to_owned();
    };
    let own = terms.split_once(OF_ALL).map_or(terms, |(own, _)| own);
    let mut own: Vec<&str> = own.split(',').collect();
    own.sort_unstable();
    format!("{TERMS}{}", own.join(","))
}

#[cfg(test)]
mod tests {
    use super::said_once;

    #[test]
    fn findings_are_said_once() {
        let perfs = "event syntax error: 'a'\n  \\___ Bad\n\nevent syntax error: 'b'\n  x\n\nvalid terms: z,y,config,k\n\n\
                     event syntax error: 'b'\n  x\n\nvalid terms: z,y,config,k\nRun 'perf list'\n";
        let ours = "event syntax error: 'a'\n  \\___ Bad\nevent syntax error: 'b'\n  x\nvalid terms: y,z,config,l,k\nRun 'perf list'\n";
        assert_eq!(said_once(perfs), said_once(ours));
        assert_eq!(said_once("no\n\nfinding\n"), "no\n\nfinding\n");
    }
}
