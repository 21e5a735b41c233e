//! What is seen, and what keys do to it.

mod counting;
mod offers;
mod zooming;

use oxperf_analysis::hist::HistOptions;
use oxperf_present::report::ReportText;
use oxperf_present::text::sanitize;
use oxperf_profile::Profile;

use crate::dialog::{Answer, Dialog, Question};
use crate::filter::Filter;
use crate::key::Key;
use crate::menu::{Act, Chosen, Menu};
use crate::pager::{Paged, Pager};
use crate::view::View;
use crate::words;

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
    /// To tell which other recordings there are.
    Recordings,
    /// To show this recording instead.
    Switch(String),
    /// To write this text to a file; tell its name by [`Browser::tell`].
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
    pub(crate) over: Vec<Over>,
    pub(crate) message: String,
    pub(crate) headings: bool,
    /// Whether calls are shown with their objects.
    objects: bool,
    /// Columns that rows are moved to the left.
    pub(crate) left: usize,
    /// Lines for rows or text on the screen.
    pub(crate) height: usize,
}

/// What lies over the table.
#[derive(Clone, Debug)]
pub(crate) enum Over {
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
            over: Vec::new(),
            message: String::new(),
            headings: true,
            objects: false,
            left: 0,
            height: 1,
        };
        browser.count();
        if browser.views.len() > 1 {
            browser.act(Act::EventMenu);
        }
        browser
    }

    /// Shows only functions with a text in their names.
    pub fn filter_symbols(&mut self, part: &str) {
        part.clone_into(&mut self.filter.symbol);
        self.refilter();
    }

    /// Shows a text over the table.
    pub fn show(&mut self, title: &str, text: &str) {
        self.over.push(Over::Pager(Pager::new(title, text)));
    }

    /// Shows a function's code over the table, where it cost most.
    pub fn show_code(&mut self, title: &str, text: &str) {
        let mut pager = Pager::new(title, text);
        pager.go_hottest(self.height);
        self.over.push(Over::Pager(pager));
    }

    /// Shows a sentence in the lowest line until the next key.
    pub fn tell(&mut self, sentence: &str) {
        self.message = sanitize(sentence).into_owned();
    }

    /// Does what a key means. What the browser cannot do by itself it asks for.
    pub fn press(&mut self, key: Key) -> Option<Request> {
        self.message.clear();
        if key == Key::Interrupt {
            return Some(Request::Quit);
        }
        match self.over.pop() {
            Some(Over::Menu(menu)) => self.press_menu(menu, key),
            Some(Over::Dialog(dialog)) => self.press_dialog(dialog, key),
            Some(Over::Pager(pager)) => self.press_pager(pager, key),
            None => self.press_table(key),
        }
    }

    fn press_menu(&mut self, mut menu: Menu, key: Key) -> Option<Request> {
        match menu.press(key) {
            Chosen::Open => self.over.push(Over::Menu(menu)),
            Chosen::Left => {}
            Chosen::Act(act) => return self.act(act),
        }
        None
    }

    fn press_dialog(&mut self, mut dialog: Dialog, key: Key) -> Option<Request> {
        match dialog.press(key) {
            Answer::Open => self.over.push(Over::Dialog(dialog)),
            Answer::Left => {}
            Answer::Given => return self.answer(dialog),
        }
        None
    }

    fn press_pager(&mut self, mut pager: Pager, key: Key) -> Option<Request> {
        let paged = pager.press(key, self.height);
        let find = pager.find.clone();
        if paged != Paged::Left {
            self.over.push(Over::Pager(pager));
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
            _ => return self.act(act_of(key)?),
        }
        None
    }

    fn act(&mut self, act: Act) -> Option<Request> {
        match act {
            Act::Quit => return Some(Request::Quit),
            Act::Header => return Some(Request::Header),
            Act::Annotate => return self.annotate(),
            Act::Export => return self.view().map(|view| Request::Export(view.export())),
            Act::Recordings => return Some(Request::Recordings),
            Act::Recording(name) => return Some(Request::Switch(name)),
            Act::Samples(which) => return Some(Request::Samples { which }),
            Act::ZoomThread | Act::ZoomObject | Act::ZoomKernel | Act::ZoomSocket => {
                self.zoom(&act)
            }
            Act::ZoomOut => self.zoom_out(),
            Act::Toggle | Act::ToggleRow => self.toggle(&act),
            Act::OpenAll => self.on_view(View::open_all),
            Act::CloseAll => self.on_view(View::close_all),
            Act::Children => self.switch_children(),
            Act::Sort(keys) => self.sort(&keys),
            Act::SortMenu => self.offer_sorts(),
            Act::AskSort => self.ask(Question::Sort, String::new()),
            Act::EventMenu => self.offer_events(),
            Act::Event(at) => self.at = at.min(self.views.len().saturating_sub(1)),
            Act::AskSymbol => self.ask(Question::Symbol, self.filter.symbol.clone()),
            Act::ScriptMenu => self.offer_scripts(),
            Act::AskProgram => self.ask(Question::Program, String::new()),
            Act::OrderByEvent(nth) => self.order_by_event(nth),
            Act::Relative => self.switch_relative(),
            Act::Objects => self.switch_objects(),
            Act::AskLimit => self.ask(Question::Limit, String::new()),
            Act::Help => self.show("Keys", words::HELP),
            Act::Headings => self.headings = !self.headings,
            Act::Menu => self.offer_acts(),
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

    fn toggle(&mut self, act: &Act) {
        let mut toggled = true;
        self.on_view(|view| {
            toggled = if *act == Act::ToggleRow {
                view.toggle_all_of_row()
            } else {
                view.toggle()
            };
        });
        if !toggled {
            self.tell("No call chains here");
        }
    }

    /// What the title says about the table, in so many columns: what is left out of it is said in any case.
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
        let frame = self.profile.frames.get(self.view()?.frame()?.index())?;
        let symbol = self.profile.symbols.get(frame.symbol?.index())?;
        Some((
            &symbol.name,
            &self.profile.dsos.get(symbol.dso.index())?.long,
        ))
    }

    fn annotate(&mut self) -> Option<Request> {
        let Some((symbol, object)) = self.function() else {
            self.tell("No function is known here");
            return None;
        };
        Some(Request::Annotate {
            symbol: symbol.to_owned(),
            object: object.to_owned(),
        })
    }
}

