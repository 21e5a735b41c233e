//! CPU_TOPOLOGY: which CPUs share a socket, a die or a core.

use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId, strings};
use crate::FeatureFault;

/// Cores, dies and sockets of the host.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CpuTopology {
    /// CPU lists, one for each socket.
    pub socket_siblings: Vec<String>,
    /// CPU lists, one for each core.
    pub thread_siblings: Vec<String>,
    /// The place of every available CPU, from CPU 0 on; empty in old files.
    pub cpus: Vec<CpuTopologyEntry>,
    /// CPU lists, one for each die; `None` in files without dies.
    pub die_siblings: Option<Vec<String>>,
}

/// The position of a CPU. A number that the kernel did not give is `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CpuTopologyEntry {
    /// Core inside the die.
    pub core: Option<u32>,
    /// Socket.
    pub socket: Option<u32>,
    /// Die inside the socket; `None` also in files without dies.
    pub die: Option<u32>,
}

impl Feature for CpuTopology {
    const ID: FeatureId = FeatureId::CPU_TOPOLOGY;

    fn decode(
        cursor: &mut Cursor<'_>,
        context: &FeatureContext,
    ) -> Result<CpuTopology, FeatureFault> {
        let mut topology = CpuTopology {
            socket_siblings: strings::decode_all(cursor)?,
            thread_siblings: strings::decode_all(cursor)?,
            ..CpuTopology::default()
        };
        if goes_on(*cursor) {
            topology.cpus = decode_places(cursor, context.cpus_available.unwrap_or(0))?;
        }
        if goes_on(*cursor) {
            topology.die_siblings = Some(strings::decode_all(cursor)?);
            for place in &mut topology.cpus {
                place.die = known(cursor.u32()?);
            }
        }
        Ok(topology)
    }

    fn encode(&self, encoder: &mut Encoder) {
        strings::encode_all(encoder, &self.socket_siblings);
        strings::encode_all(encoder, &self.thread_siblings);
        for place in &self.cpus {
            encoder.u32(stored(place.core));
            encoder.u32(stored(place.socket));
        }
        if let Some(dies) = &self.die_siblings {
            strings::encode_all(encoder, dies);
            self.cpus
                .iter()
                .for_each(|place| encoder.u32(stored(place.die)));
        }
    }
}

/// Returns whether there is something behind that is no padding, as records of streams have it.
fn goes_on(mut cursor: Cursor<'_>) -> bool {
    let rest = cursor.rest();
    rest.len() >= 8 || rest.iter().any(|byte| *byte != 0)
}

fn decode_places(
    cursor: &mut Cursor<'_>,
    count: u32,
) -> Result<Vec<CpuTopologyEntry>, FeatureFault> {
    let mut places = Vec::new();
    for _ in 0..count {
        places.push(CpuTopologyEntry {
            core: known(cursor.u32()?),
            socket: known(cursor.u32()?),
            die: None,
        });
    }
    Ok(places)
}

/// The file says -1 for a number that is not known.
fn known(number: u32) -> Option<u32> {
    (number != u32::MAX).then_some(number)
}

fn stored(number: Option<u32>) -> u32 {
    number.unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{from_little, little, round_trip};
    use super::*;

    fn topology() -> CpuTopology {
        CpuTopology {
            socket_siblings: vec!["0-1".into()],
            thread_siblings: vec!["0".into(), "1".into()],
            cpus: vec![
                CpuTopologyEntry {
                    core: Some(0),
                    socket: Some(0),
                    die: Some(0),
                },
                CpuTopologyEntry {
                    core: Some(1),
                    socket: None,
                    die: None,
                },
            ],
            die_siblings: Some(vec!["0-1".into()]),
        }
    }

    #[test]
    fn topologies_round_trip() {
        round_trip(&topology());
    }

    #[test]
    fn padding_is_no_list_of_dies() {
        let mut old = CpuTopology {
            die_siblings: None,
            ..topology()
        };
        old.cpus.iter_mut().for_each(|place| place.die = None);
        let bytes = [little(&old), vec![0; 4]].concat();
        assert_eq!(from_little::<CpuTopology>(&bytes), Ok(old));
    }

    #[test]
    fn dies_and_places_may_be_absent() {
        let mut old = CpuTopology {
            die_siblings: None,
            ..topology()
        };
        old.cpus.iter_mut().for_each(|place| place.die = None);
        round_trip(&old);
        round_trip(&CpuTopology {
            cpus: Vec::new(),
            ..old
        });
    }
}
