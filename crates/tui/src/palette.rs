//! The colours of the browser, which the user may choose.

use ratatui_core::style::{Color, Style};

/// A colour of the terminal's own sixteen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Hue {
    Black,
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
    /// Dark grey.
    Gray,
    LightGray,
    White,
}

impl Hue {
    const ALL: [(&'static str, Hue, Color); 10] = [
        ("black", Hue::Black, Color::Black),
        ("red", Hue::Red, Color::Red),
        ("green", Hue::Green, Color::Green),
        ("yellow", Hue::Yellow, Color::Yellow),
        ("blue", Hue::Blue, Color::Blue),
        ("magenta", Hue::Magenta, Color::Magenta),
        ("cyan", Hue::Cyan, Color::Cyan),
        ("gray", Hue::Gray, Color::DarkGray),
        ("lightgray", Hue::LightGray, Color::Gray),
        ("white", Hue::White, Color::White),
    ];

    /// The colour of a name such as `lightgray`.
    pub fn parse(name: &str) -> Option<Hue> {
        let found = Hue::ALL.iter().find(|(own, ..)| *own == name)?;
        Some(found.1)
    }

    fn cell(self) -> Color {
        let found = Hue::ALL.iter().find(|(_, hue, _)| *hue == self);
        found.map_or(Color::Reset, |(.., color)| *color)
    }
}

/// Two colours; `None` is what the terminal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Colours {
    /// The colour of letters.
    pub foreground: Option<Hue>,
    /// The colour behind them.
    pub background: Option<Hue>,
}

impl Colours {
    const fn letters(hue: Hue) -> Colours {
        Colours {
            foreground: Some(hue),
            background: None,
        }
    }

    pub(crate) fn style(self) -> Style {
        let mut style = Style::new();
        if let Some(hue) = self.foreground {
            style = style.fg(hue.cell());
        }
        if let Some(hue) = self.background {
            style = style.bg(hue.cell());
        }
        style
    }
}

/// The colours of the parts of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Rows with a large part of all samples.
    pub top: Colours,
    /// Rows with a part that counts.
    pub medium: Colours,
    /// All other rows.
    pub normal: Colours,
    /// The row of the cursor; `None` for reverse video.
    pub selected: Option<Colours>,
    /// Titles.
    pub root: Colours,
}

impl Palette {
    /// The colours of perf.
    pub const USUAL: Palette = Palette {
        top: Colours::letters(Hue::Red),
        medium: Colours::letters(Hue::Green),
        normal: Colours {
            foreground: None,
            background: None,
        },
        selected: None,
        root: Colours {
            foreground: Some(Hue::White),
            background: Some(Hue::Blue),
        },
    };
}
