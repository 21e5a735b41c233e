//! The browser as cells of a screen.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};

use crate::browser::{Browser, Overlay};
use crate::dialog::Dialog;
use crate::lines::Line;
use crate::menu::Menu;
use crate::pager::{Pager, leading_number};
use crate::palette::Palette;
use crate::texts;
use crate::view::View;

/// From this part of all samples on, in hundredths, a row is red; from the next on green, as in perf.
const HOT_PERCENT: f64 = 5.0;
const WARM_PERCENT: f64 = 0.5;
/// Lines that are not rows: the title, the names of columns and the lowest.
const FRAME_LINES: u16 = 3;

/// The look of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Colours are used. Without them the cursor and titles are in reverse video.
    pub colour: bool,
    /// The colours.
    pub palette: Palette,
}

impl Look {
    fn title(self) -> Style {
        match self.colour {
            true => self.palette.root.style(),
            false => Style::new().add_modifier(Modifier::REVERSED),
        }
    }

    fn cursor(self) -> Style {
        match self.palette.selected {
            Some(colours) if self.colour => colours.style(),
            _ => Style::new().add_modifier(Modifier::REVERSED),
        }
    }

    fn heading(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    fn percent(self, percent: f64) -> Style {
        match percent {
            _ if !self.colour => Style::new(),
            hot if hot >= HOT_PERCENT => self.palette.top.style(),
            warm if warm >= WARM_PERCENT => self.palette.medium.style(),
            _ => self.palette.normal.style(),
        }
    }
}

/// A screen that is written line by line.
struct Screen<'b> {
    buffer: &'b mut Buffer,
    area: Rect,
    look: Look,
}

impl Screen<'_> {
    fn width(&self) -> usize {
        usize::from(self.area.width)
    }

    /// Writes a line, blank to its end; lines below the screen are not there.
    fn line(&mut self, y: u16, text: &str, style: Style) {
        if y >= self.area.height {
            return;
        }
        // What lay there before is not to shine through.
        let style = Style::reset().patch(style);
        let (x, y) = (self.area.x, self.area.y + y);
        let (end, _) = self.buffer.set_stringn(x, y, text, self.width(), style);
        for x in end..self.area.right() {
            if let Some(cell) = self.buffer.cell_mut((x, y)) {
                cell.set_symbol(" ").set_style(style);
            }
        }
    }

    fn style(&mut self, x: u16, y: u16, width: u16, style: Style) {
        let area = Rect::new(self.area.x + x, self.area.y + y, width, 1).intersection(self.area);
        self.buffer.set_style(area, style);
    }

    fn lowest(&mut self, text: &str, style: Style) {
        self.line(self.area.height.saturating_sub(1), text, style);
    }
}

impl Browser<'_> {
    /// Draws what is seen. The size of the area is the size of pages from now on.
    pub(crate) fn draw(&mut self, buffer: &mut Buffer, area: Rect, look: Look) {
        let mut screen = Screen { buffer, area, look };
        self.height = usize::from(area.height.saturating_sub(FRAME_LINES)).max(1);
        self.draw_table(&mut screen);
        let over = self.overlays.last();
        match over {
            None => {}
            Some(Overlay::Menu(menu)) => draw_menu(menu, &mut screen),
            Some(Overlay::Pager(pager)) => draw_pager(pager, &mut screen),
            Some(Overlay::Dialog(dialog)) => {
                if let Some(Overlay::Pager(pager)) = self.overlays.iter().rev().nth(1) {
                    draw_pager(pager, &mut screen);
                }
                draw_dialog(dialog, &mut screen);
            }
        }
        if !self.message.is_empty() {
            screen.lowest(&self.message, look.title());
        }
    }

    fn draw_table(&mut self, screen: &mut Screen<'_>) {
        screen.line(0, &self.title(screen.width()), screen.look.title());
        screen.lowest(texts::HINT, Style::new());
        let (left, headings, height) = (self.left, self.headings, self.height);
        let Some(view) = self.views.get_mut(self.at) else {
            return;
        };
        let mut y = 1;
        if headings {
            screen.line(y, &moved(&view.rows.heading(), left), screen.look.heading());
            y += 1;
        }
        let height = height + usize::from(!headings);
        let top = view.top(height);
        for number in top..top + height {
            let line = view.lines.get(number);
            draw_line(view, line, y, left, screen);
            if line.is_some() && number == view.cursor {
                screen.style(0, y, screen.area.width, screen.look.cursor());
            }
            y += 1;
        }
    }
}

