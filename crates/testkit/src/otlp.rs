//! OpenTelemetry's profiles read back, and the rules that they have to keep.
//!
//! The decoder knows the messages of opentelemetry-proto 1.10 alone, and refuses fields that it does not know: it was written
//! from the published protocol, apart from any writer. The rules are those of the protocol's comments and of the conformance
//! checker of OpenTelemetry's profiling group (profcheck).

mod decode;
mod rules;

pub use decode::OtlpError;

/// A message `ExportProfilesServiceRequest`.
#[derive(Clone, Debug, Default)]
pub struct OtlpRequest {
    /// The profiles, by where they come from.
    pub resources: Vec<OtlpResource>,
    /// What they refer to by number.
    pub dictionary: OtlpDictionary,
}

/// Profiles with one origin, and the attributes of it.
#[derive(Clone, Debug, Default)]
pub struct OtlpResource {
    /// The attributes.
    pub attributes: Vec<(String, OtlpValue)>,
    /// The profiles by the instrumentation that made them: its name and version.
    pub scopes: Vec<((String, String), Vec<OtlpProfile>)>,
}

/// The value of an attribute.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum OtlpValue {
    /// No value is set.
    #[default]
    Unset,
    /// A text.
    Text(String),
    /// A number.
    Number(i64),
    /// Several values.
    List(Vec<OtlpValue>),
}

/// A message `Profile`. Numbers named `..._index` are places in tables of the dictionary.
#[derive(Clone, Debug, Default)]
pub struct OtlpProfile {
    /// Type and unit of the values.
    pub sample_type: (u64, u64),
    /// The samples.
    pub samples: Vec<OtlpSample>,
    /// When it begins, nanoseconds since 1970.
    pub time: u64,
    /// Nanoseconds that it lasts.
    pub duration: u64,
    /// Type and unit of the period.
    pub period_type: (u64, u64),
    /// Occurrences between samples.
    pub period: i64,
    /// Its id.
    pub id: Vec<u8>,
    /// Its attributes.
    pub attribute_indices: Vec<u64>,
}

/// A message `Sample`.
#[derive(Clone, Debug, Default)]
pub struct OtlpSample {
    /// Its stack.
    pub stack_index: u64,
    /// Its attributes.
    pub attribute_indices: Vec<u64>,
    /// Its link.
    pub link_index: u64,
    /// A value for each time, or one.
    pub values: Vec<i64>,
    /// Nanoseconds since 1970.
    pub times: Vec<u64>,
}

/// A message `ProfilesDictionary`.
#[derive(Clone, Debug, Default)]
pub struct OtlpDictionary {
    /// Mappings.
    pub mappings: Vec<OtlpMapping>,
    /// Locations.
    pub locations: Vec<OtlpLocation>,
    /// Functions: name, system name, file, first line.
    pub functions: Vec<[u64; 4]>,
    /// Links: ids of trace and span.
    pub links: Vec<(Vec<u8>, Vec<u8>)>,
    /// Texts.
    pub strings: Vec<String>,
    /// Attributes: key, value, unit.
    pub attributes: Vec<(u64, OtlpValue, u64)>,
    /// Stacks: their locations, the leaf first.
    pub stacks: Vec<Vec<u64>>,
}

/// A message `Mapping`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OtlpMapping {
    /// First address.
    pub start: u64,
    /// Address behind the last.
    pub limit: u64,
    /// Offset of the first address in the file.
    pub file_offset: u64,
    /// Its file.
    pub filename: u64,
    /// Its attributes.
    pub attribute_indices: Vec<u64>,
}

/// A message `Location`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OtlpLocation {
    /// Its mapping.
    pub mapping_index: u64,
    /// Its address.
    pub address: u64,
    /// Function, line and column of each function there, the innermost first.
    pub lines: Vec<[u64; 3]>,
    /// Its attributes.
    pub attribute_indices: Vec<u64>,
}

impl OtlpRequest {
    /// All profiles.
    pub fn profiles(&self) -> impl Iterator<Item = &OtlpProfile> + '_ {
        let scopes = self.resources.iter().flat_map(|resource| &resource.scopes);
        scopes.flat_map(|(_, profiles)| profiles)
    }

    /// The text of a number; `"?"` where there is none.
    pub fn text(&self, index: u64) -> &str {
        let text = self.dictionary.strings.get(index as usize);
        text.map_or("?", String::as_str)
    }

    /// Keys and values of attributes.
    pub fn attributes(&self, indices: &[u64]) -> Vec<(&str, &OtlpValue)> {
        let known = indices
            .iter()
            .filter_map(|&index| self.dictionary.attributes.get(index as usize));
        known
            .map(|(key, value, _)| (self.text(*key), value))
            .collect()
    }

    /// The names of the functions of a stack, the leaf first; `?` for a location without one.
    pub fn functions(&self, stack: u64) -> Vec<&str> {
        let tables = &self.dictionary;
        let locations = tables.stacks.get(stack as usize).into_iter().flatten();
        let locations = locations.filter_map(|&index| tables.locations.get(index as usize));
        let mut names = Vec::new();
        for location in locations {
            let functions = location.lines.iter().map(|line| line[0] as usize);
            let functions = functions.filter_map(|index| tables.functions.get(index));
            let known = names.len();
            names.extend(functions.map(|function| self.text(function[0])));
            if names.len() == known {
                names.push("?");
            }
        }
        names
    }
}
