//! The rules that a message keeps, and which of them it breaks.

use std::collections::HashSet;
use std::hash::Hash;

use super::{OtlpLocation, OtlpMapping, OtlpProfile, OtlpRequest, OtlpSample, OtlpValue};

/// The faults that were found so far, and the entries of tables that something refers to.
struct Check<'r> {
    request: &'r OtlpRequest,
    faults: Vec<String>,
    mappings: Vec<bool>,
    locations: Vec<bool>,
    functions: Vec<bool>,
    links: Vec<bool>,
    strings: Vec<bool>,
    attributes: Vec<bool>,
    stacks: Vec<bool>,
}

impl OtlpRequest {
    /// A sentence for each rule that is broken, and where.
    pub fn faults(&self) -> Vec<String> {
        let tables = &self.dictionary;
        let unused = |length: usize| vec![false; length];
        let mut check = Check {
            request: self,
            faults: Vec::new(),
            mappings: unused(tables.mappings.len()),
            locations: unused(tables.locations.len()),
            functions: unused(tables.functions.len()),
            links: unused(tables.links.len()),
            strings: unused(tables.strings.len()),
            attributes: unused(tables.attributes.len()),
            stacks: unused(tables.stacks.len()),
        };
        check.profiles();
        check.tables();
        check.first_entries();
        check.unused();
        check.faults
    }

    /// The mappings, by their files, that lack the identity that the specification asks for.
    pub fn mappings_without_identity(&self) -> Vec<&str> {
        let mappings = self.dictionary.mappings.iter().skip(1);
        let nameless = mappings.filter(|mapping| {
            let attributes = self.attributes(&mapping.attribute_indices);
            let is_identity = |key: &str| key.starts_with("process.executable.build_id.");
            !attributes.iter().any(|(key, _)| is_identity(key))
        });
        nameless
            .map(|mapping| self.text(mapping.filename))
            .collect()
    }
}

/// Notes that an entry is referred to.
fn mark(used: &mut [bool], index: u64, what: &str, faults: &mut Vec<String>) {
    let length = used.len();
    match used.get_mut(usize::try_from(index).unwrap_or(usize::MAX)) {
        Some(used) => *used = true,
        None => faults.push(format!("{what}: {index} is not below {length}")),
    }
}

fn repeated<T: Hash + Eq>(list: &[T]) -> bool {
    list.iter().collect::<HashSet<_>>().len() < list.len()
}