/// Draws a line of a table without its first `left` columns.
fn draw_line(view: &View<'_>, line: Option<Line>, y: u16, left: usize, screen: &mut Screen<'_>) {
    let Some(line) = line else {
        return screen.line(y, "", Style::new());
    };
    let text = view.text(line);
    screen.line(y, &moved(&text, left), Style::new());
    if let Some(percent) = view.percent(line) {
        let end = percents_end(&text).saturating_sub(left);
        screen.style(
            0,
            y,
            u16::try_from(end).unwrap_or(u16::MAX),
            screen.look.percent(percent),
        );
    }
}

/// The end of the percentages at the beginning of a row.
fn percents_end(text: &str) -> usize {
    let numbers = text
        .bytes()
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'%' | b' ' | b'+' | b'-'));
    let length = numbers.count();
    text.get(..length)
        .and_then(|numbers| numbers.rfind('%'))
        .map_or(0, |end| end + 1)
}

/// A line without its first columns; the sign stays.
fn moved(text: &str, left: usize) -> String {
    if left == 0 {
        return text.to_owned();
    }
    let mut chars = text.chars();
    let sign = chars.next();
    sign.into_iter().chain(chars.skip(left)).collect()
}

fn draw_menu(menu: &Menu, screen: &mut Screen<'_>) {
    let height = usize::from(screen.area.height.saturating_sub(2)).max(1);
    let top = (menu.at + 1).saturating_sub(height);
    screen.line(0, &menu.title, screen.look.title());
    for (y, number) in (1..).zip(top..top + height) {
        let text = menu.items.get(number).map_or("", |(text, _)| text);
        let style = if number == menu.at {
            screen.look.cursor()
        } else {
            Style::new()
        };
        screen.line(y, &format!(" {text}"), style);
    }
    screen.lowest(texts::MENU_HINT, Style::new());
}

fn draw_pager(pager: &Pager, screen: &mut Screen<'_>) {
    let height = usize::from(screen.area.height.saturating_sub(2)).max(1);
    screen.line(0, &pager.title, screen.look.title());
    for (y, number) in (1..).zip(pager.top..pager.top + height) {
        let text: String = pager
            .lines
            .get(number)
            .map_or_else(String::new, |line| line.chars().skip(pager.left).collect());
        let found = !pager.find.is_empty() && text.contains(&pager.find);
        screen.line(
            y,
            &text,
            if found {
                screen.look.heading()
            } else {
                Style::new()
            },
        );
        if let Some(percent) = leading_number(&text) {
            let blanks = text.len() - text.trim_start().len();
            let end = text
                .trim_start()
                .find(' ')
                .map_or(text.len(), |length| blanks + length);
            screen.style(
                0,
                y,
                u16::try_from(end).unwrap_or(u16::MAX),
                screen.look.percent(percent),
            );
        }
    }
    screen.lowest(texts::PAGER_HINT, Style::new());
}

/// The last three lines but one: a question, the answer so far and where it goes on.
fn draw_dialog(dialog: &Dialog, screen: &mut Screen<'_>) {
    let bottom = screen.area.height.saturating_sub(1);
    screen.line(
        bottom.saturating_sub(2),
        dialog.question.words(),
        screen.look.title(),
    );
    let room = screen.width().saturating_sub(3);
    let hidden = dialog.text.chars().count().saturating_sub(room);
    let text: String = dialog.text.chars().skip(hidden).collect();
    screen.line(
        bottom.saturating_sub(1),
        &format!("> {text}_"),
        Style::new(),
    );
    screen.line(bottom, texts::DIALOG_HINT, Style::new());
}
