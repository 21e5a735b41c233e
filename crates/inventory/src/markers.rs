//! Markers of programs (SDT), as the build-id cache knows them.

use crate::{CountableEvent, EventCategory};

/// Digits of an identity that tell binaries with a marker of the same name apart.
const DIGITS: usize = 12;

/// A marker in a program. All texts are untrusted.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SdtMarker {
    /// `sdt_libc:setjmp`.
    pub name: String,
    /// The identity of the binary, in hexadecimal digits.
    pub identity: String,
    /// The path of the binary.
    pub binary: String,
}

/// The markers as events, by name; one that several binaries have is shown with each of them.
pub(crate) fn events(mut markers: Vec<SdtMarker>) -> Vec<CountableEvent> {
    markers.sort();
    let several = markers.chunk_by(|one, other| one.name == other.name);
    let named = several.flat_map(|same| same.iter().map(|marker| shown(marker, same.len() > 1)));
    let event = |name| CountableEvent::named(EventCategory::Sdt, name);
    named.map(event).collect()
}

fn shown(marker: &SdtMarker, is_shared: bool) -> String {
    if !is_shared {
        return marker.name.clone();
    }
    let digits = marker.identity.get(..DIGITS).unwrap_or(&marker.identity);
    format!("{}@{}({digits})", marker.name, marker.binary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_names_tell_their_binaries() {
        let marker = |name: &str, identity: &str, binary: &str| SdtMarker {
            name: name.to_owned(),
            identity: identity.to_owned(),
            binary: binary.to_owned(),
        };
        let events = events(vec![
            marker("sdt_x:b", "2222222222222222", "/bin/x"),
            marker("sdt_x:a", "2222222222222222", "/bin/x"),
            marker("sdt_x:a", "11", "/bin/y"),
        ]);
        let names: Vec<_> = events.iter().map(|event| &*event.name).collect();
        assert_eq!(
            names,
            [
                "sdt_x:a@/bin/y(11)",
                "sdt_x:a@/bin/x(222222222222)",
                "sdt_x:b"
            ]
        );
    }
}
