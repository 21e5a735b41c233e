//! Which fields `script` shows for which kind of event, and the language of `-F`.

use std::fmt;

use oxperf_abi::EventType;

/// A set of fields.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct FieldSet(u64);

macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident = $bit:expr, $text:expr;)*) => {
        impl FieldSet {
            $($(#[$doc])* pub const $name: FieldSet = FieldSet(1 << $bit);)*
            /// Every field with its name in `-F`.
            pub const NAMES: &'static [(FieldSet, &'static str)] = &[$((FieldSet::$name, $text),)*];
        }
    };
}

fields! {
    /// Thread name.
    COMM = 0, "comm";
    /// Thread.
    TID = 1, "tid";
    /// Process.
    PID = 2, "pid";
    /// Time.
    TIME = 3, "time";
    /// CPU.
    CPU = 4, "cpu";
    /// Event name.
    EVENT = 5, "event";
    /// A tracepoint's record as text.
    TRACE = 6, "trace";
    /// Address, with the call chain where there is one.
    IP = 7, "ip";
    /// Symbol.
    SYM = 8, "sym";
    /// Object.
    DSO = 9, "dso";
    /// Data address.
    ADDR = 10, "addr";
    /// Distance from the symbol's start.
    SYMOFF = 11, "symoff";
    /// Period.
    PERIOD = 12, "period";
    /// Cost of the access.
    WEIGHT = 13, "weight";
    /// Physical data address.
    PHYS_ADDR = 14, "phys_addr";
    /// The source of the data.
    DATA_SRC = 15, "data_src";
    /// Latency of the instruction.
    INS_LAT = 16, "ins_lat";
    /// Latency of its retirement.
    RETIRE_LAT = 17, "retire_lat";
    /// Page size of the data address.
    DATA_PAGE_SIZE = 18, "data_page_size";
    /// Page size of the address.
    CODE_PAGE_SIZE = 19, "code_page_size";
    /// Flags of the address, from hardware trace.
    FLAGS = 20, "flags";
    /// Values of events of hardware trace beside addresses.
    SYNTH = 21, "synth";
    /// Bytes of the instruction.
    INSN = 22, "insn";
    /// Length of the instruction.
    INSNLEN = 23, "insnlen";
    /// Instructions per cycle.
    IPC = 24, "ipc";
    /// Last branches.
    BRSTACK = 25, "brstack";
    /// The called function, indented by its depth.
    CALLINDENT = 26, "callindent";
    /// The instruction as assembly text.
    DISASM = 27, "disasm";
    /// The reason why the walk over a copied stack ended.
    UNWIND = 28, "unwind";
    /// The source line of the address.
    SRCLINE = 40, "srcline";
    /// The text of the source line of the sample's own address.
    SRCCODE = 41, "srccode";
    /// The record's flag word, as letters.
    MISC = 29, "misc";
    /// Last branches by their symbols.
    BRSTACKSYM = 30, "brstacksym";
    /// Distance from the object's start.
    DSOFF = 32, "dsoff";
    /// Registers at the interrupt.
    IREGS = 33, "iregs";
    /// Registers of the program.
    UREGS = 34, "uregs";
    /// The cgroup's path.
    CGROUP = 35, "cgroup";
    /// Last branches by their places in objects.
    BRSTACKOFF = 31, "brstackoff";
    /// The code between the last branches.
    BRSTACKINSN = 42, "brstackinsn";
    /// Bytes of instructions, with the length of each.
    BRSTACKINSNLEN = 43, "brstackinsnlen";
    /// Instructions as assembly text.
    BRSTACKDISASM = 44, "brstackdisasm";
    /// The time of day.
    TOD = 45, "tod";
    /// The process of the virtual machine that a sample of a guest was taken in.
    MACHINE_PID = 46, "machine_pid";
    /// The virtual CPU that it was taken on.
    VCPU = 47, "vcpu";
    /// The bytes that a BPF program wrote into the sample.
    BPF_OUTPUT = 48, "bpf-output";
    /// Metrics of a group of events; none are known, and so nothing is shown.
    METRIC = 49, "metric";
    /// Counters of the CPU at the last branches.
    BRCNTR = 50, "brcntr";
}

impl FieldSet {
    /// No field.
    pub const EMPTY: FieldSet = FieldSet(0);
    /// Everything about an access to memory.
    const ACCESS: FieldSet = FieldSet(
        Self::ADDR.0
            | Self::DATA_SRC.0
            | Self::WEIGHT.0
            | Self::INS_LAT.0
            | Self::RETIRE_LAT.0
            | Self::PHYS_ADDR.0
            | Self::DATA_PAGE_SIZE.0
            | Self::CODE_PAGE_SIZE.0,
    );

