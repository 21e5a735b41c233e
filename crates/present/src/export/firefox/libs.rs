//! The objects of a profile that frames lie in, with their identities.

use std::io::{self, Write};

use oxperf_abi::BuildId;
use oxperf_profile::DsoId;

use super::super::code::CodeExport;
use super::separate;
use crate::json::string;

/// The objects that have frames, in order.
pub(super) struct Libs {
    used: Vec<DsoId>,
    /// The place of each object among them.
    places: Vec<Option<u32>>,
}

impl Libs {
    pub(super) fn of(code: &CodeExport<'_>) -> Libs {
        let mut has_frames = vec![false; code.profile.dsos.len()];
        for dso in code
            .profile
            .frames
            .iter()
            .filter_map(|frame| code.dso(frame))
        {
            if let Some(has_frames) = has_frames.get_mut(dso.index()) {
                *has_frames = true;
            }
        }
        let mut used = Vec::new();
        let place = |(dso, has_frames)| {
            used.extend(Some(DsoId(dso)).filter(|_| has_frames));
            has_frames.then(|| used.len() as u32 - 1)
        };
        let places = (0..).zip(has_frames).map(place).collect();
        Libs { used, places }
    }

    /// The place of an object.
    pub(super) fn place(&self, dso: DsoId) -> Option<u32> {
        self.places.get(dso.index()).copied().flatten()
    }

    pub(super) fn write(&self, code: &CodeExport<'_>, text: &mut Vec<u8>) -> io::Result<()> {
        text.extend_from_slice(b",\"libs\":[");
        for (index, dso) in self.used.iter().enumerate() {
            separate(index, text);
            let names = code.profile.dsos.get(dso.index());
            let [name, path] = names.map_or(["", ""], |dso| [&dso.short, &dso.long]);
            for (key, value) in [
                ("{\"name\":", name),
                (",\"path\":", path),
                (",\"debugName\":", name),
                (",\"debugPath\":", path),
            ] {
                text.extend_from_slice(key.as_bytes());
                string::write(value, text);
            }
            let id = code
                .objects
                .get(dso.index())
                .and_then(|object| object.build_id);
            write!(text, ",\"breakpadId\":\"{}\",\"codeId\":", breakpad_id(id))?;
            match id {
                Some(id) => write!(text, "\"{id}\"")?,
                None => text.extend_from_slice(b"null"),
            }
            text.extend_from_slice(b",\"arch\":null}");
        }
        text.push(b']');
        Ok(())
    }
}

/// The identity as Breakpad writes it: the first 16 bytes as a GUID of this byte order, and an age of 0.
fn breakpad_id(id: Option<BuildId>) -> String {
    let mut guid = [0; 16];
    if let Some(id) = id {
        guid.iter_mut()
            .zip(id.as_bytes())
            .for_each(|(to, from)| *to = *from);
    }
    guid[..4].reverse();
    guid[4..6].reverse();
    guid[6..8].reverse();
    let digits = guid.iter().map(|byte| format!("{byte:02X}"));
    digits.chain(["0".to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_guids_in_this_byte_order() {
        let id = BuildId::new(&[
            0x1a, 0x2b, 0x3c, 0x4d, 0x5e, 0x6f, 0x70, 0x81, 0x92, 0xa3, 0xb4, 0xc5, 0xd6, 0xe7,
            0xf8, 0x09, 0xaa, 0xbb, 0xcc, 0xdd,
        ]);
        assert_eq!(breakpad_id(id), "4D3C2B1A6F5E817092A3B4C5D6E7F8090");
        assert_eq!(breakpad_id(None), "000000000000000000000000000000000");
    }
}
