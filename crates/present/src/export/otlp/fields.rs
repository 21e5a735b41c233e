//! The numbers of fields, a module for each message, as opentelemetry-proto 1.10 has them. (1.9 numbered those of `Sample`
//! differently under the same version `v1development`.)

pub(super) mod request {
    pub(crate) const RESOURCE_PROFILES: u32 = 1;
    pub(crate) const DICTIONARY: u32 = 2;
}

pub(super) mod resource_profiles {
    pub(crate) const RESOURCE: u32 = 1;
    pub(crate) const SCOPE_PROFILES: u32 = 2;
}

pub(super) mod resource {
    pub(crate) const ATTRIBUTES: u32 = 1;
}

pub(super) mod scope_profiles {
    pub(crate) const SCOPE: u32 = 1;
    pub(crate) const PROFILES: u32 = 2;
}

pub(super) mod scope {
    pub(crate) const NAME: u32 = 1;
    pub(crate) const VERSION: u32 = 2;
}

pub(super) mod profile {
    pub(crate) const SAMPLE_TYPE: u32 = 1;
    pub(crate) const SAMPLES: u32 = 2;
    pub(crate) const TIME_UNIX_NANO: u32 = 3;
    pub(crate) const DURATION_NANO: u32 = 4;
    pub(crate) const PERIOD_TYPE: u32 = 5;
    pub(crate) const PERIOD: u32 = 6;
    pub(crate) const PROFILE_ID: u32 = 7;
    pub(crate) const ATTRIBUTE_INDICES: u32 = 11;
}

pub(super) mod value_type {
    pub(crate) const TYPE: u32 = 1;
    pub(crate) const UNIT: u32 = 2;
}

pub(super) mod sample {
    pub(crate) const STACK_INDEX: u32 = 1;
    pub(crate) const ATTRIBUTE_INDICES: u32 = 2;
    pub(crate) const VALUES: u32 = 4;
    pub(crate) const TIMESTAMPS_UNIX_NANO: u32 = 5;
}

pub(super) mod dictionary {
    pub(crate) const MAPPING_TABLE: u32 = 1;
    pub(crate) const LOCATION_TABLE: u32 = 2;
    pub(crate) const FUNCTION_TABLE: u32 = 3;
    pub(crate) const LINK_TABLE: u32 = 4;
    pub(crate) const STRING_TABLE: u32 = 5;
    pub(crate) const ATTRIBUTE_TABLE: u32 = 6;
    pub(crate) const STACK_TABLE: u32 = 7;
}

pub(super) mod mapping {
    pub(crate) const MEMORY_START: u32 = 1;
    pub(crate) const MEMORY_LIMIT: u32 = 2;
    pub(crate) const FILE_OFFSET: u32 = 3;
    pub(crate) const FILENAME: u32 = 4;
    pub(crate) const ATTRIBUTE_INDICES: u32 = 5;
}

pub(super) mod location {
    pub(crate) const MAPPING_INDEX: u32 = 1;
    pub(crate) const ADDRESS: u32 = 2;
    pub(crate) const LINES: u32 = 3;
    pub(crate) const ATTRIBUTE_INDICES: u32 = 4;
}

pub(super) mod line {
    pub(crate) const FUNCTION_INDEX: u32 = 1;
    pub(crate) const LINE: u32 = 2;
}

pub(super) mod function {
    pub(crate) const NAME: u32 = 1;
    pub(crate) const FILENAME: u32 = 3;
}

pub(super) mod stack {
    pub(crate) const LOCATION_INDICES: u32 = 1;
}

pub(super) mod key_value_and_unit {
    pub(crate) const KEY: u32 = 1;
    pub(crate) const VALUE: u32 = 2;
}

pub(super) mod key_value {
    pub(crate) const KEY: u32 = 1;
    pub(crate) const VALUE: u32 = 2;
}

pub(super) mod any_value {
    pub(crate) const STRING: u32 = 1;
    pub(crate) const INT: u32 = 3;
    pub(crate) const ARRAY: u32 = 5;
}

pub(super) mod array_value {
    pub(crate) const VALUES: u32 = 1;
}
