//! What is seen, and what keys do to it.

use oxperf_analysis::hist::{HistOptions, SortKey, histograms};
use oxperf_analysis::profile::Profile;
use oxperf_present::report::ReportText;
use oxperf_present::visible::visible;

use crate::dialog::{Answer, Dialog, Question};
use crate::filter::{Filter, Zoom};
use crate::key::Key;
use crate::menu::{Act, Chosen, Menu};
use crate::pager::{Paged, Pager};
use crate::view::View;
use crate::words;

/// Columns that rows move sideways.
const SIDEWAYS: usize = 8;
/// Ways to tell rows apart that are offered.
const SORTS: [&str; 7] = ["comm,dso,sym", "dso,sym", "sym", "dso", "comm", "pid,sym", "pid,dso,sym"];

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
        let filter = Filter { min_percent: text.min_percent, ..Filter::default() };
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
        self.message = visible(sentence).into_owned();
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
            Answer::Given => self.answer(dialog),
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
            Key::Char('>') => self.left = self.left.saturating_add(SIDEWAYS).min(usize::from(u16::MAX)),
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
            Act::ZoomThread | Act::ZoomObject | Act::ZoomKernel => self.zoom(&act),
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
            toggled = if *act == Act::ToggleRow { view.toggle_all_of_row() } else { view.toggle() };
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

    // --- Counting anew ---

    fn count(&mut self) {
        let text = self.narrowed();
        let tables = histograms(self.profile, &self.hist);
        let (profile, filter) = (self.profile, &self.filter);
        self.views = tables.into_iter().map(|table| View::new(profile, table, &text, filter)).collect();
        self.at = self.at.min(self.views.len().saturating_sub(1));
    }

    /// The columns without those that a zoom tells, unless none would be left.
    fn narrowed(&self) -> ReportText {
        let told: Vec<SortKey> = self.filter.zooms.iter().filter_map(|zoom| zoom.told_key()).collect();
        let keys: Vec<SortKey> = self.text.keys().filter(|key| !told.contains(key)).collect();
        if keys.is_empty() { self.text.clone() } else { self.text.clone().with_keys(keys) }
    }

    fn refilter(&mut self) {
        let (profile, filter) = (self.profile, &self.filter);
        self.views.iter_mut().for_each(|view| view.filter(profile, filter));
    }

    fn switch_children(&mut self) {
        if !self.profile.events.iter().any(|event| event.has_callchains) {
            return self.tell("The recording has no call chains");
        }
        self.hist.children = !self.hist.children;
        self.hist.order_by.clear();
        self.text = std::mem::take(&mut self.text).with_children(self.hist.children);
        self.count();
        self.tell(if self.hist.children {
            "What functions called counts"
        } else {
            "Only what ran in functions counts"
        });
    }

    fn sort(&mut self, names: &str) {
        let words: Vec<&str> = names.split([',', ' ']).filter(|name| !name.is_empty()).collect();
        let keys: Option<Vec<SortKey>> = words.iter().map(|name| SortKey::parse(name)).collect();
        let known = |key: &SortKey| {
            let always = [SortKey::Comm, SortKey::Dso, SortKey::Symbol, SortKey::Thread, SortKey::Process];
            always.contains(key) || self.text.keys().any(|known| known == *key)
        };
        match keys {
            Some(keys) if !keys.is_empty() && keys.iter().all(known) => {
                self.hist.keys.clone_from(&keys);
                self.hist.order_by.clear();
                self.text = std::mem::take(&mut self.text).with_keys(keys);
                self.filter.zooms.clear();
                self.count();
            }
            _ => self.tell(&format!("Rows cannot be told apart by '{names}' here: start with -s {names}")),
        }
    }

    // --- Zooming ---

    fn zoom(&mut self, act: &Act) {
        let row = self.view().and_then(|view| view.table.rows().get(view.row()? as usize));
        let keys = &self.hist.keys;
        let zoom = row.and_then(|row| match act {
            Act::ZoomThread => Zoom::thread(row, keys),
            Act::ZoomObject => Zoom::object(self.profile, row, keys),
            _ => Some(Zoom::Kernel),
        });
        let Some(zoom) = zoom else {
            return self.tell("These rows do not tell that: change the keys with o");
        };
        match self.filter.zooms.iter().position(|known| *known == zoom) {
            Some(known) => drop(self.filter.zooms.remove(known)),
            None => self.filter.zooms.push(zoom),
        }
        self.zoomed();
    }

    fn zoom_out(&mut self) {
        match self.filter.zooms.pop() {
            Some(_) => self.zoomed(),
            None if self.views.len() > 1 => self.offer_events(),
            None => self.tell("Press 'q' to end"),
        }
    }

    fn zoomed(&mut self) {
        let (profile, text) = (self.profile, self.narrowed());
        self.views.iter_mut().for_each(|view| view.lay_out(profile, &text));
        self.refilter();
    }

    // --- Menus and questions ---

    fn ask(&mut self, question: Question, text: String) {
        self.over.push(Over::Dialog(Dialog { question, text }));
    }

    fn answer(&mut self, dialog: Dialog) {
        let text = dialog.text;
        match dialog.question {
            Question::Symbol => self.filter_symbols(&text),
            Question::Sort => self.sort(&text),
            Question::Limit => match text.trim().trim_end_matches('%').parse::<f64>() {
                Ok(limit) if (0.0..=100.0).contains(&limit) => {
                    self.filter.min_percent = limit;
                    self.refilter();
                }
                _ => self.tell("A percentage is a number from 0 to 100"),
            },
            Question::Find => {
                if let Some(Over::Pager(pager)) = self.over.last_mut() {
                    pager.find = text;
                    pager.find_next();
                }
            }
        }
    }

    fn offer(&mut self, title: &str, items: Vec<(String, Act)>) {
        self.over.push(Over::Menu(Menu::new(title, items)));
    }

    fn offer_events(&mut self) {
        let items = self.views.iter().enumerate();
        let items = items.map(|(at, view)| (view.rows.about().to_owned(), Act::Event(at))).collect();
        let mut menu = Menu::new("Available samples", items);
        menu.at = self.at;
        self.over.push(Over::Menu(menu));
    }

    fn offer_sorts(&mut self) {
        let mut items: Vec<(String, Act)> =
            SORTS.iter().map(|keys| ((*keys).to_owned(), Act::Sort((*keys).to_owned()))).collect();
        items.push(("Other keys ...".to_owned(), Act::AskSort));
        self.offer("Tell rows apart by", items);
    }

    fn offer_acts(&mut self) {
        let mut items = Vec::new();
        let mut add = |text: String, act| items.push((text, act));
        if let Some((symbol, _)) = self.function() {
            add(format!("Annotate {}", visible(symbol)), Act::Annotate);
        }
        let row = self.view().and_then(|view| view.table.rows().get(view.row()? as usize));
        if let Some(row) = row {
            let zooms = [
                (Zoom::thread(row, &self.hist.keys), Act::ZoomThread),
                (Zoom::object(self.profile, row, &self.hist.keys), Act::ZoomObject),
            ];
            for (zoom, act) in zooms {
                let Some(zoom) = zoom else { continue };
                let way = if self.filter.zooms.contains(&zoom) { "out of" } else { "into" };
                add(format!("Zoom {way} {}", zoom.text(self.profile)), act);
            }
            add("Open or close the call chain".to_owned(), Act::Toggle);
        }
        add("Tell rows apart by ...".to_owned(), Act::SortMenu);
        if self.views.len() > 1 {
            add("Another event".to_owned(), Act::EventMenu);
        }
        add("Header of the recording".to_owned(), Act::Header);
        add("End".to_owned(), Act::Quit);
        self.offer("What to do", items);
    }

    // --- Functions ---

    /// The function of the line under the cursor, and its object.
    fn function(&self) -> Option<(&'p str, &'p str)> {
        let frame = self.profile.frames.get(self.view()?.frame()?.index())?;
        let symbol = self.profile.symbols.get(frame.symbol?.index())?;
        Some((&symbol.name, &self.profile.dsos.get(symbol.dso.index())?.long))
    }

    fn annotate(&mut self) -> Option<Request> {
        let Some((symbol, object)) = self.function() else {
            self.tell("No function is known here");
            return None;
        };
        Some(Request::Annotate { symbol: symbol.to_owned(), object: object.to_owned() })
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
