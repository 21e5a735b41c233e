//! The expressions of published tables: those in perf's language, and perfmon's formulas with their letters replaced.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use oxperf_metric::MetricExpression;
use serde_json::Value;

use super::Part;

/// Reads every file of metrics below `folder`.
pub(super) fn sweep(folder: &Path, part: &mut Part) -> Result<()> {
    for path in metric_files(folder)? {
        let text = fs::read(&path).with_context(|| path.display().to_string())?;
        let tree: Value = serde_json::from_slice(&text)?;
        let metrics = tree.as_array().or_else(|| tree["Metrics"].as_array());
        for metric in metrics.into_iter().flatten() {
            for expression in expressions(metric) {
                if is_perfmons_own(&expression) {
                    part.explain("perfmon's notation of instances, or its comparison `>=`, which perf's language lacks");
                    continue;
                }
                let parsed = MetricExpression::parse(&expression);
                part.compare(parsed.is_ok(), || {
                    format!("{}: {parsed:?}: {expression}", path.display())
                });
            }
        }
    }
    Ok(())
}

fn is_perfmons_own(expression: &str) -> bool {
    expression.contains('[') || expression.contains("> =")
}

fn metric_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(metric_files(&path)?);
        } else if path.to_string_lossy().contains("metrics") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn expressions(metric: &Value) -> Vec<String> {
    let text = |key: &str| metric[key].as_str().map(str::to_owned);
    let mut expressions: Vec<String> = ["MetricExpr", "MetricThreshold"]
        .into_iter()
        .filter_map(text)
        .collect();
    if let Some(formula) = text("Formula") {
        expressions.push(replaced(&formula, &names(metric)));
    }
    let threshold = &metric["Threshold"];
    if let Some(formula) = threshold["Formula"].as_str() {
        expressions.push(replaced(formula, &names(threshold)));
    }
    expressions.retain(|expression| !expression.trim().is_empty());
    expressions
}

/// What the letters of a formula stand for, in perf's language.
fn names(metric: &Value) -> HashMap<String, String> {
    let keys = [("Events", "Name"), ("ThresholdMetrics", "Value")];
    let mut names = HashMap::new();
    for (list, name) in keys {
        for item in metric[list].as_array().into_iter().flatten() {
            insert(&mut names, item, name, escaped);
        }
    }
    for item in metric["Constants"].as_array().into_iter().flatten() {
        insert(&mut names, item, "Name", |name| format!("#{name}"));
    }
    names
}

fn insert(
    names: &mut HashMap<String, String>,
    item: &Value,
    key: &str,
    make: impl Fn(&str) -> String,
) {
    if let (Some(alias), Some(name)) = (item["Alias"].as_str(), item[key].as_str()) {
        names.insert(alias.to_owned(), make(name));
    }
}

/// An event with perfmon's modifiers as a name of perf's language.
fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for character in name.chars() {
        if "-,=".contains(character) {
            escaped.push('\\');
        }
        escaped.push(
            if character.is_ascii_alphanumeric() || "_.:-,=".contains(character) {
                character
            } else {
                '_'
            },
        );
    }
    escaped
}

fn replaced(formula: &str, names: &HashMap<String, String>) -> String {
    let mut text = String::new();
    let mut word = String::new();
    for character in formula.chars().chain([' ']) {
        if character.is_ascii_alphanumeric() || character == '_' {
            word.push(character);
            continue;
        }
        text += names.get(&word).unwrap_or(&word);
        word.clear();
        text.push(character);
    }
    text
}