/// What a key means where rows are seen.
fn act_of(key: Key) -> Option<Act> {
    Some(match key {
        Key::Enter | Key::Right | Key::Char('m') => Act::Menu,
        Key::Escape | Key::Left => Act::ZoomOut,
        Key::Char('+') => Act::Toggle,
        Key::Char('e') => Act::ToggleRow,
        Key::Char('E') => Act::OpenAll,
        Key::Char('C') => Act::CloseAll,
        Key::Char('a') => Act::Annotate,
        Key::Char('d') => Act::ZoomObject,
        Key::Char('t') => Act::ZoomThread,
        Key::Char('k') => Act::ZoomKernel,
        Key::Char('S') => Act::ZoomSocket,
        Key::Char('F') => Act::Relative,
        Key::Char('V') => Act::Objects,
        Key::Char('r') => Act::ScriptMenu,
        Key::Char('s') => Act::Recordings,
        Key::Char(digit @ '0'..='9') => Act::OrderByEvent(digit as usize - '0' as usize),
        Key::Char('/') => Act::AskSymbol,
        Key::Char('L') => Act::AskLimit,
        Key::Char('o') => Act::SortMenu,
        Key::Char('n') => Act::Children,
        Key::Char('H') => Act::Headings,
        Key::Char('i') => Act::Header,
        Key::Char('P') => Act::Export,
        Key::Char('?' | 'h') => Act::Help,
        Key::Char('q') => Act::Quit,
        _ => return None,
    })
}
