//! Menus and questions of the browser.

use oxperf_analysis::hist::SortKey;
use oxperf_present::text::sanitize;

use super::{Browser, Overlay, Request};
use crate::dialog::{Dialog, Question};
use crate::filter::Zoom;
use crate::menu::{Action, Menu};

/// Keys of rows that are offered.
const SORTS: [&str; 7] = [
    "comm,dso,sym",
    "dso,sym",
    "sym",
    "dso",
    "comm",
    "pid,sym",
    "pid,dso,sym",
];

impl Browser<'_> {
    pub(super) fn ask(&mut self, question: Question, text: String) {
        self.overlays
            .push(Overlay::Dialog(Dialog { question, text }));
    }

    pub(super) fn answer(&mut self, dialog: Dialog) -> Option<Request> {
        let text = dialog.text;
        match dialog.question {
            Question::Symbol => self.filter_symbols(&text),
            Question::Sort => self.sort(&text),
            Question::Limit => match text.trim().trim_end_matches('%').parse::<f64>() {
                Ok(limit) if (0.0..=100.0).contains(&limit) => {
                    self.filter.min_percent = limit;
                    self.refilter();
                }
                _ => self.set_message("A percentage is a number from 0 to 100"),
            },
            Question::Program => return Some(Request::Program(text)),
            Question::Find => {
                if let Some(Overlay::Pager(pager)) = self.overlays.last_mut() {
                    pager.find = text;
                    pager.find_next();
                }
            }
        }
        None
    }

    pub(super) fn offer(&mut self, title: &str, items: Vec<(String, Action)>) {
        self.overlays.push(Overlay::Menu(Menu::new(title, items)));
    }

    pub(super) fn offer_events(&mut self) {
        let items = self.views.iter().enumerate();
        let items = items
            .map(|(at, view)| (view.rows.about().to_owned(), Action::Event(at)))
            .collect();
        let mut menu = Menu::new("Available samples", items);
        menu.at = self.at;
        self.overlays.push(Overlay::Menu(menu));
    }

    pub(super) fn offer_sorts(&mut self) {
        let mut items: Vec<(String, Action)> = SORTS
            .iter()
            .map(|keys| ((*keys).to_owned(), Action::Sort((*keys).to_owned())))
            .collect();
        items.push(("Other keys ...".to_owned(), Action::AskSort));
        self.offer("Tell rows apart by", items);
    }

    pub(super) fn offer_actions(&mut self) {
        let mut items = Vec::new();
        let mut add = |text: String, act| items.push((text, act));
        if let Some((symbol, _)) = self.function() {
            add(format!("Annotate {}", sanitize(symbol)), Action::Annotate);
        }
        let row = self
            .view()
            .and_then(|view| view.table.row(view.row()? as usize));
        if let Some(row) = row {
            let zooms = [
                (Zoom::thread(row, &self.hist.keys), Action::ZoomThread),
                (
                    Zoom::object(self.profile, row, &self.hist.keys),
                    Action::ZoomObject,
                ),
                (
                    Zoom::socket(self.profile, row, &self.hist.keys),
                    Action::ZoomSocket,
                ),
            ];
            for (zoom, act) in zooms {
                let Some(zoom) = zoom else { continue };
                let way = if self.filter.zooms.contains(&zoom) {
                    "out of"
                } else {
                    "into"
                };
                add(format!("Zoom {way} {}", zoom.text(self.profile)), act);
            }
            add("Open or close the call chain".to_owned(), Action::Toggle);
        }
        add("Tell rows apart by ...".to_owned(), Action::SortMenu);
        if self.views.len() > 1 {
            add("Another event".to_owned(), Action::EventMenu);
        }
        add("Samples and scripts ...".to_owned(), Action::ScriptMenu);
        add(
            "Another recording in this folder".to_owned(),
            Action::Recordings,
        );
        add("Header of the recording".to_owned(), Action::Header);
        add("End".to_owned(), Action::Quit);
        self.offer("What to do", items);
    }

    /// Offers to show single samples, and to run a program over them.
    pub(super) fn offer_scripts(&mut self) {
        let mut items = Vec::new();
        let row = self
            .view()
            .and_then(|view| view.table.row(view.row()? as usize));
        let comm = row.and_then(|row| self.profile.comms.get(row.comm.index()));
        if let Some(comm) = comm.filter(|_| self.text.keys().any(|key| key == SortKey::Comm)) {
            let act = Action::Samples(vec![format!("--comms={comm}")]);
            items.push((format!("Samples of threads named {}", sanitize(comm)), act));
        }
        if let Some((symbol, _)) = self.function() {
            let act = Action::Samples(vec![format!("--symbols={symbol}")]);
            items.push((format!("Samples in {}", sanitize(symbol)), act));
        }
        items.push(("All samples".to_owned(), Action::Samples(Vec::new())));
        items.push((
            "Run a program over the samples ...".to_owned(),
            Action::AskProgram,
        ));
        self.offer("Samples and scripts", items);
    }

    /// Offers other recordings, by the names of their files.
    pub(crate) fn offer_recordings(&mut self, names: Vec<String>) {
        if names.is_empty() {
            return self.set_message("There is no other recording in this folder");
        }
        let items = names
            .into_iter()
            .map(|name| (sanitize(&name).into_owned(), Action::Recording(name)));
        let items = items.collect();
        self.offer("Recordings in this folder", items);
    }
}
