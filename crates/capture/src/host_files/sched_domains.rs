//! The scheduling domains, from `/proc/schedstat`.

use oxperf_data::FeatureSet;
use oxperf_data::features::{CpuDomain, CpuDomainInfo, CpuDomains};

use super::cpu_set::CpuSet;
use super::tree::Tree;

/// Domains have names in the file from this version on.
const VERSION_WITH_NAMES: u32 = 17;

pub(super) fn collect(tree: &Tree, features: &mut FeatureSet) {
    if let Some(info) = tree.text("proc/schedstat").as_deref().and_then(parse) {
        features.insert(&info);
    }
}

/// Reads `cpuN ...` lines, each followed by its `domainN [name] mask ...` lines.
fn parse(text: &str) -> Option<CpuDomainInfo> {
    let version = text
        .lines()
        .next()?
        .strip_prefix("version ")?
        .trim()
        .parse()
        .ok()?;
    let mut info = CpuDomainInfo {
        schedstat_version: version,
        ..CpuDomainInfo::default()
    };
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { continue };
        if let Some(cpu) = first
            .strip_prefix("cpu")
            .and_then(|digits| digits.parse().ok())
        {
            info.cpus.push(CpuDomains {
                cpu,
                domains: Vec::new(),
            });
        } else if let Some(domain) = first
            .strip_prefix("domain")
            .and_then(|digits| digits.parse().ok())
        {
            let cpu = info.cpus.last_mut()?;
            cpu.domains.push(parse_domain(domain, words, version)?);
        }
    }
    info.max_domains = info.cpus.iter().map(|cpu| cpu.domains.len() as u32).max()?;
    Some(info)
}

fn parse_domain<'a>(
    domain: u32,
    mut words: impl Iterator<Item = &'a str>,
    version: u32,
) -> Option<CpuDomain> {
    let name = if version >= VERSION_WITH_NAMES {
        Some(words.next()?.to_owned())
    } else {
        None
    };
    let mask = words.next()?.to_owned();
    let list = CpuSet::from_mask(&mask)?.to_string();
    Some(CpuDomain {
        domain,
        name,
        mask,
        list,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FakeHost, get};
    use super::*;

    #[test]
    fn domains_follow_their_cpu() {
        let text = "version 17\ntimestamp 4295\ncpu0 0 0 0 0 0 0 1 2 3\ndomain0 SMT 3 0 0\ndomain1 PKG f 0 0\n\
            cpu1 0 0 0 0 0 0 1 2 3\ndomain0 SMT 3 0 0\n";
        let fake = FakeHost::new(&[("proc/schedstat", text)]);
        let info: CpuDomainInfo = get(&fake.collect(collect), 2).unwrap();
        assert_eq!(
            (info.schedstat_version, info.max_domains, info.cpus.len()),
            (17, 2, 2)
        );
        let outer = CpuDomain {
            domain: 1,
            name: Some("PKG".into()),
            mask: "f".into(),
            list: "0-3".into(),
        };
        assert_eq!(info.cpus[0].domains[1], outer);
        assert_eq!((info.cpus[1].cpu, info.cpus[1].domains.len()), (1, 1));
    }

    #[test]
    fn old_files_have_no_names() {
        let info = parse("version 15\ntimestamp 1\ncpu0 1 2\ndomain0 00000003 1 2\n").unwrap();
        assert_eq!(info.cpus[0].domains[0].name, None);
        assert_eq!(info.cpus[0].domains[0].list, "0-1");
        assert_eq!(parse("nonsense"), None);
    }
}
