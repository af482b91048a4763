//! The language of a sentence, to the extent needed to know whether the scan has rules for it.
//!
//! Detected by stop words, which nearly every sentence of a language has. It does not matter which of the other
//! languages it is, and a text without stop words of any language, such as a name or a line of figures, is not a
//! sentence that could be missed.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Stop words of the languages with rules, then of others, one line per language: French, Spanish, Italian, Portuguese,
/// Dutch, Swedish, Danish and Norwegian, Polish, Czech, Hungarian, Romanian, Finnish, Turkish.
const SMALL_WORDS: [&str; 15] = [
    "the of and to is are be been was were by for with shall must that this which or not as on it its from at has have \
     had may any each if all an will should can no when where their they than under such other only into who within \
     upon there these those does do but we you your our he his she her per via a in",
    "der die das und ist sind den dem des ein eine einer eines einem einen zu mit von für nicht auf wird werden wurde muss \
     müssen darf dürfen soll sollen hat haben sich auch oder als bei nach wenn dass im zur zum durch kein keine aus über \
     nur unter vor sie er es an am bis kann können wie so nach dieser diese dieses alle jede jeder jedes sein ihre ihr",
    "le la les des une un est sont dans pour par sur avec qui que ne pas du au aux et ou doit doivent être il elle ce \
     cette ces son sa ses leur leurs de en à toute tout tous chaque peut ainsi",
    "el la los las una un del de que por para con se es son en y o no debe deben su sus como más al lo sin sobre cada todo \
     todos todas este esta ser",
    "il lo la gli le della del dei delle degli di che per con una un è sono deve devono non nel nella alla al dal si e o \
     ogni essere su entro",
    "o os as da do das dos um uma que não para com por é são deve devem em no na e ou ao se ser pela pelo cada todos",
    "de het een van en is niet voor met op zijn aan te dat moet moeten wordt worden door bij ook om uit naar deze die of \
     mag mogen elke",
    "och att det som på är av för inte ska skall den en ett till med om från har kan måste får varje eller vid",
    "og at det som på er af ikke skal den en et til med om fra har kan må hver eller ved av for være blir",
    "w na z i nie jest się do że oraz przez dla są musi być lub po od o każdy muszą",
    "v na se je že do pro který musí být nebo s z k po od jsou a i každý nesmí",
    "a az és nem hogy egy kell vagy is meg ha minden csak azt ezt el",
    "și şi în de la cu pe nu este să sau trebuie sunt din care pentru o un fi fiecare",
    "ja on ei se että ovat tai sen joka pitää tulee saa kun myös kaikki jokainen",
    "ve bir bu için ile olarak veya olan da de her gerekir edilir zorunludur",
];

/// How many of the lines above are languages with rules.
const WITH_RULES: usize = 2;

/// The languages of which a word is a stop word, one bit each.
static LANGUAGES: LazyLock<HashMap<&str, u16>> = LazyLock::new(|| {
    let mut words = HashMap::new();
    for (language, list) in SMALL_WORDS.iter().enumerate() {
        // A single letter can mean anything in a list or a formula.
        for word in list.split_whitespace().filter(|word| word.chars().count() > 1 || language < WITH_RULES) {
            *words.entry(word).or_default() |= 1u16 << language;
        }
    }
    words
});

/// In bytes.
const LONGEST_SMALL_WORD: usize = 12;
/// A line with fewer words is more often a name than a sentence.
const LEAST_WORDS: usize = 5;
/// A sentence with this many lower-case words and no known stop word is in an unknown language.
const WORDS_WITHOUT: usize = 10;
/// A whole text with this many lower-case words has stop words if it is in a language with rules: at least one in
/// [`MOST_WITHOUT`]. With 5, 7, 9, 12 words, 21, 14, 14, 12 of 1,364 short English and German tables, lists and sentences
/// are not judged, most of them names of files, and 4, 8, 10, 12 of 38 short texts in other languages are.
const WORDS_OF_A_TEXT: usize = 7;
const MOST_WITHOUT: usize = 8;
/// At least one in this many words of another language has a letter that English and German do not have.
const MOST_PLAIN: usize = 4;
/// A line with fewer letters of another script is a formula or a name.
const LEAST_LETTERS: usize = 4;
/// In a text in another language, one in this many stop words may also be one of this language.
const STRANGE: usize = 3;
/// Undecoded parts of a text: at least one in this many characters is a replacement character.
const MOST_UNKNOWN: usize = 5;

