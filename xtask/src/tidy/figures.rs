//! Figures of the crates' shape, with the worst ten of each: to look at, never to fail on.
//!
//! They stand in ARCHITECTURE.md beside those of other projects. A figure points at a place where a second idea may
//! hide; it is no limit.

use std::collections::BTreeMap;

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::parsed::{Parsed, tokens};

/// Number of places that are named of each figure.
const WORST: usize = 10;

/// Words that a documentation line should not begin with: the subject comes first.
const WEAK: [&str; 10] = [
    "What", "Whether", "Where", "How", "Who", "Which", "When", "Why", "That", "The same",
];

/// A function of a crate.
struct Function {
    place: String,
    lines: usize,
    tokens: usize,
    /// `self` counts, and each name in a tuple pattern.
    parameters: usize,
    has_tuple_pattern: bool,
}

/// Everything that is counted.
#[derive(Default)]
struct Figures {
    functions: Vec<Function>,
    /// Fields of each struct.
    structs: Vec<(usize, String)>,
    /// Files and lines of the inherent implementation of each type.
    implementations: BTreeMap<String, (Vec<String>, usize)>,
}

/// Prints the figures of all crates.
pub(super) fn print(files: &[Parsed]) {
    let mut figures = Figures::default();
    for file in files {
        Counter::new(file, &mut figures).visit_file(&file.syntax);
    }
    print_totals(files, &figures);
    print_functions(&figures.functions);
    let worst = |title: &str, rows: Vec<(usize, String)>| print_worst(title, rows);
    worst("structs by fields", figures.structs);
    let spread = figures.implementations.into_iter();
    let spread =
        spread.map(|(name, (files, lines))| (files.len(), format!("{name}, {lines} lines")));
    worst("inherent implementations by files", spread.collect());
    let lengths = files
        .iter()
        .map(|file| (file.lines, file.path.display().to_string()));
    worst("files by lines", lengths.collect());
    print_docs(files);
}

fn print_totals(files: &[Parsed], figures: &Figures) {
    let functions = &figures.functions;
    let sum = |of: fn(&Function) -> usize| functions.iter().map(of).sum::<usize>();
    let density =
        sum(|function| function.tokens) as f64 / sum(|function| function.lines).max(1) as f64;
    println!(
        "figure: {} files, {} functions",
        files.len(),
        functions.len()
    );
    println!(
        "figure: lines of a function: {}",
        spread(functions, |function| function.lines)
    );
    println!(
        "figure: tokens of a function: {}",
        spread(functions, |function| function.tokens)
    );
    println!("figure: tokens a line: {density:.1}");
    println!(
        "figure: parameters: {}",
        spread(functions, |function| function.parameters)
    );
    let tuples = functions
        .iter()
        .filter(|function| function.has_tuple_pattern)
        .count();
    println!("figure: functions with parameters in tuple patterns: {tuples}");
    let many = functions
        .iter()
        .filter(|function| function.parameters > 5)
        .count();
    println!("figure: functions with over 5 parameters: {many}");
}

/// Returns median, 90th and 99th percentile and maximum.
fn spread(functions: &[Function], of: fn(&Function) -> usize) -> String {
    let mut values: Vec<usize> = functions.iter().map(of).collect();
    values.sort_unstable();
    let at =
        |percent: usize| values.get((values.len() * percent / 100).min(values.len().max(1) - 1));
    let texts = [50, 90, 99, 100].map(|percent| at(percent).map_or(0, |value| *value).to_string());
    texts.join("/")
}

fn print_functions(functions: &[Function]) {
    let rows = |of: fn(&Function) -> usize| {
        let rows = functions
            .iter()
            .map(|function| (of(function), function.place.clone()));
        rows.collect::<Vec<_>>()
    };
    print_worst("functions by lines", rows(|function| function.lines));
    print_worst("functions by tokens", rows(|function| function.tokens));
    print_worst(
        "functions by parameters",
        rows(|function| function.parameters),
    );
    let tuples = functions
        .iter()
        .filter(|function| function.has_tuple_pattern);
    let tuples = tuples.map(|function| (function.parameters, function.place.clone()));
    print_worst("tuple patterns by parameters", tuples.collect());
}

