//! The state of the browser, and the actions of keys.

mod counting;
mod offers;
mod zooming;

use std::collections::HashSet;

use oxperf_analysis::hist::HistOptions;
use oxperf_present::report::ReportText;
use oxperf_present::text::sanitize;
use oxperf_profile::{FrameId, Profile, SymbolId};

use crate::dialog::{Answer, Dialog, Question};
use crate::filter::Filter;
use crate::key::Key;
use crate::menu::{Action, Chosen, Menu};
use crate::pager::{Paged, Pager};
use crate::texts;
use crate::view::View;

/// Columns that rows move sideways.
const SIDEWAYS: usize = 8;

/// Something that the browser cannot do by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// To end.
    Quit,
    /// To show the code of a function; give the text to [`Browser::show_code`].
    Annotate {
        /// The function.
        symbol: String,
        /// The path of its object.
        object: String,
    },
    /// To show the recording's header; give the text to [`Browser::show`].
    Header,
    /// To show samples; give the text to [`Browser::show`].
    Samples {
        /// The options of `script` that say which.
        which: Vec<String>,
    },
    /// To run this program over the samples; give what it prints to [`Browser::show`].
    Program(String),
    /// To list the other recordings.
    Recordings,
    /// To show this recording instead.
    Switch(String),
    /// To write this text to a file; show its name by [`Browser::set_message`].
    Export(String),
}

/// The tables of a profile, one of which is seen, and what lies over it.
pub struct Browser<'p> {
    profile: &'p Profile,
    hist: HistOptions,
    text: ReportText,
    filter: Filter,
    pub(crate) views: Vec<View<'p>>,
    pub(crate) at: usize,
    pub(crate) overlays: Vec<Overlay>,
    pub(crate) message: String,
    pub(crate) headings: bool,
    /// Calls are shown with their objects.
    objects: bool,
    /// Columns that rows are moved to the left.
    pub(crate) left: usize,
    /// Lines for rows or text on the screen.
    pub(crate) height: usize,
}

/// A window over the table.
#[derive(Clone, Debug)]
pub(crate) enum Overlay {
    Menu(Menu),
    Dialog(Dialog),
    Pager(Pager),
}

