//! A list to choose from.

use crate::key::Key;

/// Something that is chosen or asked for by key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Shows the code of the function under the cursor.
    Annotate,
    /// Leaves other threads out.
    ZoomThread,
    /// Leaves other objects out.
    ZoomObject,
    /// Leaves all but the kernel out.
    ZoomKernel,
    /// Leaves other sockets out.
    ZoomSocket,
    /// Shows percentages of what is left, or of all.
    Relative,
    /// Shows the objects of calls, or does not.
    Objects,
    /// Orders the rows of a group by the event of this number.
    OrderByEvent(usize),
    /// Offers to show single samples, and to run a program over them.
    ScriptMenu,
    /// Shows the samples that these options of `script` choose.
    Samples(Vec<String>),
    /// Asks for a program to run over the samples.
    AskProgram,
    /// Offers the other recordings in this folder.
    Recordings,
    /// Shows the recording of this name instead.
    Recording(String),
    /// Takes the last zoom back.
    ZoomOut,
    /// Opens or closes the line under the cursor.
    Toggle,
    /// Opens all of the row under the cursor, or closes it.
    ToggleRow,
    /// Opens every row.
    OpenAll,
    /// Closes every row.
    CloseAll,
    /// Counts what functions called as their own, or does not.
    Children,
    /// Offers other keys of rows.
    SortMenu,
    /// Tells rows apart by these keys.
    Sort(String),
    /// Asks for the keys.
    AskSort,
    /// Offers the events.
    EventMenu,
    /// Shows the table of this number.
    Event(usize),
    /// Asks for a part of a function's name.
    AskSymbol,
    /// Asks for the least percentage.
    AskLimit,
    /// Shows the recording's header.
    Header,
    /// Writes what is seen to a file.
    Export,
    /// Shows the keys.
    Help,
    /// Shows the names of columns, or does not.
    Headings,
    /// Offers what can be done with the line under the cursor.
    Menu,
    /// Ends.
    Quit,
}

/// A list with a cursor.
#[derive(Clone, Debug)]
pub(crate) struct Menu {
    pub(crate) title: String,
    pub(crate) items: Vec<(String, Action)>,
    pub(crate) at: usize,
}

/// The state of a menu after a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// Nothing is chosen yet.
    Open,
    /// It was left.
    Left,
    /// This was chosen.
    Action(Action),
}

impl Menu {
    pub(crate) fn new(title: &str, items: Vec<(String, Action)>) -> Menu {
        Menu {
            title: title.to_owned(),
            items,
            at: 0,
        }
    }

    pub(crate) fn press(&mut self, key: Key) -> Chosen {
        let last = self.items.len().saturating_sub(1);
        match key {
            Key::Up => self.at = self.at.saturating_sub(1),
            Key::Down => self.at = (self.at + 1).min(last),
            Key::Home | Key::PageUp => self.at = 0,
            Key::End | Key::PageDown => self.at = last,
            Key::Enter | Key::Right => {
                return self
                    .items
                    .get(self.at)
                    .map_or(Chosen::Left, |(_, act)| Chosen::Action(act.clone()));
            }
            Key::Escape | Key::Left | Key::Char('q') => return Chosen::Left,
            _ => {}
        }
        Chosen::Open
    }
}
