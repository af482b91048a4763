//! Numbered requirements as standards set them: a number and an imperative, over two lines.

use super::*;

/// Number, tab, text.
const REQUIREMENTS: &str = "\
4.1.1\tLimit entry to the archive to its keepers, to people whom a keeper brings along, and to the fire brigade.
4.1.2\tSeparate the duties of those who lend a volume and those who count the volumes on the shelves at night.
4.2.1\tProvide notices about the house rules in each reading room, in the languages that most of the visitors speak.
4.2.2\tUse lamps without heat.
4.3.1\tReview and update the list of lent volumes.
4.3.2\tEnsure that each reader is known by name before a rare volume leaves the strong room, even for a short time.
4.4.1\tTrack, review, approve or disapprove, and log changes to the catalogue.
4.4.2\tPrevent readers without a card from carrying volumes past the desk, and report each attempt to the head keeper.
4.5.1\tEmploy the rule of the fewest keys, also for the keepers themselves and for the staff that cleans the rooms.
4.5.2\tProhibit pens and ink near prints.
4.6.1\tTest the alarm of the strong room once a month, at an hour at which no reader is in the house, with two keepers.
4.6.2\tControl and watch the use of cameras.
";
/// Characters of a line before it is broken.
const LINE: usize = 78;

/// A requirement in two lines, the second one empty if it is short.
fn in_two_lines(requirement: &str) -> (String, String) {
    let whole = requirement.replacen('\t', " ", 1);
    let end = whole.char_indices().nth(LINE).and_then(|(at, _)| whole[..at].rfind(' ')).unwrap_or(whole.len());
    (whole[..end].to_owned(), whole[end..].trim_start().to_owned())
}

/// The requirements of which no sentence is a candidate, in a text that `set` makes of their lines.
fn missed(set: impl Fn(&str, &str) -> String) -> Vec<String> {
    let (mut text, mut starts) = (String::new(), Vec::new());
    for requirement in REQUIREMENTS.lines() {
        starts.push(text.len());
        let (first, second) = in_two_lines(requirement);
        text.push_str(&set(&first, &second));
        text.push_str("\n\nDISCUSSION\n\nIt is a matter of taste.\n\n");
    }
    let sentences = Scan::default().sentences(&text);
    let found: Vec<usize> = sentences.iter().filter(|one| one.reason.is_some()).map(|one| one.range.start).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let lacking = starts.iter().zip(ends).filter(|(start, end)| !found.iter().any(|at| (**start..*end).contains(at)));
    lacking.map(|(start, end)| text[*start..end].to_owned()).collect()
}

#[test]
fn the_requirements_of_a_standard_are_candidates_however_they_are_set() {
    let lines = missed(|first, second| format!("{first}\n{second}"));
    let titles = missed(|first, second| format!("#### {first}\n\n{second}"));
    let bold = missed(|first, second| match second {
        "" => format!("**{first}**"),
        _ => format!("**{first}**\n**{second}**"),
    });
    for (name, missed) in [("lines", lines), ("titles", titles), ("bold", bold)] {
        assert!(missed.is_empty(), "{name}: {missed:#?}");
    }
}
