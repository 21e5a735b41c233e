//! The columns of a table, and the order of its rows: the language of `-s` and `-F`.
//!
//! ```text
//! comm,dso,sym          the keys of rows; they stand in order by weight first, then by these
//! comm,overhead         rows stand in order by name first
//! +cpu                  the usual ones and one more
//! next_comm             a field of tracepoints' records; also sched:sched_switch.next_comm, %1.next_comm, next_comm/raw,
//!                       sched:sched_switch.* and trace_fields for all of them
//! ```

mod layout;
mod records;

use oxperf_abi::EventType;
use oxperf_analysis::hist::{AccessKey, Field, Measure, SortKey};
use oxperf_data::EventEntry;
use oxperf_profile::number_keys;
use oxperf_profile::{AccessFields, Detail, DetailOptions, FieldRequest};
use oxperf_tracepoint::Formatters;

use super::count_mode::CountMode;
use crate::failure::Failure;

pub(super) use layout::LatencyUse;

/// The word for all fields of all tracepoints, of which there may be none.
const EVERY_FIELD: &str = "trace_fields";

fn is_every_field(word: &str) -> bool {
    word.strip_suffix("/raw").unwrap_or(word) == EVERY_FIELD
}

/// The recording's names that words are looked up among.
pub(super) struct FieldContext<'a> {
    pub(super) events: &'a [EventEntry],
    /// The names that events go by.
    pub(super) event_names: &'a [String],
    pub(super) formats: &'a Formatters,
    pub(super) counted: CountMode,
    /// Chains hold branches.
    pub(super) history: bool,
    /// Records of tracepoints are shown as bare numbers.
    pub(super) raw_traces: bool,
}

/// The requests of `-s`, `-F` and the flags that add columns.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestedFields {
    /// The text of `-s`.
    pub(super) sort: Option<String>,
    /// The usual keys of samples, where the configuration has others than perf.
    pub(super) usual: Option<String>,
    /// The text of `-F`.
    pub(super) fields: Option<String>,
    /// Columns that flags add.
    pub(super) added: Vec<Measure>,
    /// The time that passed comes before the time that CPUs ran.
    pub(super) prefer_latency: bool,
    /// A column of parents comes last.
    pub(super) parents: bool,
}

/// Requested fields with every name looked up.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    sort: Vec<Field>,
    /// Columns of `-F`.
    shown: Vec<Field>,
    /// There are no others.
    strict: bool,
    /// The user's keys name the weights that count.
    weighs: bool,
    added: Vec<Measure>,
    prefer_latency: bool,
    /// Fields of tracepoints.
    pub(super) records: Vec<FieldRequest>,
    /// Keys that share their level of an outline with those before them.
    joined: Vec<SortKey>,
    /// The first key was asked for and is the symbol, and no columns were asked for.
    pub(super) symbol_first: bool,
}

impl RequestedFields {
    /// Requests without any keys of the user's.
    pub(super) fn without_keys(self) -> RequestedFields {
        RequestedFields {
            sort: None,
            usual: None,
            ..self
        }
    }

    /// The keys as perf writes them above its table of accesses to memory.
    pub(super) fn sort_order(&self) -> Option<String> {
        const USUAL: &str = "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat,local_p_stage_cyc";
        let Some(text) = &self.sort else {
            return self.fields.is_none().then(|| USUAL.to_owned());
        };
        let text = text
            .strip_prefix('+')
            .map_or_else(|| text.clone(), |more| format!("{USUAL},{more}"));
        Some(if text.contains("symbol") && self.sort.is_some() {
            format!("{text},ipc_null")
        } else {
            text
        })
    }

    /// True if a word means parents, which stand in call chains.
    pub(super) fn names_parents(&self) -> bool {
        let lists = self.sort.iter().chain(&self.fields);
        lists
            .flat_map(|list| words(list.trim_start_matches('+')))
            .any(|word| SortKey::parse(word) == Some(SortKey::Parent))
    }

    /// A sign has to have names behind it, and columns that are asked for have to be named.
    fn require_words(&self) -> Result<(), Failure> {
        let invalid = |option| {
            Err(Failure::bad_option(format!(
                "Error:\nInvalid --{option} key: `+'"
            )))
        };
        match (self.sort.as_deref(), self.fields.as_deref()) {
            (Some("+"), _) => invalid("sort"),
            (_, Some("" | "+")) => invalid("fields"),
            _ => Ok(()),
        }
    }

