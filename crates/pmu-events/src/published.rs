//! Objects of published JSON files to events and metrics: the kernel's form, Intel perfmon's and Arm's.

mod metric;
mod number;
mod terms;
mod unit;

use crate::entry::{ScaleUnit, TableEvent};
use crate::json::{Fault, Object};
use crate::store::StoreBuilder;
use std::borrow::Cow;
use std::collections::HashMap;

/// The form of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// A list of events and metrics, as the kernel's tree has them.
    Kernel,
    /// `Events` of Intel perfmon.
    Perfmon,
    /// `events` of Arm.
    Arm,
}

/// The events by which others are described (`ArchStdEvent`), by name in lower case.
pub(crate) type StandardEvents<'t> = HashMap<String, Object<'t>>;

/// What a file says of all its objects.
pub(crate) struct FileContext<'c> {
    pub(crate) topic: &'c str,
    /// The PMU of events that name none.
    pub(crate) core: &'c str,
    pub(crate) standard: &'c StandardEvents<'c>,
}

/// Adds the event and the metric that an object describes, if it does.
pub(crate) fn add(
    object: &Object<'_>,
    form: Form,
    context: &FileContext<'_>,
    store: &mut StoreBuilder,
) -> Result<(), Fault> {
    match form {
        Form::Arm => add_arm(object, context, store),
        Form::Kernel | Form::Perfmon => {
            let fields = Fields::new(object, form, context)?;
            add_event(&fields, context, store)?;
            metric::add(&fields, context, store);
            Ok(())
        }
    }
}

/// The members of an object, with those of the standard event that it refers to where it has none itself.
struct Fields<'f> {
    object: &'f Object<'f>,
    standard: Option<&'f Object<'f>>,
    form: Form,
}

impl<'f> Fields<'f> {
    fn new(
        object: &'f Object<'f>,
        form: Form,
        context: &'f FileContext<'f>,
    ) -> Result<Fields<'f>, Fault> {
        let standard = match object.text("ArchStdEvent") {
            None => None,
            Some(name) => {
                let standard = context.standard.get(&name.to_ascii_lowercase());
                Some(standard.ok_or_else(|| {
                    fault(
                        object,
                        format!("an ArchStdEvent of the folder above, not '{name}'"),
                    )
                })?)
            }
        };
        Ok(Fields {
            object,
            standard,
            form,
        })
    }

    /// A member that says something.
    fn get(&self, name: &str) -> Option<&'f str> {
        let own = self.object.text(name);
        let text = own.or_else(|| self.standard?.text(name))?.trim();
        let is_none = text.is_empty() || self.form == Form::Perfmon && says_nothing(text);
        (!is_none).then_some(text)
    }

    fn is_set(&self, name: &str) -> bool {
        self.get(name) == Some("1")
    }

    /// The object whose members are the event's terms: that of the standard event, where there is one.
    fn described(&self) -> Fields<'f> {
        Fields {
            object: self.standard.unwrap_or(self.object),
            standard: None,
            form: self.form,
        }
    }
}

/// What perfmon writes where there is no value.
fn says_nothing(text: &str) -> bool {
    ["0", "0x0", "0x00", "na", "null", "tbd"].contains(&text.to_ascii_lowercase().as_str())
}

fn add_event(
    fields: &Fields<'_>,
    context: &FileContext<'_>,
    store: &mut StoreBuilder,
) -> Result<(), Fault> {
    let Some(published) = fields.get("EventName") else {
        return Ok(());
    };
    if terms::cannot_be_said(fields) {
        return Ok(());
    }
    let name = name_of(published, fields.form);
    let terms = terms::of_event(&name, fields)?;
    let pmu = unit::pmu_of(fields, context.core);
    let (brief, long) = descriptions(fields);
    let precise = fields.get("PEBS").or_else(|| fields.get("Precise"));
    store.event(&TableEvent {
        name: &name,
        pmu: &pmu,
        terms: &terms,
        topic: context.topic,
        deprecated: fields.is_set("Deprecated"),
        per_package: fields.is_set("PerPkg")
            || fields.form == Form::Perfmon && pmu.starts_with("uncore_"),
        counters: fields.get("Counter"),
        precise: precise.and_then(|text| text.parse().ok()),
        scale_unit: fields.get("ScaleUnit").map(|text| ScaleUnit { text }),
        compat: fields.get("Compat"),
        brief: brief.as_deref(),
        long: long.as_deref(),
    });
    Ok(())
}

/// An event's name as it is looked up. Perfmon has old names of another form.
fn name_of(published: &str, form: Form) -> String {
    let name = published.to_ascii_lowercase();
    if form == Form::Kernel {
        return name;
    }
    if let Some(rest) = name.strip_prefix("offcore_response_0") {
        return format!("offcore_response{rest}");
    }
    let parts = name.strip_prefix("offcore_response:request=");
    match parts.and_then(|parts| parts.split_once(":response=")) {
        Some((request, response)) => format!("offcore_response.{request}.{response}"),
        None => name,
    }
}

/// The short and the long description, with what lists say behind them.
fn descriptions(fields: &Fields<'_>) -> (Option<String>, Option<String>) {
    let brief = fields
        .get("BriefDescription")
        .or_else(|| fields.get("Description"));
    let long = fields
        .get("PublicDescription")
        .or_else(|| fields.get("Description"));
    let is_more = |long: &&str| brief.is_none_or(|brief| !brief.contains(*long));
    let remarks = remarks(fields, brief.unwrap_or_default());
    let whole = |text: &str| format!("{}{remarks}", without_stop(text));
    (brief.map(whole), long.filter(is_more).map(whole))
}

/// A text without the stop at its end.
fn without_stop(text: &str) -> &str {
    let text = text.trim_end();
    text.strip_suffix('.').unwrap_or(text)
}

/// What members beside the description say of an event, in perf's words.
fn remarks(fields: &Fields<'_>, brief: &str) -> String {
    let mut remarks = String::new();
    let errata = fields.get("Errata");
    if fields.get("Data_LA").is_some() {
        remarks += "  Supports address when precise";
        remarks += if errata.is_some() { "." } else { "" };
    }
    if let Some(errata) = errata {
        remarks += "  Spec update: ";
        remarks += errata;
    }
    match fields
        .get("PEBS")
        .filter(|_| !brief.contains("(Precise Event)"))
    {
        Some("2") => remarks += " (Must be precise)",
        Some(_) => remarks += " (Precise event)",
        None => {}
    }
    remarks
}

/// An event of Arm's form: `code`, `name`, `description`, `type`.
fn add_arm(
    object: &Object<'_>,
    context: &FileContext<'_>,
    store: &mut StoreBuilder,
) -> Result<(), Fault> {
    let Some(name) = object.text("name") else {
        return Ok(());
    };
    let code = object.text("code").and_then(number::parse);
    let code = code.ok_or_else(|| fault(object, "a number as code"))?;
    let topic = object.text("type").unwrap_or(context.topic);
    store.event(&TableEvent {
        name: &name.to_ascii_lowercase(),
        pmu: context.core,
        terms: &format!("event={}", number::shown(code)),
        topic: &topic.to_ascii_lowercase(),
        deprecated: false,
        per_package: false,
        counters: None,
        precise: None,
        scale_unit: None,
        compat: None,
        brief: object.text("description").map(without_stop),
        long: None,
    });
    Ok(())
}

fn fault(object: &Object<'_>, expected: impl Into<Cow<'static, str>>) -> Fault {
    Fault {
        offset: object.offset,
        expected: expected.into(),
    }
}

#[cfg(test)]
mod tests;