/// Counts of stop words of a text by language, and its size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Words {
    hits: [usize; SMALL_WORDS.len()],
    /// The word `in`, which English and German share: it is a stop word of English alone, because it tells nothing.
    shared: usize,
    words: usize,
    /// Words in lower case, which are not names.
    lower: usize,
    letters: usize,
    /// Letters of scripts other than Latin.
    foreign: usize,
    /// Words in lower case with a Latin letter that neither English nor German has.
    accented: usize,
    /// Words whose letters are of several scripts.
    mixed: usize,
    /// Replacement characters for text that could not be decoded.
    replaced: usize,
    /// Characters that have a meaning only in one font.
    private: usize,
}

impl Words {
    /// Counts the words of a text.
    pub(super) fn of(text: &str) -> Self {
        let mut found = Self::default();
        for word in text.split(|sign: char| sign.is_whitespace() || matches!(sign, '\'' | '\u{2019}' | '/')) {
            let word = word.trim_matches(|sign: char| !sign.is_alphanumeric());
            if !word.is_empty() && word.chars().all(char::is_alphabetic) {
                found.take(word);
            }
        }
        for sign in text.chars() {
            let alphabetic = sign.is_alphabetic();
            found.letters += usize::from(alphabetic);
            found.foreign += usize::from(alphabetic && !is_latin(sign));
            found.replaced += usize::from(sign == char::REPLACEMENT_CHARACTER);
            found.private += usize::from(('\u{e000}'..='\u{f8ff}').contains(&sign));
        }
        found
    }

    fn take(&mut self, word: &str) {
        self.words += 1;
        let lower = word.len() > 1 && word.chars().all(char::is_lowercase);
        self.lower += usize::from(lower);
        self.accented += usize::from(lower && word.chars().any(is_accented));
        self.mixed += usize::from(is_mixed(word));
        self.shared += usize::from(word.eq_ignore_ascii_case("in"));
        let small = word.len() <= LONGEST_SMALL_WORD;
        let of_lower = |word: &str| LANGUAGES.get(word).copied().unwrap_or(0);
        let languages = match (small, lower) {
            (true, true) => of_lower(word),
            (true, false) => of_lower(&word.to_lowercase()),
            (false, _) => 0,
        };
        for (language, hits) in self.hits.iter_mut().enumerate() {
            *hits += usize::from(languages >> language & 1 == 1);
        }
    }

    /// Adds the counts of another text.
    pub(super) fn add(&mut self, other: &Self) {
        self.hits.iter_mut().zip(other.hits).for_each(|(own, more)| *own += more);
        self.words += other.words;
        self.lower += other.lower;
        self.accented += other.accented;
        self.letters += other.letters;
        self.foreign += other.foreign;
    }

    /// Whether the rules for English apply.
    pub(super) fn may_be_english(&self) -> bool {
        self.hits[0] > 0 || self.hits[1] == 0
    }

    /// Whether the rules for German apply.
    pub(super) fn may_be_german(&self) -> bool {
        self.hits[1] > 0 || self.hits[0] == self.shared
    }

    /// Whether there are no rules for it: it is in another language or script.
    pub(super) fn is_foreign(&self) -> bool {
        let own = self.own();
        let other = self.hits[WITH_RULES..].iter().max().copied().unwrap_or_default();
        let by_script = self.foreign >= LEAST_LETTERS && self.foreign * 2 > self.letters;
        let by_words = self.words >= LEAST_WORDS && other >= 2 && other > own;
        let by_letters = self.accented >= 2 && self.accented > own && self.accented * MOST_PLAIN >= self.words;
        by_script || by_words || by_letters || (self.lower >= WORDS_WITHOUT && own == 0)
    }