impl<'p> Browser<'p> {
    /// The tables of a profile, counted and written as the options say. Of several tables one is to be chosen first.
    pub fn new(profile: &'p Profile, hist: HistOptions, text: ReportText) -> Browser<'p> {
        let filter = Filter {
            min_percent: text.min_percent,
            ..Filter::default()
        };
        let mut browser = Browser {
            profile,
            hist,
            text,
            filter,
            views: Vec::new(),
            at: 0,
            overlays: Vec::new(),
            message: String::new(),
            headings: true,
            objects: false,
            left: 0,
            height: 1,
        };
        browser.count();
        if browser.views.len() > 1 {
            browser.perform(Action::EventMenu);
        }
        browser
    }

    /// Leaves out the names of columns, until a key shows them.
    pub fn hide_headings(&mut self) {
        self.headings = false;
    }

    /// Shows only functions with a text in their names.
    pub fn filter_symbols(&mut self, part: &str) {
        part.clone_into(&mut self.filter.symbol);
        self.refilter();
    }

    /// Shows a text over the table.
    pub fn show(&mut self, title: &str, text: &str) {
        self.overlays.push(Overlay::Pager(Pager::new(title, text)));
    }

    /// Shows a function's code over the table, where it cost most.
    pub fn show_code(&mut self, title: &str, text: &str) {
        let mut pager = Pager::new(title, text);
        pager.go_hottest(self.height);
        self.overlays.push(Overlay::Pager(pager));
    }

    /// Shows a sentence in the lowest line until the next key.
    pub fn set_message(&mut self, sentence: &str) {
        self.message = sanitize(sentence).into_owned();
    }

    /// Does what a key means. What the browser cannot do by itself it asks for.
    pub fn press(&mut self, key: Key) -> Option<Request> {
        self.message.clear();
        if key == Key::Interrupt {
            return Some(Request::Quit);
        }
        match self.overlays.pop() {
            Some(Overlay::Menu(menu)) => self.press_menu(menu, key),
            Some(Overlay::Dialog(dialog)) => self.press_dialog(dialog, key),
            Some(Overlay::Pager(pager)) => self.press_pager(pager, key),
            None => self.press_table(key),
        }
    }

    fn press_menu(&mut self, mut menu: Menu, key: Key) -> Option<Request> {
        match menu.press(key) {
            Chosen::Open => self.overlays.push(Overlay::Menu(menu)),
            Chosen::Left => {}
            Chosen::Action(act) => return self.perform(act),
        }
        None
    }

    fn press_dialog(&mut self, mut dialog: Dialog, key: Key) -> Option<Request> {
        match dialog.press(key) {
            Answer::Open => self.overlays.push(Overlay::Dialog(dialog)),
            Answer::Left => {}
            Answer::Given => return self.answer(dialog),
        }
        None
    }

    fn press_pager(&mut self, mut pager: Pager, key: Key) -> Option<Request> {
        let paged = pager.press(key, self.height);
        let find = pager.find.clone();
        if paged != Paged::Left {
            self.overlays.push(Overlay::Pager(pager));
        }
        if paged == Paged::AskFind {
            self.ask(Question::Find, find);
        }
        None
    }

    fn press_table(&mut self, key: Key) -> Option<Request> {
        let page = self.height.saturating_sub(1).max(1) as isize;
        match key {
            Key::Up => self.go(-1),
            Key::Down => self.go(1),
            Key::PageUp => self.go(-page),
            Key::PageDown | Key::Char(' ') => self.go(page),
            Key::Home => self.go(isize::MIN),
            Key::End => self.go(isize::MAX),
            Key::Char('<') => self.left = self.left.saturating_sub(SIDEWAYS),
            Key::Char('>') => {
                self.left = self
                    .left
                    .saturating_add(SIDEWAYS)
                    .min(usize::from(u16::MAX))
            }
            Key::Tab => self.turn(1),
            Key::BackTab => self.turn(self.views.len().saturating_sub(1)),
            _ => return self.perform(action_of(key)?),
        }
        None
    }

    fn perform(&mut self, action: Action) -> Option<Request> {
        match action {
            Action::Quit => return Some(Request::Quit),
            Action::Header => return Some(Request::Header),
            Action::Annotate => return self.annotate(),
            Action::Export => return self.view().map(|view| Request::Export(view.export())),
            Action::Recordings => return Some(Request::Recordings),
            Action::Recording(name) => return Some(Request::Switch(name)),
            Action::Samples(which) => return Some(Request::Samples { which }),
            Action::ZoomThread | Action::ZoomObject | Action::ZoomKernel | Action::ZoomSocket => {
                self.zoom(&action)
            }
            Action::ZoomOut => self.zoom_out(),
            Action::Toggle | Action::ToggleRow => self.toggle(&action),
            Action::OpenAll => self.on_view(View::open_all),
            Action::CloseAll => self.on_view(View::close_all),
            Action::Children => self.switch_children(),
            Action::Sort(keys) => self.sort(&keys),
            Action::SortMenu => self.offer_sorts(),
            Action::AskSort => self.ask(Question::Sort, String::new()),
            Action::EventMenu => self.offer_events(),
            Action::Event(at) => self.at = at.min(self.views.len().saturating_sub(1)),
            Action::AskSymbol => self.ask(Question::Symbol, self.filter.symbol.clone()),
            Action::ScriptMenu => self.offer_scripts(),
            Action::AskProgram => self.ask(Question::Program, String::new()),
            Action::OrderByEvent(nth) => self.order_by_event(nth),
            Action::Relative => self.switch_relative(),
            Action::Objects => self.switch_objects(),
            Action::AskLimit => self.ask(Question::Limit, String::new()),
            Action::Help => self.show("Keys", texts::HELP),
            Action::Headings => self.headings = !self.headings,
            Action::Menu => self.offer_actions(),
        }
        None
    }

    // --- The table ---

    fn view(&self) -> Option<&View<'p>> {
        self.views.get(self.at)
    }

