//! The terms of an event, from the members of its object.

use super::number::{first, in_its_base, parse, shown};
use super::unit::is_free_running;
use super::{Fields, Form, fault};
use crate::json::Fault;

/// Events whose published encoding is that of a fixed counter, which the kernel takes by another one.
const FIXED: [(&str, &str); 6] = [
    ("inst_retired.any", "event=0xc0,period=2000003"),
    ("inst_retired.any_p", "event=0xc0,period=2000003"),
    (
        "cpu_clk_unhalted.ref",
        "event=0x0,umask=0x03,period=2000003",
    ),
    ("cpu_clk_unhalted.thread", "event=0x3c,period=2000003"),
    ("cpu_clk_unhalted.core", "event=0x3c,period=2000003"),
    (
        "cpu_clk_unhalted.thread_any",
        "event=0x3c,any=1,period=2000003",
    ),
];

/// Members that are a term each, in the order of the terms; those that are 0 are left out.
const BEFORE_UMASK: [(&str, &str); 7] = [
    ("AnyThread", "any"),
    ("PortMask", "ch_mask"),
    ("CounterMask", "cmask"),
    ("EdgeDetect", "edge"),
    ("FCMask", "fc_mask"),
    ("Invert", "inv"),
    ("SampleAfterValue", "period"),
];
const BEHIND_UMASK: [(&str, &str); 6] = [
    ("NodeType", "type"),
    ("RdWrMask", "rdwrmask"),
    ("EnAllCores", "enallcores"),
    ("EnAllSlices", "enallslices"),
    ("SliceId", "sliceid"),
    ("ThreadMask", "threadmask"),
];

/// Filters of perfmon that other members say, or that nothing says.
const KNOWN_FILTERS: [&str; 8] = [
    "cbofilter",
    "chafilter",
    "pcufilter",
    "qpimask",
    "uboxfilter",
    "fc, chnl",
    "chnl",
    "ctrctrl",
];

/// Filters of perfmon without which an event would count something else.
const UNKNOWN_FILTERS: [&str; 3] = ["irpfilter", "ha_addrmatch", "ha_opcodematch"];

/// Returns whether an event needs a filter that cannot be said in terms.
pub(super) fn cannot_be_said(fields: &Fields<'_>) -> bool {
    let filter = fields
        .get("Filter")
        .unwrap_or_default()
        .to_ascii_lowercase();
    UNKNOWN_FILTERS
        .iter()
        .any(|unknown| filter.starts_with(unknown))
}

/// The terms of the event with this name in lower case.
pub(super) fn of_event(name: &str, fields: &Fields<'_>) -> Result<String, Fault> {
    if let Some((_, terms)) = FIXED.iter().find(|(fixed, _)| *fixed == name) {
        return Ok((*terms).to_owned());
    }
    let described = &fields.described();
    let mut terms = vec![code(described)?];
    terms.extend(plain(described, &BEFORE_UMASK)?);
    terms.extend(umask(described)?);
    terms.extend(extended_masks(described)?);
    terms.extend(plain(described, &BEHIND_UMASK)?);
    terms.extend(filter(described)?);
    terms.extend(register(described)?);
    Ok(terms.join(","))
}

/// A member's number.
fn number(fields: &Fields<'_>, name: &str) -> Result<Option<u64>, Fault> {
    let text = fields.get(name);
    text.map(|text| first(text).ok_or_else(|| wrong(fields, name, text)))
        .transpose()
}

fn wrong(fields: &Fields<'_>, name: &str, text: &str) -> Fault {
    let shown: String = text
        .chars()
        .filter(|char| !char.is_control())
        .take(40)
        .collect();
    fault(fields.object, format!("a number as {name}, not '{shown}'"))
}

/// `event=0xc0`, or another word that says which event it is.
fn code(fields: &Fields<'_>) -> Result<String, Fault> {
    const OTHERS: [(&str, &str); 4] = [
        ("ConfigCode", "config"),
        ("EventidCode", "eventid"),
        ("LegacyConfigCode", "legacy-hardware-config"),
        ("LegacyCacheCode", "legacy-cache-config"),
    ];
    for (name, term) in OTHERS {
        if let Some(code) = number(fields, name)? {
            return Ok(format!("{term}={}", shown(code)));
        }
    }
    if has_fixed_code(fields) {
        return Ok("event=0xff".to_owned());
    }
    let event = number(fields, "EventCode")?.unwrap_or_default();
    let extension = number(fields, "ExtSel")?.unwrap_or_default();
    let code = event | (extension & 0xff) << 8;
    Ok(format!("event={}", shown(code)))
}

/// Returns whether perfmon means a counter that counts one thing: 0xff is its code.
fn has_fixed_code(fields: &Fields<'_>) -> bool {
    let counter = fields.get("Counter").unwrap_or_default();
    let is_fixed = fields.get("Unit").is_some() && counter.eq_ignore_ascii_case("fixed");
    fields.form == Form::Perfmon && (is_fixed || is_free_running(fields))
}

