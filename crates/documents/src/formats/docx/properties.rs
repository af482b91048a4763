//! Properties of runs, cells and form fields that decide what of them is shown.

use crate::formats::xml;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Why a run is invisible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unshown {
    Hidden,
    Struck,
}

/// Styles of invisible text.
pub(super) type UnshownStyles = HashMap<String, Unshown>;

/// The styles of hidden or struck text, by their own properties or those of their base style.
pub(super) fn unshown_styles(xml: &str) -> UnshownStyles {
    let (mut own, mut built_on): (UnshownStyles, HashMap<String, String>) = Default::default();
    let mut style = String::new();
    // The parser rejects a part that is not well-formed XML.
    let _ = xml::each_start("styles.xml", xml, |start| {
        match start.local_name().as_ref() {
            "style" => style = xml::attribute(start, "styleId").unwrap_or_default(),
            "basedOn" => built_on.extend(xml::attribute(start, "val").map(|base| (style.clone(), base))),
            name => own.extend(unshown(name).filter(|_| is_on(start)).map(|why| (style.clone(), why))),
        }
        ControlFlow::Continue(())
    });
    let found = |style: &String| {
        let bases = std::iter::successors(Some(style), |style| built_on.get(*style)).take(16);
        bases.filter_map(|style| own.get(style)).next().copied()
    };
    let all = built_on.keys().chain(own.keys());
    all.filter_map(|style| Some((style.clone(), found(style)?))).collect()
}

/// The effect of a property on the visibility of text.
fn unshown(property: &str) -> Option<Unshown> {
    match property {
        "vanish" => Some(Unshown::Hidden),
        "strike" | "dstrike" => Some(Unshown::Struck),
        _ => None,
    }
}

/// Whether a toggle property is on.
pub(super) fn is_on(property: &BytesStart<'_>) -> bool {
    !xml::attribute(property, "val").is_some_and(|value| matches!(value.as_str(), "0" | "false" | "off"))
}

/// Whether the properties that a run or paragraph begins with hide its text.
pub(super) fn why_unshown(mut ahead: Reader<&[u8]>, styles: &UnshownStyles) -> Option<Unshown> {
    ahead.config_mut().expand_empty_elements = true;
    let mut by_style = None;
    let (mut hidden, mut struck) = (None, None);
    let mut depth = 0;
    loop {
        match ahead.read_event().ok()? {
            Event::Start(start) => {
                match start.name().as_ref() {
                    "w:rPr" | "w:pPr" if depth == 0 => {}
                    _ if depth == 0 => break,
                    "w:rStyle" | "w:pStyle" if depth == 1 => {
                        by_style = xml::attribute(&start, "val").and_then(|style| styles.get(&style)).copied();
                    }
                    "w:vanish" if depth == 1 => hidden = Some(is_on(&start)),
                    "w:strike" | "w:dstrike" if depth == 1 => struck = Some(struck == Some(true) || is_on(&start)),
                    _ => {}
                }
                depth += 1;
            }
            Event::End(_) if depth <= 1 => break,
            Event::End(_) => depth -= 1,
            Event::Text(text) if text.trim().is_empty() => {}
            _ if depth == 0 => break,
            _ => {}
        }
    }
    let is = |own: Option<bool>, why| own.unwrap_or(by_style == Some(why)).then_some(why);
    is(hidden, Unshown::Hidden).or_else(|| is(struck, Unshown::Struck))
}

/// Whether a cell of a table belongs to the cell above it, whose text alone is shown.
pub(super) fn is_merged(mut ahead: Reader<&[u8]>) -> bool {
    loop {
        match ahead.read_event() {
            Ok(Event::Start(start) | Event::Empty(start)) => match start.name().as_ref() {
                "w:vMerge" => return xml::attribute(&start, "val").is_none_or(|value| value == "continue"),
                "w:p" => return false,
                _ => {}
            },
            Ok(Event::End(end)) if end.name().as_ref() == "w:tcPr" => return false,
            Ok(Event::Eof) | Err(_) => return false,
            Ok(_) => {}
        }
    }
}

/// The value of a form field that is not in its text: a ticked box, the chosen entry.
pub(super) fn chosen(field: &str) -> Option<String> {
    let (mut is_box, mut ticked, mut entries, mut at) = (false, false, Vec::new(), 0);
    // What is read before an error counts.
    let _ = xml::each_start("a form field", field, |start| {
        match start.local_name().as_ref() {
            "checkBox" => is_box = true,
            "default" | "checked" if is_box => ticked = is_on(start),
            "listEntry" => entries.extend(xml::attribute(start, "val")),
            "result" => at = xml::attribute(start, "val").and_then(|at| at.parse().ok()).unwrap_or(0),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    match is_box {
        true => Some(if ticked { "[x] " } else { "[ ] " }.to_owned()),
        false => entries.into_iter().nth(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_hides_what_is_built_on_it() {
        let styles = unshown_styles(
            "<w:styles><w:style w:styleId=\"A\"><w:rPr><w:vanish/></w:rPr></w:style><w:style w:styleId=\"B\"><w:basedOn \
             w:val=\"A\"/></w:style><w:style w:styleId=\"C\"><w:rPr><w:strike w:val=\"0\"/></w:rPr></w:style></w:styles>",
        );
        assert_eq!(
            (styles.get("A"), styles.get("B"), styles.get("C")),
            (Some(&Unshown::Hidden), Some(&Unshown::Hidden), None)
        );
    }
}