    fn on_view(&mut self, change: impl FnOnce(&mut View<'p>)) {
        if let Some(view) = self.views.get_mut(self.at) {
            change(view);
        }
    }

    fn go(&mut self, by: isize) {
        self.on_view(|view| view.go(by));
    }

    fn turn(&mut self, by: usize) {
        self.at = (self.at + by) % self.views.len().max(1);
    }

    fn toggle(&mut self, act: &Action) {
        let mut toggled = true;
        self.on_view(|view| {
            toggled = if *act == Action::ToggleRow {
                view.toggle_all_of_row()
            } else {
                view.toggle()
            };
        });
        if !toggled {
            self.set_message("No call chains here");
        }
    }

    /// The title of the table, in `width` columns: the filters are said in any case.
    pub(crate) fn title(&self, width: usize) -> String {
        let about = self.view().map_or("No samples", |view| view.rows.about());
        let left_out = self.filter.text(self.profile);
        let room = width.saturating_sub(left_out.chars().count());
        if about.chars().count() <= room {
            return format!("{about}{left_out}");
        }
        let kept: String = about.chars().take(room.saturating_sub(2)).collect();
        format!("{kept}..{left_out}")
    }

    // --- Functions ---

    /// The function of the line under the cursor, and its object.
    fn function(&self) -> Option<(&'p str, &'p str)> {
        let symbol = self.profile.symbols.get(self.symbol()?.index())?;
        Some((
            &symbol.name,
            &self.profile.dsos.get(symbol.dso.index())?.long,
        ))
    }

    /// The symbol of the line under the cursor.
    fn symbol(&self) -> Option<SymbolId> {
        self.profile
            .frames
            .get(self.view()?.frame()?.index())?
            .symbol
    }

    /// The symbol whose code is annotated for the line under the cursor: of an inlined function, the one that has its
    /// code.
    fn symbol_with_code(&self) -> Option<SymbolId> {
        let frame = self.profile.frames.get(self.view()?.frame()?.index())?;
        if frame.outermost {
            return frame.symbol;
        }
        let mut others = self.profile.frames.iter();
        let around = others.find(|other| {
            other.outermost && other.dso == frame.dso && other.dso_address == frame.dso_address
        });
        around.and_then(|around| around.symbol).or(frame.symbol)
    }

    /// `true` if samples were taken in the code of a function itself.
    fn has_samples(&self, symbol: SymbolId) -> bool {
        let frames = self.profile.frames.iter();
        let with_code = frames.filter(|frame| frame.outermost && frame.symbol == Some(symbol));
        let places: HashSet<_> = with_code
            .map(|frame| (frame.dso, frame.dso_address))
            .collect();
        let is_own = |frame: FrameId| {
            self.profile.frames.get(frame.index()).is_some_and(|frame| {
                let inlined = !frame.outermost && places.contains(&(frame.dso, frame.dso_address));
                frame.symbol == Some(symbol) || inlined
            })
        };
        let mut groups = self.profile.events.iter().flat_map(|event| &event.groups);
        groups.any(|group| is_own(group.frame))
    }

    fn annotate(&mut self) -> Option<Request> {
        let symbol = self.symbol_with_code();
        let named = symbol.and_then(|id| {
            let symbol = self.profile.symbols.get(id.index())?;
            let object = &self.profile.dsos.get(symbol.dso.index())?.long;
            Some((id, symbol.name.as_str(), object))
        });
        let Some((id, symbol, object)) = named else {
            self.set_message("No function is known here");
            return None;
        };
        if !self.has_samples(id) {
            let text = format!(
                "No sample is in {} itself: it stands in call chains alone",
                sanitize(symbol)
            );
            self.set_message(&text);
            return None;
        }
        Some(Request::Annotate {
            symbol: symbol.to_owned(),
            object: object.to_owned(),
        })
    }
}

/// The action of a key where rows are seen.
fn action_of(key: Key) -> Option<Action> {
    Some(match key {
        Key::Enter | Key::Right | Key::Char('m') => Action::Menu,
        Key::Escape | Key::Left => Action::ZoomOut,
        Key::Char('+') => Action::Toggle,
        Key::Char('e') => Action::ToggleRow,
        Key::Char('E') => Action::OpenAll,
        Key::Char('C') => Action::CloseAll,
        Key::Char('a') => Action::Annotate,
        Key::Char('d') => Action::ZoomObject,
        Key::Char('t') => Action::ZoomThread,
        Key::Char('k') => Action::ZoomKernel,
        Key::Char('S') => Action::ZoomSocket,
        Key::Char('F') => Action::Relative,
        Key::Char('V') => Action::Objects,
        Key::Char('r') => Action::ScriptMenu,
        Key::Char('s') => Action::Recordings,
        Key::Char(digit @ '0'..='9') => Action::OrderByEvent(digit as usize - '0' as usize),
        Key::Char('/') => Action::AskSymbol,
        Key::Char('L') => Action::AskLimit,
        Key::Char('o') => Action::SortMenu,
        Key::Char('n') => Action::Children,
        Key::Char('H') => Action::Headings,
        Key::Char('i') => Action::Header,
        Key::Char('P') => Action::Export,
        Key::Char('?' | 'h') => Action::Help,
        Key::Char('q') => Action::Quit,
        _ => return None,
    })
}
