//! `query`: SQL over recordings and their tables. Its engine is in a program of its own, which this one becomes; what needs
//! no engine is printed here.

mod arguments;
mod engine;
mod shown;
mod without_engine;

use std::io::{self, IsTerminal};

use super::Entry;
use crate::arguments::Invocation;
use crate::environment;
use crate::failure::{Failure, code};
use crate::output::print_line;
use crate::sql::SqlRequest;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "query",
    command: arguments::command,
    run: |matches, invocation| {
        if let Some(text) = arguments::shown(matches) {
            print_line(text.trim_end())?;
            return Ok(code::SUCCESS);
        }
        let request = arguments::options(matches, &invocation.configuration);
        answer(request, invocation)
    },
    shares_work: true,
};

/// Hands the question to the engine of this program, else becomes the program that has one.
fn answer(request: SqlRequest, invocation: &Invocation) -> Result<i32, Failure> {
    if request.format.is_binary() && request.output.is_none() && io::stdout().is_terminal() {
        return Err(Failure::bad_option(
            "the result is not text: name a file with -o FILE",
        ));
    }
    let Some(engine) = invocation.engine else {
        let Some(program) = engine::find() else {
            return Err(without_engine::refusal(&invocation.program, &request));
        };
        return Err(engine::become_it(&program));
    };
    let sql = match request.sql {
        None if !environment::is_interactive() => Some(io::read_to_string(io::stdin().lock())?),
        sql => sql,
    };
    engine.answer(&SqlRequest { sql, ..request })?;
    Ok(code::SUCCESS)
}
