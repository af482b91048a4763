//! The present passive of policies: `Access rights are reviewed every quarter.` In other documents it is usually
//! descriptive, so it counts only if a configuration declares the documents to be policies.

use super::language::Words;
use super::rules::{Binding, Lists, Rules, in_capitals};
use super::wording::Wording;
use std::sync::LazyLock;

static ENGLISH: LazyLock<Rules> = LazyLock::new(|| Rules::of_ascii(&IN_ENGLISH));
static GERMAN: LazyLock<Rules> = LazyLock::new(|| Rules::of_ascii(&IN_GERMAN));

/// The rule by which a sentence of a policy is a candidate.
pub(super) fn reason(wording: &Wording, words: &Words) -> Option<&'static str> {
    let in_english = words.may_be_english().then(|| ENGLISH.reason(&wording.text)).flatten();
    in_english.or_else(|| words.may_be_german().then(|| GERMAN.reason(&in_capitals(&wording.text))).flatten())
}

const IN_ENGLISH: Lists = Lists {
    names: &[
        ("adv", r"(?:(?:\w+ly|also|always|never|not|only|then|first|at all times|at least \w+) )*"),
        (
            "done",
            r"(?:[a-z-]*[a-z]{2}ed|begun|brought|built|chosen|done|drawn up|driven|given|handed over|held|kept|laid down|led|made|overseen|paid|put|read|run|sent|set|shown|shut|signed off|sought|spent|split|taken|taught|told|withdrawn|written)",
        ),
        // Participles that describe a state, not an action.
        (
            "state",
            r"(?:based|called|caused|concerned|composed|connected|considered|defined|derived|described|designed|discussed|divided|entitled|exempted|explained|expressed|illustrated|interested|intended|involved|known|limited to|listed|located|mentioned|named|needed|numbered|organi[sz]ed in|outlined|pleased|presented in|published in|referred to|related|shown|situated|structured|summari[sz]ed|supposed|tired|used in many|written in)",
        ),
    ],
    never: &[],
    aside: &[],
    firm: &[],
    firmly: "",
    harmless: &[
        r"\b(?:if|when|where|whenever|wherever|once|as soon as|unless|until|before|after|while|because|since|that|which|who|whose|as|than)(?: [\w'’-]+){0,5}? (?:is|are) <adv>(?:<done>|<state>)\b",
        r"\b(?:is|are) <adv><state>\b|\b(?:it|this|they|these|there) (?:is|are) <adv><done>\b",
    ],
    binding: &[Binding {
        reason: "policy",
        says: &[r"\b(?:is|are) <adv><done>\b"],
        unless: &[r"\b(?:was|were|had|would|may|might|can|could)\b"],
    }],
};

const IN_GERMAN: Lists = Lists {
    names: &[
        (
            "done",
            r"(?:[a-zäöüß]*ge[a-zäöüß]{2,}(?:t|en)|[a-zäöüß]+iert|[a-zäöüß]*(?:be|ent|er|ver|zer|über|unter|wider)[a-zäöüß]{2,}(?:t|en|an|lten))",
        ),
        (
            "state",
            r"(?:beschrieben|definiert|dargestellt|erläutert|erklärt|genannt|bezeichnet|verstanden|gegliedert|eingeteilt|aufgeführt|behandelt|zusammengefasst|erwähnt)",
        ),
    ],
    never: &[],
    aside: &[],
    firm: &[],
    firmly: "",
    harmless: &[
        r"\b(?:wird|werden)\b[^,;.]*?\b<state>\b",
        r"\b(?:wenn|falls|sofern|soweit|sobald|bis|bevor|nachdem|während|weil|da|dass|die|der|das|welche[rs]?)\b[^,;.]*?\b<done> (?:wird|werden)\b",
    ],
    binding: &[Binding {
        reason: "policy",
        says: &[r"\b(?:wird|werden)\b[^;.]*?\b<done>(?:[.,;:!)]|$| und\b| oder\b| sowie\b)"],
        unless: &[r"\b(?:war|waren|wurden?|würden?|kann|können|könnten?|darf|dürfen|mag|mögen)\b"],
    }],
};
