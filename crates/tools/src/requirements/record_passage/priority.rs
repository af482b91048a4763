//! A requirement's priority by its modal word, in English and German.

use plumbline_bounds::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// The strongest word wins, so that `may not` and `must` precede `may`.
static LEVELS: LazyLock<[(Regex, &str); 3]> = LazyLock::new(|| {
    [
        (
            pattern::own(
                r"(?i)\b(?:must|shall|(?:is|are) (?:not )?(?:to be|required|prohibited|obliged|forbidden)|ha(?:s|ve) to|may not|may only|only\b.{0,80}\bmay|required to|muss|muß|müssen|verpflichtet|unzulässig|verboten|(?:darf|dürfen)\b.{0,160}\b(?:nicht|nur|keine?[nrsm]?)|(?:ist|sind|hat|haben)\b.{0,200}\bzu \p{Ll}+en)\b",
            ),
            "high",
        ),
        (pattern::own(r"(?i)\b(?:should|soll(?:en|te|ten)?|recommended|empfohlen)\b"), "medium"),
        (
            pattern::own(
                r"(?i)\b(?:may|need not|encouraged|optional(?:ly)?|free to|kann|können|darf|dürfen|freigestellt)\b",
            ),
            "low",
        ),
    ]
});

/// `high`, `medium` or `low`; `medium` if no word indicates it.
pub(super) fn by_modal_word(text: &str) -> &'static str {
    LEVELS.iter().find(|(words, _)| words.is_match(text)).map_or("medium", |(_, priority)| priority)
}

#[cfg(test)]
mod tests {
    use super::by_modal_word;

    #[test]
    fn the_strongest_word_decides() {
        for (text, priority) in [
            ("Invoices must be kept.", "high"),
            ("The operator shall: keep a log;", "high"),
            ("Keys are to be rotated.", "high"),
            ("Staff may not share keys.", "high"),
            ("Daten dürfen ohne Einwilligung nicht verarbeitet werden.", "high"),
            ("Belege sind zehn Jahre aufzubewahren, das ist zu prüfen.", "high"),
            ("Logs should be reviewed.", "medium"),
            ("Das Protokoll soll geführt werden.", "medium"),
            ("The authority may ask for a copy.", "low"),
            ("Limit system access to authorised users.", "medium"),
        ] {
            assert_eq!(by_modal_word(text), priority, "{text}");
        }
    }
}
