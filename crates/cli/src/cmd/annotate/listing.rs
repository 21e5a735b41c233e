//! The listings of functions, one below the other.

use std::collections::HashSet;

use oxperf_present::annotate::{Annotated, CompactTitle, SourceLines, annotate, compact};
use oxperf_profile::Profile;

use super::functions::{Function, functions};
use super::options::AnnotateOptions;
use super::statistics::Counted;
use crate::disasm_source::{Code, Sources};
use crate::failure::Failure;
use crate::output::{Output, print_error};

/// Writes the functions of each table of a profile; `frequencies` are those of the recording's events.
pub(super) fn write_functions(
    output: &mut Output,
    options: &AnnotateOptions,
    profile: &Profile,
    sources: &mut Sources<'_>,
    frequencies: &[u64],
) -> Result<(), Failure> {
    let mut refused = HashSet::new();
    for functions in functions(profile, options) {
        // Types that stand beside code are not counted.
        Counted::default().write(output, options.statistics)?;
        for function in functions {
            match sources.code(&function.object.long, function.symbol, options.syntax) {
                Ok(code) => {
                    let listing = FunctionListing {
                        options,
                        function: &function,
                        code: &code,
                    };
                    listing.write(output, frequencies)?;
                }
                Err(why) => complain(&function, &why, &mut refused, options.skip_missing),
            }
        }
    }
    Ok(())
}

/// A function with its code.
struct FunctionListing<'a> {
    options: &'a AnnotateOptions,
    function: &'a Function<'a>,
    code: &'a Code,
}

impl FunctionListing<'_> {
    fn write(&self, output: &mut Output, frequencies: &[u64]) -> Result<(), Failure> {
        let FunctionListing {
            options,
            function,
            code,
        } = *self;
        let [long, short] = &code.object_names(function.object);
        let source_line = |address| {
            let known = code.source_line(address, options.full_paths);
            Some(known.unwrap_or_else(|| format!("{short}[{address:x}]")))
        };
        let shown = Annotated {
            object: if options.full_paths { long } else { short },
            source_lines: options.print_lines.then_some(SourceLines {
                object: long,
                of: &source_line,
            }),
            group: function.group,
            costs: function.costs(|address| code.virtual_address(address)),
            listing: &code.listing,
            callees: &|address| code.function_at(address),
            data: &code.data,
        };
        if !options.compact {
            return Ok(annotate(output, &shown, &options.text)?);
        }
        let counted = function.counted();
        let title = CompactTitle {
            function: &function.symbol.name,
            object: long,
            samples: counted.samples,
            period: counted.period,
            frequency: function
                .leader()
                .and_then(|event| frequencies.get(event))
                .copied()
                .unwrap_or(0),
            several: shown.costs.len() > 1,
        };
        let blocks = function.blocks();
        let pace = (!blocks.is_empty()).then(|| code.pace(blocks));
        Ok(compact(
            output,
            &shown,
            &title,
            pace.as_ref(),
            &options.text,
        )?)
    }
}

/// Says once for each object why its functions cannot be shown; `objects` are those it was said of.
fn complain(function: &Function<'_>, why: &str, objects: &mut HashSet<String>, quiet: bool) {
    if !quiet && objects.insert(function.object.long.clone()) {
        print_error(&format!(
            "Error:\nCouldn't annotate {}:\n{why}\n",
            function.symbol.name
        ));
    }
}
