//! The contents of an event text, with their positions (byte offsets into the text). Names and values are parts of it.

use super::Modifiers;

/// A whole `-e` text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventList<'t> {
    /// The text.
    pub text: &'t str,
    /// Its events and groups, in order.
    pub items: Vec<ListItem<'t>>,
}

impl<'t> EventList<'t> {
    /// The events as written, those of groups among them.
    pub fn specs(&self) -> impl Iterator<Item = &EventSpec<'t>> {
        self.items.iter().flat_map(|item| match item {
            ListItem::Event(event) => std::slice::from_ref(event),
            ListItem::Group(group) => &group.events,
        })
    }
}

/// A member of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ListItem<'t> {
    /// An event of its own.
    Event(EventSpec<'t>),
    /// Events that are counted together.
    Group(GroupSpec<'t>),
}

/// `name{events}:modifiers`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupSpec<'t> {
    /// The name before the brace.
    pub name: Option<&'t str>,
    /// At least one event; the first leads.
    pub events: Vec<EventSpec<'t>>,
    /// Modifiers for every member.
    pub modifiers: Modifiers,
    /// Their position.
    pub modifiers_position: usize,
}

/// One event as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventSpec<'t> {
    /// Its position.
    pub position: usize,
    /// perf's name of an event that was written so, unless a `name=` term or a tracepoint gives another.
    pub name: &'t str,
    /// The event.
    pub form: EventForm<'t>,
    /// The text between slashes.
    pub terms: Vec<Term<'t>>,
    /// Its own modifiers.
    pub modifiers: Modifiers,
}

/// The ways to say which event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventForm<'t> {
    /// A name alone: an event that some PMU or the kernel has.
    Name(&'t str),
    /// A name with terms: a PMU, or else an event.
    WithTerms(&'t str),
    /// `rHEX`: a code of the CPU.
    Raw(u64),
    /// `TYPE:CONFIG`.
    Numeric {
        /// The type.
        kind: u32,
        /// The config word.
        config: u64,
    },
    /// `SYSTEM:EVENT`; both may be patterns.
    Tracepoint {
        /// The system.
        system: &'t str,
        /// The event.
        event: &'t str,
    },
    /// `mem:ADDRESS[/LENGTH][:ACCESS]`.
    Breakpoint {
        /// The watched address.
        address: u64,
        /// The watched bytes, when given.
        length: Option<u64>,
        /// The watched accesses, when given.
        access: Option<BreakpointAccess>,
    },
}

/// Accesses that a breakpoint watches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BreakpointAccess {
    /// Reads.
    pub read: bool,
    /// Writes.
    pub write: bool,
    /// Execution.
    pub execute: bool,
}

/// `name` or `name=value`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Term<'t> {
    /// The name.
    pub name: &'t str,
    /// The position of the name.
    pub position: usize,
    /// The value, if there is one.
    pub value: Option<TermValue<'t>>,
}

/// A term's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TermValue<'t> {
    /// Its text without quotes.
    pub text: &'t str,
    /// Its position.
    pub position: usize,
}