    /// The keys, where those of the configuration are among them: they are of samples, not of branches, accesses or
    /// records of tracepoints.
    fn configured_sort(&self, names: &FieldContext<'_>) -> Option<String> {
        let usual = self.usual.as_deref()?;
        let of_samples = usual_fields(names) == SortKey::DEFAULT.map(Field::Key);
        match self.sort.as_deref() {
            _ if !of_samples => None,
            None => Some(usual.to_owned()),
            Some(sort) => Some(format!("{usual},{}", sort.strip_prefix('+')?)),
        }
    }

    /// Looks all names up.
    pub(super) fn resolve(&self, names: &FieldContext<'_>) -> Result<Fields, Failure> {
        self.require_words()?;
        let mut fields = Fields {
            added: self.added.clone(),
            prefer_latency: self.prefer_latency,
            strict: self
                .fields
                .as_ref()
                .is_some_and(|text| !text.starts_with('+')),
            ..Fields::default()
        };
        let configured = self.configured_sort(names);
        let text = configured
            .as_deref()
            .or(self.sort.as_deref())
            .unwrap_or("+");
        if !fields.strict || self.sort.is_some() {
            let (usual, list) = match text.strip_prefix('+') {
                Some(list) => (fields.usual(names), list),
                None => (Vec::new(), text),
            };
            fields.sort = usual;
            let mut braces = Braces::default();
            for word in words(list) {
                let (word, joined) = braces.strip(word);
                let found = fields.sort_word(word, names)?;
                if joined {
                    fields.join(&found);
                }
                let listed =
                    |field: &Field| fields.sort.iter().any(|known| is_twin(*known, *field));
                let found: Vec<Field> = found.into_iter().filter(|field| !listed(field)).collect();
                extend_new(&mut fields.sort, found);
            }
            let by_symbol = text.contains("symbol") || self.sort.is_none() && names.history;
            if by_symbol {
                let key = match names.counted {
                    CountMode::Samples | CountMode::Accesses => SortKey::NoIpc,
                    CountMode::Branches => SortKey::Ipc,
                };
                extend_new(&mut fields.sort, [Field::Key(key)]);
            }
            if self.parents {
                extend_new(&mut fields.sort, [Field::Key(SortKey::Parent)]);
            }
            fields.weighs = text.contains("overhead") || text.contains("latency");
            fields.symbol_first = text.starts_with("sym") && self.fields.is_none();
        }
        for word in words(
            self.fields
                .as_deref()
                .unwrap_or_default()
                .trim_start_matches('+'),
        ) {
            let found = fields.shown_word(word, names)?;
            extend_new(&mut fields.shown, found);
        }
        Ok(fields)
    }
}

/// `{comm,dso},sym`: keys in braces share a level of an outline.
#[derive(Default)]
struct Braces {
    open: bool,
}

impl Braces {
    /// A word without braces, and whether it belongs to the one before it.
    fn strip<'a>(&mut self, word: &'a str) -> (&'a str, bool) {
        let joined = self.open;
        self.open = (self.open || word.starts_with('{')) && !word.ends_with('}');
        (word.trim_matches(['{', '}']), joined)
    }
}

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split([',', ' ']).filter(|word| !word.is_empty())
}

/// The keys of a report without `-s`: of tracepoints alone the text of their records.
fn usual_fields(names: &FieldContext<'_>) -> Vec<Field> {
    if names.history {
        let keys = [SortKey::SourceLine, SortKey::Symbol, SortKey::Dso].map(Field::Key);
        let said = [Measure::Predicted, Measure::Aborts, Measure::BranchCycles].map(Field::Measure);
        return keys.into_iter().chain(said).collect();
    }
    let tracepoint = |event: &EventEntry| event.stored.attr.kind == EventType::TRACEPOINT;
    let keys = match (
        names.counted != CountMode::Accesses
            && !names.events.is_empty()
            && names.events.iter().all(tracepoint),
        names.counted,
    ) {
        (true, _) => &[SortKey::Trace][..],
        (false, CountMode::Samples) => &SortKey::DEFAULT,
        (false, CountMode::Branches) => &SortKey::DEFAULT_OF_BRANCHES,
        (false, CountMode::Accesses) => &SortKey::DEFAULT_OF_ACCESSES,
    };
    keys.iter().copied().map(Field::Key).collect()
}

fn extend_new(list: &mut Vec<Field>, more: impl IntoIterator<Item = Field>) {
    for field in more {
        if !list.contains(&field) {
            list.push(field);
        }
    }
}

