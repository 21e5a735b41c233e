//! What the kernel tells of one open file of a graphics device (`/proc/PID/fdinfo/FD`).

/// What a key counts: how it begins, its unit, and what lists say of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Quantity {
    beginning: &'static str,
    pub(super) unit: &'static str,
    pub(super) brief: &'static str,
}

/// A beginning stands before all that it begins itself with.
const QUANTITIES: [Quantity; 10] = [
    quantity("drm-active-", "bytes", "Memory that engines work on now"),
    quantity("drm-cycles-", "cycles", "Cycles that an engine was busy"),
    quantity("drm-engine-capacity-", "capacity", "Engines of this kind"),
    quantity("drm-engine-", "ns", "Time that an engine was busy"),
    quantity("drm-maxfreq-", "hz", "Highest frequency of an engine"),
    quantity(
        "drm-purgeable-",
        "bytes",
        "Memory in place that may be dropped",
    ),
    quantity("drm-resident-", "bytes", "Memory in place"),
    quantity("drm-shared-", "bytes", "Memory that others use, too"),
    quantity("drm-total-cycles-", "cycles", "Cycles that passed"),
    quantity("drm-total-", "bytes", "Memory, shared or not"),
];

const fn quantity(beginning: &'static str, unit: &'static str, brief: &'static str) -> Quantity {
    Quantity {
        beginning,
        unit,
        brief,
    }
}

impl Quantity {
    /// Returns whether values grow for as long as the device is used.
    pub(super) fn grows(self) -> bool {
        ["drm-cycles-", "drm-engine-", "drm-total-cycles-"].contains(&self.beginning)
    }
}

/// A key that is an event, and its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Usage {
    pub(super) name: String,
    pub(super) quantity: Quantity,
    /// The value in the quantity's unit; `None` for one that cannot be understood.
    pub(super) value: Option<u64>,
}

/// One open file of a graphics device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct DrmFile {
    pub(super) driver: String,
    /// Tells files that were opened apart from descriptors that share one.
    pub(super) client: Option<String>,
    pub(super) usages: Vec<Usage>,
}

impl DrmFile {
    /// Reads the text; `None` where no driver is named that can be the name of a PMU.
    pub(super) fn parse(text: &str) -> Option<DrmFile> {
        let mut file = DrmFile::default();
        for (key, value) in text.lines().filter_map(|line| line.split_once(':')) {
            file.take(key, value.trim());
        }
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
        (!file.driver.is_empty() && file.driver.chars().all(is_word)).then_some(file)
    }

    fn take(&mut self, key: &str, value: &str) {
        match key {
            "drm-driver" => self.driver = value.to_owned(),
            "drm-client-id" => self.client = Some(value.to_owned()),
            key => self.usages.extend(usage(key, value)),
        }
    }

    /// The value of a key.
    pub(super) fn value(&self, name: &str) -> Option<u64> {
        let mut usages = self.usages.iter();
        usages.find(|usage| usage.name == name)?.value
    }
}

fn usage(key: &str, value: &str) -> Option<Usage> {
    let mut quantities = QUANTITIES.into_iter();
    let quantity = quantities.find(|quantity| {
        let rest = key.strip_prefix(quantity.beginning);
        rest.is_some_and(|rest| !rest.is_empty())
    })?;
    Some(Usage {
        name: key.to_owned(),
        quantity,
        value: scaled(value),
    })
}

/// `12 KiB` in bytes, `3 MHz` in Hertz, `7 ns` as it is.
fn scaled(text: &str) -> Option<u64> {
    let (number, unit) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    let factor: u64 = match unit.trim() {
        "" | "ns" | "Hz" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "KHz" => 1000,
        "MHz" => 1_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_units() {
        for (text, value) in [
            ("12 KiB", Some(12 << 10)),
            ("1\tMiB", Some(1 << 20)),
            ("3 MHz", Some(3_000_000)),
            ("7 ns", Some(7)),
            ("0", Some(0)),
            ("5 parsec", None),
            ("-1 ns", None),
            ("18446744073709551615 KiB", None),
        ] {
            assert_eq!(scaled(text), value, "{text}");
        }
    }

    #[test]
    fn keys_are_events_by_their_beginnings() {
        let text = "pos:\t0\ndrm-driver:\txe\ndrm-client-id:\t7\ndrm-pdev:\t0000:00:02.0\n\
            drm-engine-capacity-video:\t2\ndrm-engine-render:\t9 ns\ndrm-total-cycles-rcs:\t4\n\
            drm-total-vram:\t1 KiB\ndrm-memory-vram:\t1 KiB\ndrm-engine-:\t1 ns\n";
        let file = DrmFile::parse(text).unwrap();
        let units = file.usages.iter().map(|usage| usage.quantity.unit);
        assert_eq!(
            units.collect::<Vec<_>>(),
            ["capacity", "ns", "cycles", "bytes"]
        );
        assert_eq!(file.value("drm-engine-render"), Some(9));
        assert_eq!(file.client.as_deref(), Some("7"));
        assert_eq!(DrmFile::parse("pos: 0\n"), None);
        assert_eq!(DrmFile::parse("drm-driver: ../x\n"), None);
    }
}
