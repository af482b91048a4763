//! Rules about the wording of a sentence, as lists of regular expressions.

use plumbline_bounds::pattern;
use regex::Regex;

/// What a language's rules are made of. `<name>` in an expression stands for what `names` says.
pub(super) struct Lists {
    /// Parts that many expressions have.
    pub(super) names: &'static [(&'static str, &'static str)],
    /// Sentences that state no obligation, whatever else they say.
    pub(super) never: &'static [&'static str],
    /// Parts of a sentence that are read before all others, for they would make these look harmless.
    pub(super) aside: &'static [&'static str],
    /// Parts of a sentence that say nothing of an obligation although they look it.
    pub(super) harmless: &'static [&'static str],
    /// By what candidates are known, the first that fits.
    pub(super) binding: &'static [Binding],
}

/// One way in which a sentence is known as a candidate.
pub(super) struct Binding {
    /// The word for it.
    pub(super) reason: &'static str,
    /// One of these occurs,
    pub(super) says: &'static [&'static str],
    /// and none of these.
    pub(super) unless: &'static [&'static str],
}

/// The rules of a language, ready for use.
pub(super) struct Rules {
    never: Regex,
    aside: Regex,
    harmless: Regex,
    binding: Vec<(&'static str, Regex, Option<Regex>)>,
}

impl Rules {
    /// Makes the rules ready.
    pub(super) fn of(lists: &Lists) -> Self {
        Self::with(lists, str::to_owned)
    }

    /// The same for words of ASCII letters and the four others of German, which are capitals here, in the rules as in
    /// [`in_capitals`]. Where a word ends is much cheaper to find then: the fast engine of the library gives up on a text
    /// with any other character when it has to know all letters there are.
    pub(super) fn of_ascii(lists: &Lists) -> Self {
        Self::with(lists, |pattern| {
            let words = pattern.replace(r"[\w", "[A-Za-z0-9_").replace(r"\w", "[A-Za-z0-9_]");
            in_capitals(&words).replace(r"\b", r"(?-u:\b)")
        })
    }

    fn with(lists: &Lists, ready: impl Fn(&str) -> String) -> Self {
        let any = |patterns: &[&str]| {
            // Nothing is in both classes, and so no text is like a list without patterns.
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
        Self { never: any(lists.never), aside: any(lists.aside), harmless: any(lists.harmless), binding }
    }

    /// By what the wording is known.
    pub(super) fn reason(&self, text: &str) -> Option<&'static str> {
        // What is taken out of a sentence makes none a candidate, so most sentences need no more than this.
        if !self.binding.iter().any(|(_, says, _)| says.is_match(text)) || self.never.is_match(text) {
            return None;
        }
        let text = self.aside.replace_all(text, " ~ ");
        let text = self.harmless.replace_all(&text, " ~ ");
        let fits = |(_, says, unless): &&(&str, Regex, Option<Regex>)| {
            says.is_match(&text) && !unless.as_ref().is_some_and(|unless| unless.is_match(&text))
        };
        self.binding.iter().find(fits).map(|(reason, _, _)| *reason)
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