fn plain(fields: &Fields<'_>, members: &[(&str, &str)]) -> Result<Vec<String>, Fault> {
    let mut terms = Vec::new();
    for (name, term) in members {
        if let Some(text) = fields.get(name) {
            let value = in_its_base(text).ok_or_else(|| wrong(fields, name, text))?;
            if parse(&value) != Some(0) {
                terms.push(format!("{term}={value}"));
            }
        }
    }
    Ok(terms)
}

/// The umask with its extension above its eight bits.
fn umask(fields: &Fields<'_>) -> Result<Option<String>, Fault> {
    if has_fixed_code(fields) {
        return Ok(
            is_free_running(fields).then(|| format!("umask={}", shown(free_running_umask(fields))))
        );
    }
    let own = number(fields, "UMask")?.unwrap_or_default();
    let extension = number(fields, "UMaskExt")?.filter(|_| !extends_masks(fields));
    let extension = extension.unwrap_or_default();
    let umask = own | extension.checked_shl(8).unwrap_or_default();
    Ok((umask != 0).then(|| format!("umask={}", shown(umask))))
}

/// Returns whether `UMaskExt` holds the two masks that are terms of their own, as perfmon has it for this unit.
fn extends_masks(fields: &Fields<'_>) -> bool {
    fields.form == Form::Perfmon && fields.get("Unit") == Some("IIO")
}

/// The masks of `UMaskExt` that no member of their own says.
fn extended_masks(fields: &Fields<'_>) -> Result<Vec<String>, Fault> {
    let extension = number(fields, "UMaskExt")?.filter(|_| extends_masks(fields));
    let extension = extension.unwrap_or_default();
    let masks = [
        ("PortMask", "ch_mask", extension >> 4 & 0xfff),
        ("FCMask", "fc_mask", extension >> 16 & 7),
    ];
    let unsaid = masks
        .into_iter()
        .filter(|(member, _, mask)| *mask != 0 && fields.get(member).is_none());
    Ok(unsaid
        .map(|(_, term, mask)| format!("{term}={}", shown(mask)))
        .collect())
}

/// Kind and number of a counter that always counts, as the kernel numbers them.
fn free_running_umask(fields: &Fields<'_>) -> u64 {
    const KINDS: [(&str, u64); 6] = [
        ("CLOCKTICKS", 1),
        ("TOTAL", 1),
        ("RDCAS", 2),
        ("BANDWIDTH_IN", 2),
        ("WRCAS", 3),
        ("BANDWIDTH_OUT", 3),
    ];
    let name = fields.get("EventName").unwrap_or_default();
    let kind = KINDS.iter().find(|(part, _)| name.contains(part));
    let part = name.split_once("PART").map_or("", |(_, part)| part);
    let digits = part.bytes().take_while(u8::is_ascii_digit).count();
    let index: u64 = part[..digits].parse().unwrap_or_default();
    kind.map_or(0, |(_, kind)| kind << 4) | index & 0xf
}

/// The filter, which is a text of terms.
fn filter(fields: &Fields<'_>) -> Result<Option<String>, Fault> {
    let Some(filter) = fields.get("Filter") else {
        return Ok(None);
    };
    if fields.form == Form::Perfmon {
        let lower = filter.to_ascii_lowercase();
        if filter == "Filter1" {
            let value = fields.get("FILTER_VALUE");
            return Ok(value.map(|value| format!("config1={value}")));
        }
        if KNOWN_FILTERS.iter().any(|known| lower.starts_with(known)) {
            return Ok(None);
        }
    }
    let is_of_terms = |byte: u8| byte.is_ascii_alphanumeric() || b"_=,.-".contains(&byte);
    if filter.bytes().all(is_of_terms) {
        Ok(Some(filter.to_owned()))
    } else {
        Err(fault(fields.object, "terms as Filter"))
    }
}

/// The value of a model-specific register that belongs to the event.
fn register(fields: &Fields<'_>) -> Result<Option<String>, Fault> {
    const REGISTERS: [(u64, &str); 8] = [
        (0x3f6, "ldlat"),
        (0x1a6, "offcore_rsp"),
        (0x1a7, "offcore_rsp"),
        (0x3f7, "frontend"),
        (0x3e0, "offcore_rsp"),
        (0x3e1, "offcore_rsp"),
        (0x3e2, "offcore_rsp"),
        (0x3e3, "offcore_rsp"),
    ];
    let index = number(fields, "MSRIndex")?.filter(|index| *index != 0);
    let Some(index) = index else {
        return Ok(None);
    };
    let register = REGISTERS.iter().find(|(known, _)| *known == index);
    let (_, term) = register.ok_or_else(|| fault(fields.object, "a known MSRIndex"))?;
    // Perfmon writes 0 as no value.
    let value = fields.get("MSRValue").unwrap_or("0x0");
    match parse(value) {
        Some(_) => Ok(Some(format!("{term}={value}"))),
        None => Err(wrong(fields, "MSRValue", value)),
    }
}
