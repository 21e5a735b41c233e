//! Graphics devices as lists show them.

use super::fdinfo::{DrmFile, Usage};
use super::{DrmPmus, kind, pmu_name};
use crate::{UserSpaceEvent, UserSpacePmus};

impl UserSpacePmus for DrmPmus {
    fn listed_events(&self) -> Vec<UserSpaceEvent> {
        let drivers = self.drivers().iter().enumerate();
        let events = drivers.flat_map(|(index, driver)| {
            let usages = driver.usages.iter().enumerate();
            usages.map(move |(config, usage)| listed(index, driver, config, usage))
        });
        events.collect()
    }
}

fn listed(index: usize, driver: &DrmFile, config: usize, usage: &Usage) -> UserSpaceEvent {
    UserSpaceEvent {
        pmu: pmu_name(driver),
        kind: kind(index),
        category: "DRM event",
        topic: "drm",
        name: usage.name.clone(),
        alias: None,
        scale_unit: Some((1.0, usage.quantity.unit.to_owned())),
        terms: format!("config={config:#x}"),
        brief: usage.quantity.brief.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drm::tests::machine;
    use std::fs;

    #[test]
    fn drivers_list_their_keys() {
        let proc = machine("drm-list");
        let events = DrmPmus::below(&proc).listed_events();
        assert_eq!(events.len(), 6);
        let last = &events[5];
        let read = (&*last.pmu, last.kind.0, &*last.name, &*last.terms);
        let expected = ("drm_xe", 0xfffe_0001, "drm-maxfreq-render", "config=0x2");
        assert_eq!(read, expected);
        assert_eq!(last.scale_unit, Some((1.0, "hz".to_owned())));
        fs::remove_dir_all(proc).unwrap();
    }
}
