//! The place of a requirement: page and section of its text. A section given by the model may be an outer heading or a
//! clause that contains the text.
//!
//! The place is that of the first quoted sentence that is not a lead of another one: an entry is located at its own
//! beginning, not that of its list.

use super::add_requirement::name_from;
use super::texts::Texts;
use crate::workspace::WorkspaceError;
use plumbline_documents::surroundings::Laid;
use plumbline_engine::{Requirement, quotes_of};
use serde_json::Value;

/// Corrects page and section of a requirement; returns the corrections, for the model to read.
pub(crate) async fn put_right(texts: &Texts<'_>, requirement: &mut Requirement) -> Result<Vec<String>, WorkspaceError> {
    let Some(own) = own_sentence(texts, requirement).await? else { return Ok(Vec::new()) };
    let Some(location) = requirement.source_location.as_object_mut() else { return Ok(Vec::new()) };
    let mut said = Vec::new();
    let number = requirement.number.map_or_else(String::new, |number| format!("r{number}: "));
    let given = location.get("page").and_then(Value::as_u64);
    if let (Some(page), Some(given)) = (own.entry.page, given)
        && u64::from(page) != given
    {
        location.insert("page".to_owned(), page.into());
        said.push(format!("{number}its words are on page {page}, not {given}; page {page} was recorded"));
    }
    let Some(heading) = own.headings.last() else { return Ok(said) };
    let known = number_of(heading).map_or_else(|| name_from(heading), str::to_owned);
    let given = location.get("section").filter(|section| !section.is_null());
    match given.map(|section| section.as_str().map_or_else(|| section.to_string(), str::to_owned)) {
        None => _ = location.insert("section".to_owned(), known.into()),
        Some(section) if !is_in_section(&own, &section) => {
            said.push(format!(
                "{number}its words stand under \"{heading}\", not in section {section}; section {known} was recorded"
            ));
            location.insert("section".to_owned(), known.into());
        }
        Some(_) => {}
    }
    Ok(said)
}

/// The first quoted sentence that is not a lead of another one.
async fn own_sentence(texts: &Texts<'_>, requirement: &Requirement) -> Result<Option<Laid>, WorkspaceError> {
    let mut touched: Vec<(i32, i32, Laid)> = Vec::new();
    for quote in quotes_of(&requirement.citations) {
        for place in texts.places(&quote).await? {
            let Some(layout) = texts.layout(place.passage).await? else { continue };
            let sentences = (place.from..=place.to).filter_map(|number| Some((number, layout.get(number)?.clone())));
            touched.extend(sentences.map(|(number, sentence)| (place.passage, number, sentence)));
        }
    }
    let is_lead = |passage: i32, number: i32| {
        touched.iter().any(|(other, _, entry)| {
            let leads = entry.entry.leads.iter().filter_map(|lead| lead.number);
            *other == passage && leads.into_iter().any(|lead| i32::try_from(lead) == Ok(number))
        })
    };
    let own = touched.iter().find(|(passage, number, _)| !is_lead(*passage, *number)).or(touched.first());
    Ok(own.map(|(_, _, sentence)| sentence.clone()))
}

/// Whether a sentence is in a section: a heading above it, a lead or its own beginning contains the section's name or
/// number, or the section is a part of one that a heading numbers.
fn is_in_section(sentence: &Laid, section: &str) -> bool {
    let bare = |text: &str| {
        text.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
    };
    let wanted = bare(section);
    let numbers = sentence.headings.iter().filter_map(|heading| number_of(heading));
    let is_part = numbers.clone().any(|number| bare(section).starts_with(&bare(number)));
    // If no heading has a number, the number may be that of a clause.
    let is_of_a_clause = section.contains(|sign: char| sign.is_ascii_digit()) && numbers.count() == 0;
    let named = || {
        sentence.headings.iter().chain(sentence.entry.leads.iter().map(|lead| &lead.text)).chain([&sentence.entry.text])
    };
    wanted.is_empty() || is_part || is_of_a_clause || named().any(|text| bare(text).contains(&wanted))
}

/// The number at the beginning of a heading: `3.1`, `A.2`.
fn number_of(heading: &str) -> Option<&str> {
    let first = heading.split_whitespace().next()?.trim_end_matches(['.', ':', ')']);
    let is_number = first.contains(|sign: char| sign.is_ascii_digit()) && first.len() <= 12;
    is_number.then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plumbline_documents::entries::Numbered;

    #[test]
    fn a_section_holds_if_a_heading_or_the_words_have_it() {
        let entry = Numbered { number: 3, page: Some(4), text: "The log shall be signed.".into(), leads: Vec::new() };
        let under = |headings: &[&str]| Laid {
            entry: entry.clone(),
            headings: headings.iter().map(|heading| (*heading).to_owned()).collect(),
        };
        let numbered = under(&["3 Duties", "3.1 Records"]);
        for (section, expected) in
            [("3.1", true), ("3.1.2(a)", true), ("Records", true), ("3", true), ("99", false), ("Scope", false)]
        {
            assert_eq!(is_in_section(&numbered, section), expected, "{section}");
        }
        let named = under(&["Records"]);
        for (section, expected) in [("Records", true), ("4.2", true), ("Scope", false)] {
            assert_eq!(is_in_section(&named, section), expected, "{section}");
        }
    }
}