    /// The same for a whole text: it also has too few stop words of the languages with rules.
    pub(super) fn is_foreign_text(&self) -> bool {
        self.is_foreign() || (self.lower >= WORDS_OF_A_TEXT && self.own() * MOST_WITHOUT <= self.lower)
    }

    /// Whether letters of one script pass for those of another, so that no rule knows the words.
    pub(super) fn is_disguised(&self) -> bool {
        self.mixed > 0
    }

    /// The stop words of the language with rules that has the most.
    fn own(&self) -> usize {
        self.hits[..WITH_RULES].iter().max().copied().unwrap_or_default()
    }

    /// Whether it is in a different language than another text. A text without stop words matches every language.
    pub(super) fn is_of_another_language(&self, other: &Self) -> bool {
        if self.letters >= LEAST_LETTERS
            && other.letters >= LEAST_LETTERS
            && self.is_foreign_script() != other.is_foreign_script()
        {
            return true;
        }
        let (Some(own), Some(others)) = (self.language(), other.language()) else { return false };
        let is_strange =
            |words: &Self, language: usize, most: usize| words.hits[language] * STRANGE <= words.hits[most];
        own != others && is_strange(self, others, own) && is_strange(other, own, others)
    }

    fn is_foreign_script(&self) -> bool {
        self.foreign * 2 > self.letters
    }

    /// The language of most of its stop words; a single one suffices only for a language with rules.
    fn language(&self) -> Option<usize> {
        let most = self.hits.iter().max().copied()?;
        let language = self.hits.iter().position(|hits| *hits == most)?;
        (most >= 2 || (most == 1 && language < WITH_RULES)).then_some(language)
    }

    /// Whether parts of it were not decoded.
    pub(super) fn is_undecoded(&self) -> bool {
        self.replaced > 0 || self.private * MOST_UNKNOWN > self.letters + self.private && self.private >= MOST_UNKNOWN
    }
}

/// Whether a lower-case Latin letter belongs to neither English nor German.
fn is_accented(sign: char) -> bool {
    !sign.is_ascii() && is_latin(sign) && !"\u{e4}\u{f6}\u{fc}\u{df}\u{aa}\u{ba}\u{b5}".contains(sign)
}

/// Whether a word has letters of another alphabet between or beside Latin ones. One at its beginning or end alone is a
/// symbol: `kΩ`, `μmol`.
fn is_mixed(word: &str) -> bool {
    let is_other = |sign: char| matches!(sign, '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{52f}' | '\u{530}'..='\u{58f}');
    let is_cyrillic = |sign: char| matches!(sign, '\u{400}'..='\u{52f}');
    let latin = word.chars().filter(|sign| is_latin(*sign)).count();
    let last = word.chars().count().saturating_sub(1);
    let within = word.chars().skip(1).take(last.saturating_sub(1)).any(is_other);
    latin >= 2 && (within || word.chars().any(is_cyrillic))
}

