//! The name of an event that was recorded without one.

use crate::{
    AttrFlags, CacheId, CacheOp, CacheResult, EventAttr, EventType, HardwareId, SoftwareId,
};

impl EventAttr {
    /// perf's name for what is counted, with the modifiers that the flags amount to.
    ///
    /// ```
    /// use oxperf_abi::{AttrFlags, EventAttr, EventType};
    /// let flags = AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV;
    /// let attr = EventAttr { kind: EventType::SOFTWARE, config: 1, flags, ..EventAttr::default() };
    /// assert_eq!(attr.generic_name(), "task-clock:u");
    /// ```
    pub fn generic_name(&self) -> String {
        let base = match self.kind {
            EventType::HARDWARE => HardwareId::from_config(self.config & 0xffff_ffff)
                .map(|id| id.names()[0].to_owned()),
            EventType::SOFTWARE => {
                SoftwareId::from_config(self.config).map(|id| id.names()[0].to_owned())
            }
            EventType::HW_CACHE => cache_name(self.config),
            EventType::TRACEPOINT => return format!("unknown tracepoint id={:#x}", self.config),
            EventType::RAW => Some(format!("raw 0x{:x}", self.config)),
            EventType::BREAKPOINT => Some(format!(
                "mem:{:#x}:{}",
                self.config1,
                breakpoint_access(self.bp_type)
            )),
            _ => None,
        };
        let base = base.unwrap_or_else(|| format!("unknown attr type: {}", self.kind.0));
        base + &self.flags.modifiers()
    }
}

impl AttrFlags {
    /// The modifiers that these flags amount to, with the colon before them; empty when there are none.
    ///
    /// ```
    /// use oxperf_abi::AttrFlags;
    /// assert_eq!((AttrFlags::EXCLUDE_HV | AttrFlags::EXCLUDE_GUEST).modifiers(), ":kuH");
    /// assert_eq!(AttrFlags::EMPTY.modifiers(), "");
    /// ```
    pub fn modifiers(self) -> String {
        let modes = [
            (AttrFlags::EXCLUDE_KERNEL, 'k'),
            (AttrFlags::EXCLUDE_USER, 'u'),
            (AttrFlags::EXCLUDE_HV, 'h'),
        ];
        let worlds = [
            (AttrFlags::EXCLUDE_HOST, 'H'),
            (AttrFlags::EXCLUDE_GUEST, 'G'),
        ];
        let mut text = self.kept(&modes);
        text.extend(std::iter::repeat_n('p', usize::from(self.precise_ip())));
        text.push_str(&self.kept(&worlds));
        if text.is_empty() {
            text
        } else {
            format!(":{text}")
        }
    }

    /// The letters of what is not excluded, if anything is.
    fn kept(self, letters: &[(AttrFlags, char)]) -> String {
        if !letters.iter().any(|(exclude, _)| self.contains(*exclude)) {
            return String::new();
        }
        letters
            .iter()
            .filter(|(exclude, _)| !self.contains(*exclude))
            .map(|(_, letter)| letter)
            .collect()
    }
}

fn breakpoint_access(kind: u32) -> &'static str {
    match kind & 7 {
        1 => "r",
        2 => "w",
        3 => "rw",
        4 => "x",
        _ => "",
    }
}

/// `L1-dcache-load-misses` and its kin; `None` for a combination that has no name.
fn cache_name(config: u64) -> Option<String> {
    let cache = CacheId::from_config(config & 0xff)?.names()[0];
    let op = CacheOp::from_config(config >> 8 & 0xff)?;
    let result = CacheResult::from_config(config >> 16 & 0xff)?;
    Some(match result {
        CacheResult::Miss => format!("{cache}-{}-{}", op.names()[0], result.names()[0]),
        CacheResult::Access => format!("{cache}-{}", op.names()[1]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_generic_events() {
        let name = |kind, config| {
            EventAttr {
                kind,
                config,
                ..EventAttr::default()
            }
            .generic_name()
        };
        assert_eq!(name(EventType::HARDWARE, 1), "instructions");
        assert_eq!(name(EventType::HW_CACHE, 0x10000), "L1-dcache-load-misses");
        assert_eq!(name(EventType::HW_CACHE, 0x3), "dTLB-loads");
        assert_eq!(name(EventType::RAW, 0x76), "raw 0x76");
        assert_eq!(name(EventType(12), 1), "unknown attr type: 12");
    }

    #[test]
    fn modifiers_name_what_is_not_excluded() {
        let modifiers = |mut flags: AttrFlags, precise| {
            flags.set_precise_ip(precise);
            flags.modifiers()
        };
        assert_eq!(
            modifiers(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV, 1),
            ":up"
        );
        assert_eq!(modifiers(AttrFlags::EXCLUDE_HOST, 2), ":ppG");
        assert_eq!(
            modifiers(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_USER, 0),
            ":h"
        );
    }
}
