//! Rules about the wording of a sentence, as lists of regular expressions.

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
        let any = |patterns: &[&str]| {
            let mut whole = patterns.iter().map(|one| format!("(?:{one})")).collect::<Vec<_>>().join("|");
            for (name, part) in lists.names {
                whole = whole.replace(&format!("<{name}>"), &format!("(?:{part})"));
            }
            Regex::new(&whole).expect("the lists hold regular expressions")
        };
        let ready = |one: &Binding| {
            let unless = (!one.unless.is_empty()).then(|| any(one.unless));
            (one.reason, any(one.says), unless)
        };
        let binding = lists.binding.iter().map(ready).collect();
        Self { never: any(lists.never), aside: any(lists.aside), harmless: any(lists.harmless), binding }
    }

    /// By what the wording is known.
    pub(super) fn reason(&self, text: &str) -> Option<&'static str> {
        if self.never.is_match(text) {
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