fn is_latin(sign: char) -> bool {
    // Latin with its extensions and raised letters, and signs that Unicode counts as letters: ª, º, µ.
    matches!(sign, '\0'..='\u{24f}' | '\u{2b0}'..='\u{2b8}' | '\u{1d2c}'..='\u{1dbf}' | '\u{2070}'..='\u{209c}' | '\u{1e00}'..='\u{1eff}' | '\u{2c60}'..='\u{2c7f}' | '\u{a720}'..='\u{a7ff}' | '\u{fb00}'..='\u{fb06}' | '\u{ff21}'..='\u{ff5a}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_of_other_languages_are_foreign() {
        for sentence in [
            "Les factures doivent être conservées dix ans.",
            "Il est interdit de supprimer les journaux.",
            "Las facturas deben conservarse durante diez años.",
            "Le fatture devono essere conservate per dieci anni.",
            "As faturas devem ser conservadas por dez anos.",
            "De facturen moeten tien jaar worden bewaard.",
            "Fakturorna ska sparas i tio år och får inte raderas.",
            "Fakturaerne skal opbevares i ti år og må ikke slettes.",
            "Merk at fakturaer skal oppbevares i ti år.",
            "Faktury muszą być przechowywane przez dziesięć lat.",
            "Faktury musí být uchovávány po dobu deseti let.",
            "Счета должны храниться десять лет.",
            "发票必须保存十年。",
            "請求書は十年間保存しなければならない。",
            "يجب الاحتفاظ بالفواتير لمدة عشر سنوات",
            "Arved tuleb säilitada kümme aastat ning neid ei tohi enne tähtaja möödumist hävitada ilma loata.",
            "A szakácsnak éjfélkor be kell zárnia a konyhát.",
        ] {
            assert!(Words::of(sentence).is_foreign(), "{sentence}");
        }
    }

    #[test]
    fn a_whole_text_without_stop_words_is_foreign() {
        for (text, foreign) in [
            ("Asci gece yarisi mutfagi kapatmalidir. Depoda sigara icmek yasaktir. Her teslimat tartilmalidir.", true),
            ("nr | regel Kok sluit keuken. Roken verboden. Deur moet dicht.", true),
            ("Coquus culinam media nocte claudere debet. In horreo fumare vetitum est.", true),
            ("Limit system access to authorized users and devices. Separate duties of individuals.", false),
            ("Invoices kept, receipts thrown away, copies destroyed within a year.", false),
            ("Belege geordnet ablegen und zehn Jahre aufbewahren.", false),
            ("Differences. clause | what. 7.2 | liability & more. Nothing else differs.", false),
        ] {
            assert_eq!(Words::of(text).is_foreign_text(), foreign, "{text}");
        }
    }

    #[test]
    fn letters_of_another_script_within_a_word_disguise_it() {
        for (text, disguised) in [
            ("The cook \u{43c}ust close the kitchen.", true),
            ("The cook m\u{3c5}st close the kitchen.", true),
            ("A dose of 5 \u{3bc}mol at 3 k\u{3a9} and \u{394}t, for \u{3b1}-particles.", false),
            ("The firm \u{413}\u{430}\u{437} sells gas.", false),
            ("The clerk must\u{1d47} sign the log\u{2b0} at 10\u{207f}.", false),
        ] {
            assert_eq!(Words::of(text).is_disguised(), disguised, "{text}");
        }
    }

    #[test]
    fn a_translation_is_of_another_language() {
        let german = "Rechnungen sind zehn Jahre aufzubewahren.";
        for (text, other, expected) in [
            ("Invoices must be kept for ten years.", german, true),
            ("Keep invoices for ten years.", "Der Unternehmer muss Rechnungen zehn Jahre lang aufbewahren.", true),
            ("Rechnungen müssen aufbewahrt werden.", german, false),
            ("Les factures doivent être conservées dix ans.", "Invoices must be kept for ten years.", true),
            ("Счета должны храниться десять лет.", "Invoices must be kept for ten years.", true),
            ("Fees are allocated pro rata.", "All fees must be borne by the members.", false),
            ("Log retention", "The operator must keep a log.", false),
            ("The operator may delete the log in a week.", "The operator must keep a log in all cases.", false),
            ("The Data Controller must notify die Behörde.", "The controller must notify the authority.", false),
        ] {
            let is = Words::of(text).is_of_another_language(&Words::of(other));
            assert_eq!(is, expected, "{text} beside {other}");
        }
    }

    #[test]
    fn english_german_and_what_is_no_sentence_are_not() {
        for sentence in [
            "Invoices must be kept for ten years.",
            "Belege müssen zehn Jahre aufbewahrt werden.",
            "The Université de la Sorbonne and the Banco de España keep a copy of it.",
            "Keep records.",
            "Aufbewahrung von Belegen",
            "Ministère de la Justice",
            "R-12 | 4.5 kg | 230 V | IP 54",
            "ΔT = α β",
        ] {
            assert!(!Words::of(sentence).is_foreign(), "{sentence}");
        }
    }
}