impl Check<'_> {
    fn profiles(&mut self) {
        let request = self.request;
        if request.resources.is_empty() {
            self.faults.push("no resource profiles".to_owned());
        }
        for resource in &request.resources {
            let keys: Vec<&String> = resource.attributes.iter().map(|(key, _)| key).collect();
            if repeated(&keys) {
                self.faults.push("resource: a key stands twice".to_owned());
            }
            if resource
                .scopes
                .iter()
                .all(|(_, profiles)| profiles.is_empty())
            {
                self.faults.push("a resource without profiles".to_owned());
            }
        }
        let ids: Vec<&[u8]> = request.profiles().map(|profile| &profile.id[..]).collect();
        if repeated(&ids) {
            self.faults.push("two profiles have one id".to_owned());
        }
        for profile in request.profiles() {
            self.profile(profile);
        }
    }

    fn profile(&mut self, profile: &OtlpProfile) {
        if profile.id.len() != 16 || profile.id.iter().all(|&byte| byte == 0) {
            self.faults
                .push("profile_id: not 16 bytes, or all zero".to_owned());
        }
        for (kind, unit) in [profile.sample_type, profile.period_type] {
            self.string(kind, "type_strindex");
            self.string(unit, "unit_strindex");
        }
        self.attribute_list(&profile.attribute_indices, "Profile.attribute_indices");
        if profile.samples.is_empty() {
            self.faults.push("a profile without samples".to_owned());
        }
        let mut identities = HashSet::new();
        let timed = |sample: &OtlpSample| !sample.times.is_empty();
        let shape = profile.samples.first().is_some_and(timed);
        for sample in &profile.samples {
            if timed(sample) != shape {
                self.faults.push("samples of two shapes".to_owned());
            }
            self.sample(profile, sample);
            let mut attributes = sample.attribute_indices.clone();
            attributes.sort_unstable();
            if !identities.insert((sample.stack_index, attributes, sample.link_index)) {
                let stack = sample.stack_index;
                self.faults
                    .push(format!("two samples of stack {stack} have one identity"));
            }
        }
    }

    fn sample(&mut self, profile: &OtlpProfile, sample: &OtlpSample) {
        mark(
            &mut self.stacks,
            sample.stack_index,
            "stack_index",
            &mut self.faults,
        );
        mark(
            &mut self.links,
            sample.link_index,
            "link_index",
            &mut self.faults,
        );
        self.attribute_list(&sample.attribute_indices, "Sample.attribute_indices");
        let expected = if sample.times.is_empty() {
            1
        } else {
            sample.times.len()
        };
        if sample.values.len() != expected {
            let found = sample.values.len();
            self.faults
                .push(format!("Sample.values: {found} where {expected} belong"));
        }
        let end = profile.time.saturating_add(profile.duration);
        for time in &sample.times {
            if !(profile.time..end).contains(time) {
                self.faults.push(format!(
                    "timestamps_unix_nano: {time} is outside of the profile"
                ));
            }
        }
    }

    fn tables(&mut self) {
        let tables = &self.request.dictionary;
        for mapping in &tables.mappings {
            self.string(mapping.filename, "filename_strindex");
            self.attribute_list(&mapping.attribute_indices, "Mapping.attribute_indices");
            let is_empty = mapping.start == 0 && mapping.limit == 0;
            if !is_empty && mapping.start >= mapping.limit {
                self.faults
                    .push(format!("a mapping ends before it begins: {mapping:?}"));
            }
        }
        for location in &tables.locations {
            let mapping = location.mapping_index;
            mark(
                &mut self.mappings,
                mapping,
                "mapping_index",
                &mut self.faults,
            );
            self.attribute_list(&location.attribute_indices, "Location.attribute_indices");
            for [function, ..] in &location.lines {
                mark(
                    &mut self.functions,
                    *function,
                    "function_index",
                    &mut self.faults,
                );
            }
            self.location_lies_in_its_mapping(location);
        }
        for [name, system_name, file, _] in &tables.functions {
            self.string(*name, "name_strindex");
            self.string(*system_name, "system_name_strindex");
            self.string(*file, "filename_strindex");
        }
        for (trace, span) in tables.links.iter().skip(1) {
            if (trace.len(), span.len()) != (16, 8) {
                self.faults
                    .push("a link whose ids are not 16 and 8 bytes".to_owned());
            }
        }
        for (key, _, unit) in &tables.attributes {
            self.string(*key, "key_strindex");
            self.string(*unit, "unit_strindex");
        }
        for location in tables.stacks.iter().flatten() {
            mark(
                &mut self.locations,
                *location,
                "location_indices",
                &mut self.faults,
            );
        }
        let twice = [
            ("mapping_table", repeated(&tables.mappings)),
            ("location_table", repeated(&tables.locations)),
            ("function_table", repeated(&tables.functions)),
            ("string_table", repeated(&tables.strings)),
            ("stack_table", repeated(&tables.stacks)),
        ];
        for (table, _) in twice.iter().filter(|(_, twice)| *twice) {
            self.faults.push(format!("{table}: an entry stands twice"));
        }
    }

    fn location_lies_in_its_mapping(&mut self, location: &OtlpLocation) {
        let mapping = self
            .request
            .dictionary
            .mappings
            .get(location.mapping_index as usize);
        let range = mapping.map(|mapping| mapping.start..=mapping.limit);
        if range.is_some_and(|range| *range.end() > 0 && !range.contains(&location.address)) {
            self.faults.push(format!(
                "address {:#x} is outside of its mapping",
                location.address
            ));
        }
    }

    /// The first entry of each table is the default value.
    fn first_entries(&mut self) {
        let tables = &self.request.dictionary;
        let is_default = [
            (
                "mapping_table",
                tables.mappings.first() == Some(&OtlpMapping::default()),
            ),
            (
                "location_table",
                tables.locations.first() == Some(&OtlpLocation::default()),
            ),
            ("function_table", tables.functions.first() == Some(&[0; 4])),
            (
                "link_table",
                tables.links.first() == Some(&(Vec::new(), Vec::new())),
            ),
            (
                "string_table",
                tables.strings.first() == Some(&String::new()),
            ),
            (
                "attribute_table",
                tables.attributes.first() == Some(&(0, OtlpValue::Unset, 0)),
            ),
            ("stack_table", tables.stacks.first() == Some(&Vec::new())),
        ];
        for (table, _) in is_default.iter().filter(|(_, is_default)| !is_default) {
            self.faults
                .push(format!("{table}: the first entry is not the default"));
        }
    }

    /// Nothing but the first entry of a table is without a reference.
    fn unused(&mut self) {
        let tables = [
            ("mapping_table", &self.mappings),
            ("location_table", &self.locations),
            ("function_table", &self.functions),
            ("link_table", &self.links),
            ("string_table", &self.strings),
            ("attribute_table", &self.attributes),
            ("stack_table", &self.stacks),
        ];
        let unused = tables.map(|(table, used)| {
            let unused = used.iter().skip(1).filter(|used| !**used).count();
            (table, unused)
        });
        for (table, unused) in unused.iter().filter(|(_, unused)| *unused > 0) {
            self.faults
                .push(format!("{table}: {unused} entries that nothing refers to"));
        }
    }

    fn string(&mut self, index: u64, what: &str) {
        mark(&mut self.strings, index, what, &mut self.faults);
    }

    /// Attributes of one list have different keys.
    fn attribute_list(&mut self, indices: &[u64], what: &str) {
        for &index in indices {
            mark(&mut self.attributes, index, what, &mut self.faults);
        }
        let attributes = self.request.attributes(indices);
        let keys: Vec<&str> = attributes.iter().map(|(key, _)| *key).collect();
        if repeated(&keys) {
            self.faults.push(format!("{what}: a key stands twice"));
        }
    }
}
