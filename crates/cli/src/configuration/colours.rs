//! `colors.*`: the colours of the browser.

use oxperf_tui::{Colours, Hue, Palette};

use super::Configuration;

/// The browser's colours, with those of the configuration; a text that names no colours changes nothing.
pub(crate) fn palette(configuration: &Configuration) -> Palette {
    let own = |part: &str| parse(configuration.text(&format!("colors.{part}"))?);
    let usual = Palette::USUAL;
    Palette {
        top: own("top").unwrap_or(usual.top),
        medium: own("medium").unwrap_or(usual.medium),
        normal: own("normal").unwrap_or(usual.normal),
        selected: own("selected").or(usual.selected),
        root: own("root").unwrap_or(usual.root),
    }
}

/// `FOREGROUND,BACKGROUND`.
fn parse(text: &str) -> Option<Colours> {
    let (foreground, background) = text.split_once(',')?;
    Some(Colours {
        foreground: hue(foreground.trim())?,
        background: hue(background.trim())?,
    })
}

/// A colour, or the terminal's own for `default`; `None` for another word.
fn hue(name: &str) -> Option<Option<Hue>> {
    match name {
        "default" => Some(None),
        name => Hue::parse(name).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_have_two_names() {
        let text = "[colors]\ntop = white, cyan\nroot = default,pink\nselected = yellow\n";
        let found = palette(&Configuration::of_text(text));
        let top = Colours {
            foreground: Some(Hue::White),
            background: Some(Hue::Cyan),
        };
        assert_eq!(
            found,
            Palette {
                top,
                ..Palette::USUAL
            }
        );
    }
}