    /// True if all of `other` is in.
    pub const fn contains(self, other: FieldSet) -> bool {
        self.0 & other.0 == other.0
    }

    /// This set without `other`.
    #[must_use]
    pub const fn without(self, other: FieldSet) -> FieldSet {
        FieldSet(self.0 & !other.0)
    }

    /// The names of all fields on the command line.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().map(|(_, name)| *name)
    }

    fn by_name(name: &str) -> Option<FieldSet> {
        Self::NAMES
            .iter()
            .find(|(_, text)| *text == name)
            .map(|(field, _)| *field)
    }
}

impl std::ops::BitOr for FieldSet {
    type Output = FieldSet;
    fn bitor(self, other: FieldSet) -> FieldSet {
        FieldSet(self.0 | other.0)
    }
}

impl fmt::Debug for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(
                Self::NAMES
                    .iter()
                    .filter(|(field, _)| self.contains(*field))
                    .map(|(_, n)| n),
            )
            .finish()
    }
}

/// The kinds of events that have fields of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum EventClass {
    /// Generic hardware and cache events, and those of other PMUs.
    Hardware,
    /// Software events.
    Software,
    /// Tracepoints.
    Tracepoint,
    /// CPU-specific codes.
    Raw,
    /// Breakpoints.
    Breakpoint,
    /// Samples made of hardware trace that are more than an address of code.
    Synthetic,
}

impl EventClass {
    const ALL: [(EventClass, &'static str); 6] = [
        (EventClass::Hardware, "hw"),
        (EventClass::Software, "sw"),
        (EventClass::Tracepoint, "trace"),
        (EventClass::Raw, "raw"),
        (EventClass::Breakpoint, "break"),
        (EventClass::Synthetic, "synth"),
    ];

    /// The full name of events of the class.
    pub const fn name(self) -> &'static str {
        match self {
            EventClass::Hardware => "hardware",
            EventClass::Software => "software",
            EventClass::Tracepoint => "tracepoint",
            EventClass::Raw => "raw",
            EventClass::Breakpoint => "breakpoint",
            EventClass::Synthetic => "synthetic",
        }
    }

    /// Fields that events of the class cannot have.
    const fn foreign_fields(self) -> FieldSet {
        match self {
            EventClass::Tracepoint => FieldSet::EMPTY,
            EventClass::Software => FieldSet::TRACE,
            _ => FieldSet(FieldSet::TRACE.0 | FieldSet::BPF_OUTPUT.0),
        }
    }

    /// The class of an event type.
    pub fn of(kind: EventType) -> EventClass {
        match kind {
            EventType::SOFTWARE => EventClass::Software,
            EventType::TRACEPOINT => EventClass::Tracepoint,
            EventType::RAW => EventClass::Raw,
            EventType::BREAKPOINT => EventClass::Breakpoint,
            EventType::SYNTHETIC => EventClass::Synthetic,
            _ => EventClass::Hardware,
        }
    }

    fn default_fields(self) -> FieldSet {
        let who = FieldSet::COMM | FieldSet::TID | FieldSet::CPU | FieldSet::TIME | FieldSet::EVENT;
        let place =
            FieldSet::IP | FieldSet::SYM | FieldSet::SYMOFF | FieldSet::DSO | FieldSet::PERIOD;
        match self {
            EventClass::Tracepoint => who | FieldSet::TRACE,
            EventClass::Raw => who | place | FieldSet::ACCESS,
            EventClass::Synthetic => who | place.without(FieldSet::PERIOD) | FieldSet::SYNTH,
            EventClass::Software => who | place | FieldSet::BPF_OUTPUT,
            EventClass::Hardware | EventClass::Breakpoint => who | place,
        }
    }
}

/// The fields of every class, as asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FieldSpec {
    sets: [FieldSet; 6],
    /// Fields that the user named for all classes: asking for one that was not recorded is an error, not a gap.
    demanded: [FieldSet; 6],
    /// Classes whose fields the user changed.
    changed: [bool; 6],
    /// Classes that the user named, or a field of theirs.
    named: [bool; 6],
}

/// A `-F` that cannot be followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FieldSpecError {
    /// No such field.
    UnknownField(String),
    /// No such event class before the colon.
    UnknownClass(String),
    /// A field that events of the class before the colon cannot have.
    ForeignField(String, EventClass),
    /// `+` or `-` mixed with plain names.
    Mixed,
    /// Nothing asked for.
    Empty,
}

