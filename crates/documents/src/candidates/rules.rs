//! Rules about the wording of a sentence, as lists of regular expressions.

use plumbline_bounds::pattern;
use regex::Regex;
use std::borrow::Cow;

/// The sources of a language's rules. `<name>` in an expression is replaced from `names`.
pub(super) struct Lists {
    /// Shared parts of expressions.
    pub(super) names: &'static [(&'static str, &'static str)],
    /// Sentences that state no obligation, regardless of their other words.
    pub(super) never: &'static [&'static str],
    /// Parts of a sentence that are matched first, because they would make other parts look harmless.
    pub(super) aside: &'static [&'static str],
    /// Parts of a sentence that bind, although a rule below would take them for harmless.
    pub(super) firm: &'static [&'static str],
    /// The words in their place, which bind.
    pub(super) firmly: &'static str,
    /// Parts of a sentence that look like an obligation and are not.
    pub(super) harmless: &'static [&'static str],
    /// The rules of candidates; the first match counts.
    pub(super) binding: &'static [Binding],
}

/// A rule by which a sentence is a candidate.
pub(super) struct Binding {
    /// Its name.
    pub(super) reason: &'static str,
    /// One of these occurs,
    pub(super) says: &'static [&'static str],
    /// and none of these.
    pub(super) unless: &'static [&'static str],
}

/// The compiled rules of a language.
pub(super) struct Rules {
    never: Regex,
    aside: Regex,
    firm: Regex,
    firmly: &'static str,
    harmless: Apart,
    binding: Vec<(&'static str, Regex, Option<Regex>)>,
}

impl Rules {
    /// Compiles the rules.
    pub(super) fn of(lists: &Lists) -> Self {
        Self::with(lists, str::to_owned)
    }

    /// The same for words of ASCII letters and the four other letters of German, which are capitals here and in
    /// [`in_capitals`]. Word boundaries are much cheaper then: the fast engine of the library cannot handle Unicode
    /// word boundaries in non-ASCII text.
    pub(super) fn of_ascii(lists: &Lists) -> Self {
        Self::with(lists, |pattern| {
            let words = pattern.replace(r"[\w", "[A-Za-z0-9_").replace(r"\w", "[A-Za-z0-9_]");
            in_capitals(&words).replace(r"\b", r"(?-u:\b)")
        })
    }

    fn with(lists: &Lists, ready: impl Fn(&str) -> String) -> Self {
        let any = |patterns: &[&str]| {
            // No character is in both classes, so this matches nothing, like an empty list of patterns.
            let patterns = if patterns.is_empty() { &["[a&&b]"] } else { patterns };
            let mut whole = patterns.iter().map(|one| format!("(?:{one})")).collect::<Vec<_>>().join("|");
            for (name, part) in lists.names {
                whole = whole.replace(&format!("<{name}>"), &format!("(?:{part})"));
            }
            pattern::own(&ready(&whole))
        };
        let binding = |one: &Binding| {
            let unless = (!one.unless.is_empty()).then(|| any(one.unless));
            (one.reason, any(one.says), unless)
        };
        let binding = lists.binding.iter().map(binding).collect();
        Self {
            never: any(lists.never),
            aside: any(lists.aside),
            firm: any(lists.firm),
            firmly: lists.firmly,
            harmless: Apart(lists.harmless.iter().map(|one| any(&[one])).collect()),
            binding,
        }
    }

    /// The rule that matches the wording.
    pub(super) fn reason(&self, text: &str) -> Option<&'static str> {
        // Removing parts never creates a candidate, so most sentences need only this check.
        if !self.binding.iter().any(|(_, says, _)| says.is_match(text)) || self.never.is_match(text) {
            return None;
        }
        let text = self.aside.replace_all(text, " ~ ");
        let text = self.firm.replace_all(&text, self.firmly);
        let text = self.harmless.replace_all(text, " ~ ");
        let fits = |(_, says, unless): &&(&str, Regex, Option<Regex>)| {
            says.is_match(&text) && !unless.as_ref().is_some_and(|unless| unless.is_match(&text))
        };
        self.binding.iter().find(fits).map(|(reason, _, _)| *reason)
    }
}

/// Many patterns, each an expression of its own. As alternatives of one they would match the same, but the states of that
/// expression are combinations of all their states: they exceed its cache and are built again and again. None matches an
/// empty text.
struct Apart(Vec<Regex>);

impl Apart {
    /// Replaces what the alternatives `first|second|…` would match: the leftmost match, and of those at one place the
    /// one of the first pattern.
    fn replace_all<'t>(&self, text: Cow<'t, str>, by: &str) -> Cow<'t, str> {
        let find = |pattern: &Regex, from: usize| pattern.find_at(&text, from).map(|found| found.range());
        let mut next: Vec<_> = self.0.iter().map(|pattern| (pattern, find(pattern, 0))).collect();
        next.retain(|(_, found)| found.is_some());
        let (mut out, mut at) = (String::new(), 0);
        while let Some(found) = next.iter().filter_map(|(_, found)| found.clone()).min_by_key(|found| found.start) {
            out.push_str(&text[at..found.start]);
            out.push_str(by);
            at = found.end;
            for (pattern, found) in &mut next {
                if found.as_ref().is_some_and(|found| found.start < at) {
                    *found = find(pattern, at);
                }
            }
        }
        if at == 0 { text } else { Cow::Owned(out + &text[at..]) }
    }
}

/// A text in lower case with `ä`, `ö`, `ü`, `ß` as capitals.
pub(super) fn in_capitals(text: &str) -> String {
    let capital = |sign| match sign {
        'ä' => 'A',
        'ö' => 'O',
        'ü' => 'U',
        'ß' => 'S',
        _ => sign,
    };
    text.chars().map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_apart_replace_what_they_would_as_alternatives() {
        let patterns = ["ab", "abc", "b+", "bc", r"\bd", "^a", "ca$"];
        let apart = Apart(patterns.iter().map(|one| pattern::own(one)).collect());
        let joined = pattern::own(&patterns.join("|"));
        for number in 0..5usize.pow(6) {
            let signs = (0..6u32).map(|place| char::from(b"abcd "[number / 5usize.pow(place) % 5]));
            let text: String = signs.collect();
            assert_eq!(apart.replace_all(text.as_str().into(), "~"), joined.replace_all(&text, "~"), "{text}");
        }
    }
}