/// True for two keys that are one number under two names, of which perf takes the first.
fn is_twin(one: Field, other: Field) -> bool {
    const TWINS: [[Field; 2]; 2] = [
        [
            Field::Key(SortKey::Number(&number_keys::retire_lat::RETIRE_LAT)),
            Field::Key(SortKey::Number(&number_keys::p_stage_cyc::P_STAGE_CYC)),
        ],
        [
            Field::Key(SortKey::Number(&number_keys::retire_lat::LOCAL_RETIRE_LAT)),
            Field::Key(SortKey::Number(
                &number_keys::p_stage_cyc::LOCAL_P_STAGE_CYC,
            )),
        ],
    ];
    one != other
        && TWINS
            .iter()
            .any(|twins| twins.contains(&one) && twins.contains(&other))
}

fn unknown(option: &str, name: &str) -> Failure {
    let known: Vec<&str> = Measure::names().chain(SortKey::names()).collect();
    Failure::bad_option(format!(
        "Error:\nUnknown --{option} key: `{name}'\nKnown keys: {}",
        known.join(" ")
    ))
}

impl Fields {
    /// The keys of a report without `-s`: raw records have each of their fields.
    fn usual(&mut self, names: &FieldContext<'_>) -> Vec<Field> {
        let usual = usual_fields(names);
        let raw = names.raw_traces && usual == [Field::Key(SortKey::Trace)];
        if raw {
            self.record_fields(EVERY_FIELD, names)
        } else {
            usual
        }
    }

    fn join(&mut self, fields: &[Field]) {
        let keys = fields.iter().filter_map(|field| match field {
            Field::Key(key) => Some(*key),
            Field::Measure(_) => None,
        });
        self.joined.extend(keys);
    }

    /// The columns of each level of an outline: every key begins one, unless it is joined to the one before; weights that
    /// stand between keys belong to the key before them.
    pub(super) fn levels(&self, columns: &[Field]) -> Vec<Vec<Field>> {
        let mut levels: Vec<Vec<Field>> = Vec::new();
        for &column in columns {
            let begins = matches!(column, Field::Key(key) if levels.is_empty() || !self.joined.contains(&key));
            match levels.last_mut() {
                Some(level) if !begins => level.push(column),
                _ if begins => levels.push(vec![column]),
                _ => {}
            }
        }
        levels
    }

    fn sort_word(&mut self, word: &str, names: &FieldContext<'_>) -> Result<Vec<Field>, Failure> {
        let key = SortKey::parse(word);
        if matches!(key, Some(SortKey::Branch(_))) && names.counted != CountMode::Branches {
            return Err(Failure::bad_option(format!(
                "Error:\nInvalid --sort key: `{word}'\nIt tells of branches: record them with -b, and report -b counts them"
            )));
        }
        if matches!(key, Some(SortKey::Access(_))) && names.counted != CountMode::Accesses {
            return Err(Failure::bad_option(format!(
                "Error:\nInvalid --sort key: `{word}'\nIt tells of accesses to memory: --mem-mode counts them"
            )));
        }
        let known = key
            .map(Field::Key)
            .or(Measure::parse(word, false).map(Field::Measure));
        let found = known.map_or_else(|| self.record_fields(word, names), |field| vec![field]);
        if found.is_empty() && !is_every_field(word) {
            Err(unknown("sort", word))
        } else {
            Ok(found)
        }
    }

    fn shown_word(&mut self, word: &str, names: &FieldContext<'_>) -> Result<Vec<Field>, Failure> {
        let measure = Measure::parse(word, names.counted == CountMode::Accesses);
        let known = measure
            .map(Field::Measure)
            .or(SortKey::parse(word).map(Field::Key));
        let found = known.map_or_else(|| self.record_fields(word, names), |field| vec![field]);
        if found.is_empty() && !is_every_field(word) {
            Err(unknown("fields", word))
        } else {
            Ok(found)
        }
    }

    fn all(&self) -> impl Iterator<Item = Field> {
        self.sort.iter().chain(&self.shown).copied()
    }

    /// The keys of the rows.
    pub(super) fn keys(&self) -> Vec<SortKey> {
        let mut keys = Vec::new();
        for field in self.all() {
            match field {
                Field::Key(key) if !keys.contains(&key) => keys.push(key),
                _ => {}
            }
        }
        keys
    }

    fn measures(&self) -> impl Iterator<Item = Measure> {
        let named = self.all().filter_map(|field| match field {
            Field::Measure(measure) => Some(measure),
            Field::Key(_) => None,
        });
        named.chain(self.added.iter().copied())
    }

