//! Leaving out what is not the same as the row under the cursor.

use super::Browser;
use crate::filter::Zoom;
use crate::menu::Action;

impl Browser<'_> {
    pub(super) fn zoom(&mut self, act: &Action) {
        let row = self
            .view()
            .and_then(|view| view.table.row(view.row()? as usize));
        let keys = &self.hist.keys;
        let zoom = row.and_then(|row| match act {
            Action::ZoomThread => Zoom::thread(row, keys),
            Action::ZoomObject => Zoom::object(self.profile, row, keys),
            Action::ZoomSocket => Zoom::socket(self.profile, row, keys),
            _ => Some(Zoom::Kernel),
        });
        let Some(zoom) = zoom else {
            return self.set_message("These rows do not tell that: change the keys with o");
        };
        match self.filter.zooms.iter().position(|known| *known == zoom) {
            Some(known) => drop(self.filter.zooms.remove(known)),
            None => self.filter.zooms.push(zoom),
        }
        self.zoomed();
    }

    pub(super) fn zoom_out(&mut self) {
        match self.filter.zooms.pop() {
            Some(_) => self.zoomed(),
            None if self.views.len() > 1 => self.offer_events(),
            None => self.set_message("Press 'q' to end"),
        }
    }

    pub(super) fn zoomed(&mut self) {
        let (profile, text) = (self.profile, self.narrowed());
        self.views
            .iter_mut()
            .for_each(|view| view.lay_out(profile, &text));
        self.refilter();
    }
}