impl fmt::Display for FieldSpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldSpecError::UnknownField(name) => {
                write!(f, "Invalid field requested: '{name}'. Known fields:")?;
                FieldSet::NAMES
                    .iter()
                    .try_for_each(|(_, name)| write!(f, " {name}"))
            }
            FieldSpecError::UnknownClass(name) => {
                write!(
                    f,
                    "Invalid event type in field string: '{name}'. Known types: hw, sw, trace, raw, break, synth"
                )
            }
            FieldSpecError::ForeignField(name, class) => {
                write!(f, "'{name}' is no field of {} events", class.name())
            }
            FieldSpecError::Mixed => {
                f.write_str("Cannot mix add/remove with plain fields in one list")
            }
            FieldSpecError::Empty => f.write_str("No fields requested"),
        }
    }
}

impl std::error::Error for FieldSpecError {}

impl Default for FieldSpec {
    /// The fields that are shown when none are asked for.
    fn default() -> FieldSpec {
        FieldSpec {
            sets: EventClass::ALL.map(|(class, _)| class.default_fields()),
            demanded: Default::default(),
            changed: Default::default(),
            named: Default::default(),
        }
    }
}

impl FieldSpec {
    /// The fields of a class.
    pub fn fields(&self, class: EventClass) -> FieldSet {
        self.sets[class as usize]
    }

    /// The fields of a class that the user named.
    pub fn demanded(&self, class: EventClass) -> FieldSet {
        self.demanded[class as usize]
    }

    /// True if the user changed the fields of a class.
    pub fn is_changed(&self, class: EventClass) -> bool {
        self.changed[class as usize]
    }

    /// True if the user asked to see nothing of a class, which there has to be something of, then.
    pub fn is_silenced(&self, class: EventClass) -> bool {
        self.named[class as usize] && self.fields(class) == FieldSet::EMPTY
    }

    /// True if the fields of any class hold a field.
    pub fn any_has(&self, field: FieldSet) -> bool {
        self.sets.iter().any(|set| set.contains(field))
    }

    /// Follows one `-F` argument: `[hw:|sw:|trace:|raw:|break:|synth:]` and names, or names with `+` or `-` before each.
    /// No name at all, behind a class or a comma, stands for no fields.
    ///
    /// # Errors
    /// A name is not known, or not one of the class, or plain names are mixed with signed ones.
    pub fn apply(&mut self, text: &str) -> Result<(), FieldSpecError> {
        if text.is_empty() {
            return Err(FieldSpecError::Empty);
        }
        let (class, list) = split_class(text)?;
        let classes = || {
            EventClass::ALL
                .iter()
                .map(|(class, _)| *class)
                .filter(|own| class.is_none_or(|c| c == *own))
        };
        // As in perf, flags alone leave everything else as it is when nobody asks.
        if list.trim() != "+flags" {
            classes().for_each(|class| self.changed[class as usize] = true);
        }
        let items: Vec<&str> = list
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .collect();
        let signed = items.first().is_some_and(|item| item.starts_with(SIGNS));
        if !signed {
            classes().for_each(|class| self.clear(class));
        }
        if let Some(class) = class {
            self.named[class as usize] = true;
        }
        for item in items {
            let field = named(item.trim_start_matches(SIGNS))?;
            if item.starts_with(SIGNS) != signed {
                return Err(FieldSpecError::Mixed);
            }
            match class {
                Some(class) if class.foreign_fields().contains(field) => {
                    return Err(FieldSpecError::ForeignField(item.to_owned(), class));
                }
                Some(class) => self.set(class, field, item),
                None => classes().for_each(|class| self.demand(class, field, item)),
            }
        }
        Ok(())
    }

    fn clear(&mut self, class: EventClass) {
        self.sets[class as usize] = FieldSet::EMPTY;
        self.demanded[class as usize] = FieldSet::EMPTY;
    }

    /// Adds a field to a class, or takes it away, as its sign says.
    fn set(&mut self, class: EventClass, field: FieldSet, item: &str) {
        let set = &mut self.sets[class as usize];
        *set = with(*set, field, item);
    }

    /// Changes a field of each class that can have it, when it was asked of all.
    fn demand(&mut self, class: EventClass, field: FieldSet, item: &str) {
        if class.foreign_fields().contains(field) {
            return;
        }
        self.named[class as usize] = true;
        self.set(class, field, item);
        let demanded = &mut self.demanded[class as usize];
        *demanded = with(*demanded, field, item);
    }

    /// Shows where a tracepoint was when its samples carry call chains and nobody has asked otherwise.
    pub fn show_places_of_tracepoints(&mut self) {
        let slot = EventClass::Tracepoint as usize;
        if !self.changed[slot] {
            self.sets[slot] =
                self.sets[slot] | FieldSet::IP | FieldSet::SYM | FieldSet::SYMOFF | FieldSet::DSO;
        }
    }

