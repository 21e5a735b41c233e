//! A browser on a real terminal: its keys, its size, and the state it had before.

use std::io::{self, Write};
use std::panic;
use std::time::Duration;

use oxperf_present::text::sanitize;
use oxperf_sys::{PollSet, Signal, SignalWatch};
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::cursor::{Hide, Show};
use ratatui_crossterm::crossterm::event::{self, Event};
use ratatui_crossterm::crossterm::execute;
use ratatui_crossterm::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use crate::browser::{Browser, Request};
use crate::draw::Look;
use crate::key::Key;

/// The longest time that a change of the terminal's size waits.
const PATIENCE: Duration = Duration::from_millis(200);

/// The program around a browser: it does what a browser cannot do by itself. Errors are sentences for the user.
pub trait BrowserHost {
    /// The code of a function with what its instructions cost, as text.
    ///
    /// # Errors
    ///
    /// The reason why there is none.
    fn annotate(&mut self, symbol: &str, object: &str) -> Result<String, String>;

    /// The header of the recording, as text.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be read.
    fn header(&mut self) -> Result<String, String>;

    /// Writes a text to a new file and gives its name.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be written.
    fn export(&mut self, text: &str) -> Result<String, String>;

    /// Samples as text, as far as they can be looked through; `which` are options of `script`.
    ///
    /// # Errors
    ///
    /// The reason why there are none.
    fn samples(&mut self, which: &[String]) -> Result<String, String>;

    /// The output of a program that reads all samples.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be run.
    fn run_program(&mut self, program: &str) -> Result<String, String>;

    /// The names of other recordings that can be shown.
    fn recordings(&mut self) -> Vec<String>;
}

/// The reason why a browser ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExitReason {
    /// The user wanted it.
    Asked,
    /// The user wanted to see this recording instead.
    Switch(String),
    /// A signal came.
    Signal(Signal),
}

/// Shows a browser on the terminal behind `out` until it is to end. Keys come from the process's terminal.
///
/// The terminal is given back as it was, also when the program panics or is ended by a signal.
///
/// # Errors
///
/// Errors of the terminal.
pub fn run(
    browser: &mut Browser<'_>,
    host: &mut dyn BrowserHost,
    out: impl Write,
    look: Look,
) -> io::Result<ExitReason> {
    // A hangup is left to do what it does by itself: there is no terminal to give back.
    let signals = SignalWatch::install(&[Signal::Interrupt, Signal::Terminate]).ok();
    let mut waiting = PollSet::new();
    let input = waiting.add(io::stdin());
    if let Some(signals) = &signals {
        waiting.add(signals);
    }
    let mut screen = Screen::take(out)?;
    screen.show(browser, look)?;
    loop {
        waiting.wait(Some(PATIENCE))?;
        let arrived = signals
            .as_ref()
            .and_then(|signals| signals.take().iter().next());
        if let Some(signal) = arrived {
            return Ok(ExitReason::Signal(signal));
        }
        // Where nobody sits at the other end any more, reading keys would never end.
        let input = waiting.readiness(input);
        if input.hung_up || input.failed || input.closed {
            return Ok(ExitReason::Signal(Signal::Hangup));
        }
        // Keys that came together were read together: nothing more of them is to be waited for.
        while event::poll(Duration::ZERO)? {
            let key = match event::read()? {
                Event::Key(key) => Key::of_event(key),
                _ => None,
            };
            match key.and_then(|key| press(browser, key, &mut screen)) {
                None => {}
                Some(Request::Quit) => return Ok(ExitReason::Asked),
                Some(Request::Switch(name)) => return Ok(ExitReason::Switch(name)),
                Some(request) => {
                    browser.set_message("Working ...");
                    screen.show(browser, look)?;
                    browser.set_message("");
                    serve(browser, host, &request);
                }
            }
            screen.show(browser, look)?;
        }
    }
}

/// Passes a key on, but for the one that is the terminal's own.
fn press<W: Write>(browser: &mut Browser<'_>, key: Key, screen: &mut Screen<W>) -> Option<Request> {
    if key != Key::Redraw {
        return browser.press(key);
    }
    screen.forget();
    None
}

/// Does what a browser asks for.
fn serve(browser: &mut Browser<'_>, host: &mut dyn BrowserHost, request: &Request) {
    match request {
        Request::Quit | Request::Switch(_) => {}
        Request::Recordings => browser.offer_recordings(host.recordings()),
        Request::Samples { which } => match host.samples(which) {
            Ok(text) => browser.show("Samples", &text),
            Err(why) => browser.set_message(&why),
        },
        Request::Program(program) => match host.run_program(program) {
            Ok(text) => browser.show(&sanitize(program), &text),
            Err(why) => browser.set_message(&why),
        },
        Request::Annotate { symbol, object } => match host.annotate(symbol, object) {
            Ok(text) => browser.show_code(&sanitize(symbol), &text),
            Err(why) => browser.set_message(&why),
        },
        Request::Header => match host.header() {
            Ok(text) => browser.show("Header", &text),
            Err(why) => browser.set_message(&why),
        },
        Request::Export(text) => {
            let message = host
                .export(text)
                .map_or_else(|why| why, |name| format!("{name} written"));
            browser.set_message(&message);
        }
    }
}

/// The terminal while it is ours.
struct Screen<W: Write> {
    terminal: Terminal<CrosstermBackend<W>>,
}

impl<W: Write> Screen<W> {
    fn take(mut out: W) -> io::Result<Screen<W>> {
        give_back_on_panic();
        enable_raw_mode()?;
        let entered = execute!(out, EnterAlternateScreen, Hide)
            .and_then(|()| Terminal::new(CrosstermBackend::new(out)));
        match entered {
            Ok(terminal) => Ok(Screen { terminal }),
            Err(error) => {
                give_back(&mut io::stdout());
                Err(error)
            }
        }
    }

    /// Draws everything anew next time: something else has written to the terminal.
    fn forget(&mut self) {
        // Where that fails the next drawing does, too, and reports it.
        let _ = self.terminal.clear();
    }

    fn show(&mut self, browser: &mut Browser<'_>, look: Look) -> io::Result<()> {
        self.terminal.draw(|frame| {
            let area = frame.area();
            browser.draw(frame.buffer_mut(), area, look);
        })?;
        Ok(())
    }
}

impl<W: Write> Drop for Screen<W> {
    fn drop(&mut self) {
        // A panic has given it back already; once more would put the cursor over what it said.
        if !std::thread::panicking() {
            give_back(self.terminal.backend_mut());
        }
    }
}

/// Leaves the terminal as it was. Nothing can be done where that fails.
fn give_back(out: &mut impl Write) {
    let _ = execute!(out, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

/// A panic's message is to be read: the terminal comes back before it is written.
fn give_back_on_panic() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |what| {
        give_back(&mut io::stdout());
        before(what);
    }));
}