fn print_worst(title: &str, mut rows: Vec<(usize, String)>) {
    rows.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    println!("figure: {title}");
    for (value, place) in rows.iter().take(WORST) {
        println!("  {value:>6}  {place}");
    }
}

fn print_docs(files: &[Parsed]) {
    let mut weak: Vec<(usize, String)> = Vec::new();
    let (mut all, mut count) = (0, 0);
    for file in files {
        all += file.docs.len();
        let here = file.docs.iter().filter(|(_, line)| is_weak(line)).count();
        count += here;
        if here > 0 {
            weak.push((here, file.path.display().to_string()));
        }
    }
    println!("figure: documentation lines that begin with a question word: {count} of {all}");
    print_worst("files by such lines", weak);
}

/// Returns true for a line that begins with a weak word.
fn is_weak(line: &str) -> bool {
    WEAK.iter().any(|word| {
        line.strip_prefix(word)
            .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}

/// Walks a file and adds to the figures.
struct Counter<'f> {
    file: &'f Parsed,
    figures: &'f mut Figures,
    in_tests: bool,
}

impl<'f> Counter<'f> {
    fn new(file: &'f Parsed, figures: &'f mut Figures) -> Counter<'f> {
        let in_tests = file.module.last().is_some_and(|name| name == "tests");
        Counter {
            file,
            figures,
            in_tests,
        }
    }

    fn function(
        &mut self,
        signature: &syn::Signature,
        whole: &dyn Spanned,
        text: proc_macro2::TokenStream,
    ) {
        let span = whole.span();
        let lines = 1 + span.end().line - span.start().line;
        let line = signature.ident.span().start().line;
        let names = signature.inputs.iter().map(names);
        let has_tuple_pattern = signature.inputs.iter().any(is_tuple);
        self.figures.functions.push(Function {
            place: format!("{}:{line} {}", self.file.path.display(), signature.ident),
            lines,
            tokens: tokens(text),
            parameters: names.sum(),
            has_tuple_pattern,
        });
    }
}

fn names(input: &syn::FnArg) -> usize {
    match input {
        syn::FnArg::Typed(typed) => match &*typed.pat {
            syn::Pat::Tuple(tuple) => tuple.elems.len(),
            _ => 1,
        },
        syn::FnArg::Receiver(_) => 1,
    }
}

fn is_tuple(input: &syn::FnArg) -> bool {
    matches!(input, syn::FnArg::Typed(typed) if matches!(&*typed.pat, syn::Pat::Tuple(_)))
}

impl<'ast> Visit<'ast> for Counter<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        // Tests are long lists on purpose.
        if module.ident != "tests" {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !self.in_tests {
            self.function(
                &function.sig,
                &function.block,
                function.block.to_token_stream(),
            );
        }
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !self.in_tests {
            self.function(
                &function.sig,
                &function.block,
                function.block.to_token_stream(),
            );
        }
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let place = format!("{} {}", self.file.path.display(), item.ident);
        self.figures.structs.push((item.fields.len(), place));
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let inherent = item.trait_.is_none() && !self.in_tests;
        if let (true, syn::Type::Path(path)) = (inherent, &*item.self_ty) {
            let name = path.path.segments.last().map(|last| last.ident.to_string());
            let name = format!("{} {}", self.file.krate, name.unwrap_or_default());
            let span = item.span();
            let (files, lines) = self.figures.implementations.entry(name).or_default();
            let file = self.file.path.display().to_string();
            if !files.contains(&file) {
                files.push(file);
            }
            *lines += 1 + span.end().line - span.start().line;
        }
        visit::visit_item_impl(self, item);
    }
}
