//! CPU_DOMAIN_INFO: the scheduling domains of each CPU.

use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId, decode_list, encode_list, strings};
use crate::FeatureFault;

/// The scheduling domains of the online CPUs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CpuDomainInfo {
    /// Version of the kernel's `/proc/schedstat`; domains have names from 17 on.
    pub schedstat_version: u32,
    /// The most domains that a CPU has.
    pub max_domains: u32,
    /// The CPUs.
    pub cpus: Vec<CpuDomains>,
}

/// The domains of one CPU.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CpuDomains {
    /// The CPU.
    pub cpu: u32,
    /// Its domains, from the innermost.
    pub domains: Vec<CpuDomain>,
}

/// One domain.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CpuDomain {
    /// Its level.
    pub domain: u32,
    /// Its name, for example `MC`.
    pub name: Option<String>,
    /// Its CPUs as a mask.
    pub mask: String,
    /// Its CPUs as a list.
    pub list: String,
}

/// Names are stored from this version on.
const VERSION_WITH_NAMES: u32 = 17;

impl Feature for CpuDomainInfo {
    const ID: FeatureId = FeatureId::CPU_DOMAIN_INFO;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<CpuDomainInfo, FeatureFault> {
        let (schedstat_version, max_domains) = (cursor.u32()?, cursor.u32()?);
        let with_names = schedstat_version >= VERSION_WITH_NAMES;
        let mut cpus = Vec::new();
        while cursor.remaining() > 0 {
            let cpu = cursor.u32()?;
            let domains = decode_list(cursor, |cursor| decode_domain(cursor, with_names))?;
            cpus.push(CpuDomains { cpu, domains });
        }
        Ok(CpuDomainInfo {
            schedstat_version,
            max_domains,
            cpus,
        })
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.u32(self.schedstat_version);
        encoder.u32(self.max_domains);
        let with_names = self.schedstat_version >= VERSION_WITH_NAMES;
        for cpu in &self.cpus {
            encoder.u32(cpu.cpu);
            encode_list(encoder, &cpu.domains, |encoder, domain| {
                encode_domain(encoder, domain, with_names)
            });
        }
    }
}

fn decode_domain(cursor: &mut Cursor<'_>, with_names: bool) -> Result<CpuDomain, FeatureFault> {
    let domain = cursor.u32()?;
    let name = with_names.then(|| strings::decode(cursor)).transpose()?;
    Ok(CpuDomain {
        domain,
        name,
        mask: strings::decode(cursor)?,
        list: strings::decode(cursor)?,
    })
}

fn encode_domain(encoder: &mut Encoder, domain: &CpuDomain, with_names: bool) {
    encoder.u32(domain.domain);
    if with_names {
        strings::encode(encoder, domain.name.as_deref().unwrap_or_default());
    }
    strings::encode(encoder, &domain.mask);
    strings::encode(encoder, &domain.list);
}

#[cfg(test)]
mod tests {
    use super::super::testing::round_trip;
    use super::*;

    #[test]
    fn domains_round_trip() {
        for (schedstat_version, name) in [(15, None), (17, Some("MC".to_owned()))] {
            let domain = CpuDomain {
                domain: 0,
                name,
                mask: "3".into(),
                list: "0-1".into(),
            };
            let cpus = vec![
                CpuDomains {
                    cpu: 1,
                    domains: vec![domain],
                },
                CpuDomains::default(),
            ];
            round_trip(&CpuDomainInfo {
                schedstat_version,
                max_domains: 2,
                cpus,
            });
        }
    }
}