    /// True if a column shows a weight that is not counted with every row.
    pub(super) fn wants_extras(&self) -> bool {
        self.measures().any(Measure::is_extra)
    }

    /// True if a column shows how many threads ran at once, or a number that follows from it.
    pub(super) fn wants_latency(&self) -> bool {
        self.names_latency() || self.keys().contains(&SortKey::PARALLELISM)
    }

    /// True if the time that passed was asked for.
    fn names_latency(&self) -> bool {
        let of_time = [Measure::OwnLatency, Measure::ChildrenLatency];
        self.prefer_latency || self.measures().any(|measure| of_time.contains(&measure))
    }

    /// The details of samples beside their thread and address that the columns need.
    pub(super) fn details(&self) -> DetailOptions {
        let means = self.measures().filter_map(|measure| match measure {
            Measure::MeanWeight(nth) => Detail::WEIGHTS.get(usize::from(nth)).copied(),
            Measure::Kinds(_) => Some(Detail::Access),
            _ => None,
        });
        let mut details: Vec<Detail> = Vec::new();
        // Parents are found when the chains have names.
        let of_keys = self
            .keys()
            .into_iter()
            .filter_map(SortKey::detail)
            .filter(|&detail| detail != Detail::Parent);
        for detail in of_keys.chain(means) {
            if !details.contains(&detail) {
                details.push(detail);
            }
        }
        let mut access = accesses_wanted(&self.keys());
        access.source |= self
            .measures()
            .any(|measure| matches!(measure, Measure::Kinds(_)));
        DetailOptions {
            details,
            fields: self.records.clone(),
            access,
            ..DetailOptions::default()
        }
    }
}

/// The fields of each access to memory that the keys need.
fn accesses_wanted(keys: &[SortKey]) -> AccessFields {
    let mut wanted = AccessFields::default();
    for key in keys {
        let SortKey::Access(key) = key else { continue };
        match key {
            AccessKey::DataSymbol | AccessKey::DataObject => wanted.data = true,
            AccessKey::CodeSymbol => wanted.code = true,
            AccessKey::Line => wanted.line = true,
            AccessKey::PhysicalAddress => wanted.physical = true,
            AccessKey::PageSize => wanted.page_size = true,
            AccessKey::Locked
            | AccessKey::Translation
            | AccessKey::Level
            | AccessKey::Snoop
            | AccessKey::Blocked => wanted.source = true,
        }
    }
    wanted
}

#[cfg(test)]
mod tests {
    use super::layout::Layout;
    use super::*;

    fn names() -> (Vec<EventEntry>, Formatters) {
        (Vec::new(), Formatters::default())
    }

    fn layout(sort: Option<&str>, fields: Option<&str>, children: bool) -> Layout {
        let (events, formats) = names();
        let names = FieldContext {
            events: &events,
            event_names: &[],
            formats: &formats,
            counted: CountMode::Samples,
            history: false,
            raw_traces: false,
        };
        let asked = RequestedFields {
            sort: sort.map(str::to_owned),
            fields: fields.map(str::to_owned),
            ..RequestedFields::default()
        };
        asked
            .resolve(&names)
            .ok()
            .unwrap()
            .layout(children, LatencyUse::Unknown)
    }

    const OWN: Field = Field::Measure(Measure::Own);
    const ALL: Field = Field::Measure(Measure::Children);
    const COMM: Field = Field::Key(SortKey::Comm);
    const SAMPLES: Field = Field::Measure(Measure::Samples);

    #[test]
    fn weights_come_first_unless_they_are_named() {
        assert_eq!(layout(Some("comm"), None, true).columns, [ALL, OWN, COMM]);
        let named = layout(Some("comm,overhead"), None, true);
        assert_eq!(
            (named.columns, named.order_by),
            (vec![OWN, COMM], vec![COMM, OWN])
        );
    }

    #[test]
    fn columns_of_their_own_are_the_only_ones() {
        let strict = layout(None, Some("sample,comm"), true);
        assert_eq!(
            (strict.columns, strict.own_is_self),
            (vec![SAMPLES, COMM], false)
        );
        assert_eq!(
            layout(Some("comm"), Some("+sample"), false).columns,
            [OWN, SAMPLES, COMM]
        );
        assert_eq!(
            layout(Some("trace_fields"), None, false).columns,
            [OWN],
            "there are no tracepoints"
        );
        assert_eq!(layout(Some("trace_fields/raw"), None, false).columns, [OWN]);
    }
}