    /// Adds fields to a class, whatever was asked for.
    pub fn add_fields(&mut self, class: EventClass, fields: FieldSet) {
        let set = &mut self.sets[class as usize];
        *set = *set | fields;
    }

    /// Leaves a field of a class out.
    pub fn drop_field(&mut self, class: EventClass, field: FieldSet) {
        let set = &mut self.sets[class as usize];
        *set = set.without(field);
    }
}

/// The sign before a name that is added to the shown fields, or taken away.
const SIGNS: [char; 2] = ['+', '-'];

fn named(name: &str) -> Result<FieldSet, FieldSpecError> {
    FieldSet::by_name(name).ok_or_else(|| FieldSpecError::UnknownField(name.to_owned()))
}

/// A set with a field more, or less where the item says so.
fn with(set: FieldSet, field: FieldSet, item: &str) -> FieldSet {
    if item.starts_with('-') {
        set.without(field)
    } else {
        set | field
    }
}

fn split_class(text: &str) -> Result<(Option<EventClass>, &str), FieldSpecError> {
    let Some((class, list)) = text.split_once(':') else {
        return Ok((None, text));
    };
    match EventClass::ALL.iter().find(|(_, name)| *name == class) {
        Some((class, _)) => Ok((Some(*class), list)),
        None => Err(FieldSpecError::UnknownClass(class.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(texts: &[&str]) -> Result<FieldSpec, FieldSpecError> {
        let mut spec = FieldSpec::default();
        texts
            .iter()
            .try_for_each(|text| spec.apply(text))
            .map(|()| spec)
    }

    #[test]
    fn plain_names_replace_and_signed_ones_adjust() {
        let plain = spec(&["comm,ip"]).unwrap();
        assert_eq!(
            plain.fields(EventClass::Software),
            FieldSet::COMM | FieldSet::IP
        );
        let signed = spec(&["-comm,+addr"]).unwrap().fields(EventClass::Hardware);
        assert!(signed.contains(FieldSet::ADDR) && !signed.contains(FieldSet::COMM));
        for mixed in ["comm,+addr", "+comm,addr", "-comm,addr", "hw:+comm,tid"] {
            assert_eq!(spec(&[mixed]), Err(FieldSpecError::Mixed), "{mixed}");
        }
    }

    #[test]
    fn a_class_takes_its_own_fields() {
        let spec = spec(&["trace:comm,trace"]).unwrap();
        assert_eq!(
            spec.fields(EventClass::Tracepoint),
            FieldSet::COMM | FieldSet::TRACE
        );
        assert!(spec.fields(EventClass::Hardware).contains(FieldSet::SYMOFF));
    }

    #[test]
    fn what_is_asked_of_one_class_is_not_demanded() {
        let spec = spec(&["+addr", "hw:+weight"]).unwrap();
        assert!(
            spec.fields(EventClass::Hardware)
                .contains(FieldSet::WEIGHT | FieldSet::ADDR)
        );
        assert_eq!(spec.demanded(EventClass::Hardware), FieldSet::ADDR);
    }

    #[test]
    fn a_class_without_fields_is_silent() {
        let silent = spec(&["sw:"]).unwrap();
        assert!(
            silent.is_silenced(EventClass::Software) && !silent.is_silenced(EventClass::Hardware)
        );
        let nothing = spec(&[","]).unwrap();
        assert_eq!(nothing.fields(EventClass::Hardware), FieldSet::EMPTY);
        assert!(!nothing.is_silenced(EventClass::Hardware));
    }

    #[test]
    fn fields_of_other_classes_are_passed_over_or_refused() {
        let trace = spec(&["trace"]).unwrap();
        assert_eq!(trace.fields(EventClass::Tracepoint), FieldSet::TRACE);
        assert_eq!(trace.fields(EventClass::Hardware), FieldSet::EMPTY);
        let refused = FieldSpecError::ForeignField("+trace".to_owned(), EventClass::Software);
        assert_eq!(spec(&["sw:+trace"]), Err(refused));
        assert!(spec(&["sw:bpf-output", "trace:bpf-output"]).is_ok());
    }

    #[test]
    fn what_is_not_known_is_named() {
        assert_eq!(
            spec(&["colour"]),
            Err(FieldSpecError::UnknownField("colour".to_owned()))
        );
        assert_eq!(
            spec(&["x:comm"]),
            Err(FieldSpecError::UnknownClass("x".to_owned()))
        );
        assert_eq!(spec(&[""]), Err(FieldSpecError::Empty));
    }
}
