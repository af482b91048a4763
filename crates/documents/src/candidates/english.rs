//! English: the wording of obligations.

use super::rules::{Binding, Lists, Rules};
use super::wording::Wording;
use plumbline_bounds::pattern;
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::sync::LazyLock;

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::of_ascii(&LISTS));

/// Contracted verbs that the rules know in full.
static CONTRACTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern::own(
        r"\b(?:(?P<is>it|there|that|he|she|who|everyone|everybody)'s|(?P<are>you|they|we|who)'re|(?P<have>you|they|we)'ve|(?P<not>sha|ought)n't)\b",
    )
});

/// The rule by which an English sentence is a candidate.
pub(super) fn reason(wording: &Wording) -> Option<&'static str> {
    RULES.reason(&in_full(&wording.text))
}

/// `it's required` as `it is required`.
fn in_full(text: &str) -> Cow<'_, str> {
    if !text.contains('\'') {
        return Cow::Borrowed(text);
    }
    CONTRACTED.replace_all(text, |found: &Captures<'_>| {
        let full = |name: &str, verb: &str| found.name(name).map(|word| format!("{}{verb}", word.as_str()));
        let not = || if &found["not"] == "sha" { "shall not" } else { "ought not" }.to_owned();
        full("is", " is").or_else(|| full("are", " are")).or_else(|| full("have", " have")).unwrap_or_else(not)
    })
}

const LISTS: Lists = Lists {
    names: NAMES,
    never: NEVER,
    aside: ASIDE,
    firm: FIRM,
    firmly: " must ",
    harmless: HARMLESS,
    binding: BINDING,
};

const NAMES: &[(&str, &str)] = &[
    // Addressees of obligations. General words such as "company" or "people" are omitted, because they are common in
    // stories.
    (
        "actor",
        r"(?:controller|processor|operator|provider|supplier|contractor|subcontractor|vendor|licensee|licensor|lessee|lessor|tenant|landlord|employer|employee|manufacturer|importer|distributor|deployer|applicant|holder|bidder|purchaser|buyer|seller|borrower|lender|insurer|carrier|licence-holder|permit holder|member state|competent authority|supervisory authority|authority|authorities|commission|regulator|institution|firm|entity|entities|undertaking|body|bodies|organi[sz]ation|management|management body|board|auditor|inspector|manager|officer|head|director|supervisor|secretary|user|administrator|owner|party|parties|customer|client|consultant|recipient|data protection officer|staff|personnel|agency|agencies|person in charge|responsible person|team|department|committee|trustee|broker|dealer|issuer|sponsor|investigator|laborator(?:y|ies)|exporter|shipper|master|pilot|driver|participant|candidate)s?(?: or (?:the )?(?:its )?\w+)?",
    ),
    // Further ones in contracts.
    (
        "party",
        r"(?:company|corporation|enterprise|group|agent|guarantor|pledgor|franchisee|franchisor|publisher|author|artist|developer|merchant|reseller|partner|affiliate|bank|university|school|hospital|government|ministry|department|member|student|worker|resident|person|beneficiar(?:y|ies)|seller|shareholder|assignee|assignor|grantee|grantor)s?",
    ),
    // Adverbs between the parts of a verb.
    (
        "adv",
        r"(?:(?:\w+ly|also|always|hereby|therefore|further|furthermore|then|thus|at all times|in addition|in any case|in turn|likewise|instead|still|often|sometimes|both|all|each|strictly) )*",
    ),
    ("be", r"(?:is|are|be|becomes?|remains?)"),
    (
        "bound",
        r"(?:required|obliged|obligated|mandated|mandatory|compulsory|obligatory|imperative|indispensable|compelled|enjoined)",
    ),
    // Actions that an organisation is obliged to perform.
    (
        "does",
        r"(?:acts?|adopts?|allocates?|appl(?:y|ies)|appoints?|approves?|archives?|assess(?:es)?|assigns?|audits?|bears?|checks?|communicates?|compl(?:y|ies)|conducts?|confirms?|consults?|controls?|cooperates?|defines?|deletes?|demonstrates?|designates?|determines?|discloses?|documents?|draws? up|encrypts?|ensures?|erases?|establish(?:es)?|evaluates?|forwards?|identif(?:y|ies)|implements?|informs?|inspects?|investigates?|issues?|keeps?|logs?|maintains?|makes? available|monitors?|notif(?:y|ies)|obtains?|performs?|preserves?|protects?|provides?|publish(?:es)?|records?|refrains?|registers?|rejects?|reports?|responds?|restricts?|retains?|returns?|reviews?|safeguards?|secures?|specif(?:y|ies)|stores?|submits?|supervises?|takes?|tests?|trains?|transmits?|updates?|validates?|verif(?:y|ies))",
    ),
    // What the users of a product do with it.
    (
        "do",
        r"(?:access|add|assign|block|browse|cancel|change|choose|click|configure|copy|create|customi[sz]e|define|delete|disable|download|edit|enable|enter|export|filter|generate|import|invite|list|log|manage|manipulate|modify|move|open|operate|override|print|query|read|receive|remove|rename|reset|restore|retrieve|run|save|schedule|search|select|send|set|share|sort|specify|start|stop|store|submit|switch|track|update|upload|use|view|write)",
    ),
    // Subjects of specifications.
    (
        "product",
        r"(?:systems?|application|software|product|servers?|client|interfaces?|tool|module|component|service|database|devices?|unit|program|web ?site|portal|platform|function|screen|page|app|gui|editor|engine|controller|subsystem|dialog(?:ue)?|window|terminal|gateway|sensor|pump|valve|machine|display|panel|installer|scheduler|agent|job|api|alarm|button|field|form|menu|message|session|report|robot|camera|firmware|hardware|network|firewall|router)",
    ),
    // Verbs of specifications.
    (
        "offers",
        r"(?:accepts?|adds?|allows?|appl(?:y|ies)|archives?|asks?|assigns?|authenticates?|blocks?|calculates?|captures?|carr(?:y|ies)|checks?|closes?|collects?|computes?|contains?|confirms?|connects?|converts?|creates?|deletes?|detects?|determines?|disables?|displays?|distributes?|enables?|encrypts?|ends?|executes?|expires?|exports?|forwards?|generates?|handles?|identif(?:y|ies)|imports?|informs?|issues?|keeps?|lists?|loads?|locks?|logs?|maintains?|manages?|monitors?|notif(?:y|ies)|offers?|operates?|performs?|permits?|presents?|prevents?|processes|prompts?|protects?|provides?|raises?|reads?|receives?|records?|refreshes|refuses?|rejects?|removes?|reports?|resets?|responds?|restores?|restricts?|retains?|retries|retrieves?|returns?|saves?|sends?|shows?|skips?|sorts?|starts?|stops?|stores?|supports?|switches|synchroni[sz]es?|tracks?|transfers?|transmits?|triggers?|turns?|updates?|validates?|verif(?:y|ies)|waits?|warns?|writes?)",
    ),
    // How specifications begin what a part of the product does, without the part.
    (
        "offering",
        r"(?:accepts|accommodates|allows|applies|assigns|authenticates|calculates|captures|collects|computes|conforms|converts|creates|deletes|detects|determines|develops|enables|encrypts|ensures|establishes|generates|handles|identifies|includes|keeps|maintains|manages|notifies|performs|prevents|produces|protects|provides|receives|rejects|removes|responds|restores|retrieves|sends|submits|supports|synchroni[sz]es|transmits|validates|verifies|warns|(?:checks|controls|displays|logs|monitors|permits|prompts|records|reports|stores|tracks|updates) (?:the|an?|all|each|every|any|its|whether|if))",
    ),
    // A verb, or a word that begins a clause with one: the words are no sign or label.
    (
        "finite",
        r"(?:is|are|was|were|be|been|being|am|has|have|had|do|does|did|can|could|may|might|will|would|if|whether|when|as|than|which|who|that|how|why|what|available|found|known|yet|noted|reported)",
    ),
    (
        "where",
        r"(?:in|on|at|for|before|during|within|inside|beyond|from|by|while|upon|near|without|outside|unless|until|except)",
    ),
    // What is expected, not done.
    (
        "trouble",
        r"(?:congestion|consequences|costs|delays?|disruptions?|failures?|fines?|frost|higher costs|interruptions?|losses|penalt(?:y|ies)|queues|rain|restrictions|snow|traffic|waiting times?)",
    ),
    (
        "approval",
        r"(?:approval|authori[sz]ation|consent|permission|notification|registration|inspection|review|audit|verification|a permit|a licen[cs]e|licensing|an? obligation|obligations|the obligation)",
    ),
];

const NEVER: &[&str] = &[
    // Definitions.
    r#"^[^a-z]*(?:for the purposes? of [^,]*, )?(?:(?:an?|the) )?(?:(?:term|expression|word|phrase|abbreviation)s? )?["'(\w][\w"'…() /-]{0,60} (?:means?|shall mean|is defined as|are defined as|denotes?|stands for)(?: (?:an?|the|any|all|every|each|either|one|persons?|both|information|data|those|such)\b|,|:)"#,
    // Examples.
    r"^[^a-z]*examples?(?: \d+)?:",
    r"^[^a-z]*(?:for example|for instance|by way of example|an example (?:is|of|would)|suppose|imagine|consider the case)\b",
    r"^[^a-z]*(?:the )?(?:key ?words?|words?|verbs?|modal verbs?|terms?) [^.]* (?:in this document |in this standard |in this specification )?(?:are|is) to be interpreted",
];

const ASIDE: &[&str] = &[
    r"\bnot only\b",
    // `Annex I shall` is no `I shall`.
    r"\b(?:annex|appendix|article|category|chapter|class|division|group|part|phase|schedule|section|stage|table|tier|title|type|volume) i\b",
];

const FIRM: &[&str] = &[
    // A duty to ensure something; elsewhere `to ensure` states an aim.
    r"\b(?:has|needs|ought) <adv>to ensures?\b|(?:[a-su-z]|[^o']t) (?:have|need) <adv>to ensure\b",
    r"\b(?:<actor>|<party>) (?:is|are) <adv>to ensure\b",
    // Elsewhere `got to` is past tense.
    r"\b(?:has|have|is) got to (?:be|do|have|pay|sign|use|wear|<does>)\b",
];

const HARMLESS: &[&str] = &[
    // Descriptions of what happens or is known.
    r"\bcan only be (?:achieved|assumed|described|estimated|explained|felt|found|guessed|heard|imagined|inferred|measured|reached|seen|speculated|understood)\b",
    // Negated obligations.
    r"\b(?:is|are|be|was|were|been|being|isn't|aren't|wasn't|weren't|becomes?|remains?)(?: in no way| in no event)?(?: not| never| no longer| neither|)(?:n't)? (?:\w+ly |also |always )?not (?:be )?(?:\w+ly )?(?:<bound>|bound|necessary|needed|expected|supposed|responsible|liable|prohibited|forbidden|under an(?:y)? obligation)\b",
    r"\b(?:is|are|be|was|were|been|isn't|aren't|wasn't|weren't) (?:not|never|no longer|neither|hardly|rarely)(?: \w+ly| yet| in itself| always)? (?:be )?(?:<bound>|bound|necessary|needed|expected|supposed|responsible|liable|prohibited|forbidden|under (?:any|an) obligation)\b",
    r"\b(?:isn't|aren't|wasn't|weren't) (?:\w+ly )?(?:<bound>|bound|necessary|needed|expected|supposed|responsible|liable|prohibited|forbidden)\b",
    r"\b(?:does|do|did|will|shall|should|would|must|may|can|need)(?: not|n't)(?: \w+ly| normally| generally)? (?:have to|need to|need|be (?:<bound>|necessary|bound|liable|responsible|under any obligation|needed|expected))\b(?: to| for| from)?(?: ensure\b)?",
    r"\bneed(?: not|n't)\b(?: ensure\b)?|\bno (?:longer )?(?:need|obligation|duty|requirement|necessity)\b(?: to ensure| to| for| that| of| on)|\bwithout (?:being |having been )?(?:<bound>|bound|having to)",
    r"\b(?:nothing|no provision) in (?:this|these|the|that)\b[^.;]*?\b(?:shall|must|should)\b",
    r"\bshall (?:nothing|not apply|not be applicable|not extend|not affect|not preclude|not prevent|be without prejudice)\b",
    // Past and hypothetical obligations.
    r"\b(?:had|have had|having had|would have|might have|may have|could have|used|seems?|appears?|happens?|likely) to\b|\bwould (?:be|have been) (?:<bound>|necessary|needed)\b",
    r"\b(?:was|were|had been|have been|has been|been|got) (?:<adv>)(?:<bound>|bound|necessary|needed|expected|supposed|responsible|liable|prohibited|forbidden|to)\b",
    // "where required" is not an obligation.
    r"\b(?:if|where|when|whenever|wherever|whether|unless|as|than|once|if so|in so far as|insofar as|to the extent|before)(?: \w+){0,3}? (?:<adv>)(?:required|necessary|needed|mandated|prohibited|obliged)\b(?: (?:by|under) (?:applicable |union |national |the )?law)?",
    r"\b(?:if|when|whenever|where|wherever|whether|unless)(?: \w+){0,6}? (?:is|are) <adv>(?:required|necessary|needed),",
    r"\bas (?:may be|is|are) (?:required|necessary|appropriate)\b",
    // Definitions and formulas.
    r"\bshall (?:also )?(?:mean|denote|have the (?:same )?meanings?|be (?:construed|interpreted|understood|read) as|be (?:cited|referred to) as)\b",
    r"^(?:references? to|the (?:terms?|expressions?|words?)) [^.;]* shall (?:also )?refer to\b|\bshall apply (?:as )?(?:from|until|with effect from) (?:the (?:date|day)|\d|\w+ \d)",
    r"\bshall (?:enter|come) into force\b|\bshall (?:be binding in its entirety|be directly applicable|cease to (?:have effect|apply)|take effect|be repealed)\b|\bfollowing (?:definitions?|terms?)(?: and abbreviations)? shall apply\b",
    r"\b(?:verb|modal|keyword)s? (?:shall|must|should)\b|\b(?:word|term|expression)s? (?:shall|must|should) (?:mean|denote|express|indicate|signify|have the|be (?:construed|interpreted|understood|read|taken))\b|\b(?:we|i) shall (?:see|now|discuss|show|describe|call|use|assume|return|refer|consider|denote|write|say|never forget)\b|\bshall we\b",
    // Guesses and phrases.
    r"\b(?:i|we|one|you) (?:must|should) (?:\w+ )?(?:admit|confess|say|remember|wonder)\b|\b(?:i|we|one|you|it) (?:must|should) (?:\w+ )?be (?:said|noted|admitted|remembered|stressed|mentioned|pointed out|emphasi[sz]ed)\b|\bi (?:must|shall|should|have to)\b",
    r"\b(?:he|she|it|they|someone|somebody|there|that|this|you) must (?:surely |certainly |probably |obviously |really |already |simply )?have (?:been |\w+(?:ed|en|wn|ne|ft|de|st|lt|nt)\b|had|got|come|gone)",
    r"\bmust (?:surely|presumably|evidently|by now)\b|\bmust (?:certainly|obviously|really|clearly|already) (?:be (?:an?|the|some|so|very|\w+ing)|have (?:been|had|got|come|gone|\w+ed)|know|seem|feel|think)\b|\bmust (?:have seemed|have felt|have looked|seem|feel|look like|know how|know that|be (?:mistaken|wrong|joking|tired|true|kidding|hungry|proud|nearly|nice|hard|getting|somewhere|someone|something|why|because|an? (?:mistake|error|misunderstanding|reason|coincidence|joke|misprint|typo)|some (?:mistake|error|reason|misunderstanding)))\b|\bmust-(?:have|see|read)s?\b|\ba must\b",
    r"^should (?:you|any|there|the|a|an|it|this|they|anything|anyone|\w+s) |, should (?:you|any|there|the need|this|it|they)\b",
    r"\bit (?:should|must) (?:also )?(?:be (?:noted|clear|obvious|stressed|remembered|pointed out|mentioned|emphasi[sz]ed|easy))\b|\bshould (?:now |then )?(?:be (?:enough|sufficient|fine|easy|familiar|obvious|able to see)|look like|suffice|have been|come as)\b|\b(?:you|we|it|this|that|these|those|they|which|readers?) should (?:now |then |also )?(?:see|appear|work|help)\b|\bshould (?:never |not )?have \w+ed (?:it|him|her|them|me|us|you|that|this|to|in|at|by|before|earlier|long)\b|\bshould (?:never |not )?have \w+ed[.,;!]",
    r"\bmay not (?:be (?:able|present|available|obvious|necessary|possible|clear|known|enough|sufficient|suitable|appropriate|aware|true|the (?:case|same|best|only)|required|needed|ideal|perfect|as|so|easy|visible|familiar|immediately|accurate|complete|representative|a|an)|exist|have|know|work|even|always|seem|reali[sz]e|sound|match|fit|like|want|need|notice|agree|appear|succeed|happen|mean|yet|look|come|reflect|return|finish|terminate|feel|understand|recogni[sz]e|make sense|matter)\b",
    r"\bexpected to (?:be (?:completed|ready|available|finished|higher|lower|small|large|around|about)|rise|fall|grow|increase|decrease|reach|open|last|begin|start|arrive|cost|take|remain|continue|come|become|bring|attract|exceed|improve|double|peak|return|finish|win|launch|see|have|run|drop|expand|announce|benefit|lead|result)\b",
    // Aims bind no one.
    r"\b(?:aims?|goals?|purposes?|objectives?|intents?|intentions?|ideas?|tasks? here|ways?|roles?|plans?|jobs?|options?|approach(?:es)?|points?|tricks?|alternatives?|solutions?|functions?|keys?|things?|steps?|reasons?|hopes?|wish|challenges?|ambitions?|missions?|strateg(?:y|ies)|choices?|methods?|focus|temptation|custom|practice|tradition|use|effect|best|next|first|easiest|simplest|most|here|there|how|what|which|who|that|this|dream|problem|trend|course|question|priority|target|remedy|answer|move|desire|ambition|test|danger|risk|if \w+)(?: (?:of|for|in|behind|with|about|on|at) [^,.;]{1,60})? (?:is|are) to\b(?: ensure\b)?",
    r"\b(?:is|are) to (?:come|follow)(?:[.,;:!]|$)|\bwhat (?:is|are) to (?:come|follow)\b|\b(?:is|are) to (?:say|blame|some|an?|the|this|that|its|their|his|her|our|my|me|him|us|them|be (?:found|seen|expected|hoped|welcomed|had|fair|honest))\b",
    // What is expected or judged, not done.
    r"\bit (?:is|has|remains) (?:\w+ )?to be (?:acknowledged|admitted|assumed|conceded|doubted|emphasi[sz]ed|feared|noted|presumed|recalled|regretted|remarked|remembered|stressed|supposed|understood)(?: here| however)?,? that\b|\b<be> <adv>to be (?:feared|hoped for|reckoned with|sought in|welcomed[.,;])|\b(?:changes?|differences?|declines?|decreases?|growth|increases?|rises?|trends?) (?:is|are) <adv>to be observed\b",
    r"\bit must (?:\w+ )?be (?:acknowledged|admitted|assumed|conceded|feared|presumed|recalled|supposed),? that\b|\b<trouble> (?:must|should) <adv>be expected\b|\bmust <adv>(?:expect|reckon with) (?:\w+ )?<trouble>\b|\b(?:one|you|we) (?:has|have) to wonder\b",
    r"\bnot to be (?:confused|mistaken) (?:with|for)\b|\b(?:is|are) not to be (?:denied|envied|overestimated|sneezed at|underestimated)\b",
    r"\b(?:he|she|i) (?:has|have|had) no (?:\w+ )?(?:right|authority|power)s? to\b",
    r"\b(?:he|she|i) (?:is|has|have|am) to\b|\bmust have been \w+ (?:before|in|around|by) (?:\d{3,4}|the)\b",
    r"\b(?:have|has) to (?:do with|say|admit|think|be (?:said|seen|admitted|honest))\b|\b(?:what|that|all|anything|something|much|lot)\b[^.;,]{0,40} (?:have|has) to (?:come|offer)\b|\bto have to\b|\bnothing (?:to|is to be gained)\b",
    r"\b(?:to|which|that|this|it|and|thereby|thus|helps?|can|may|would|order to|designed to|so as to|not) ensures?\b|\b(?:this|it|which|that) requires?\b",
    r"\bonly (?:one|two|three|a few|some|few) of\b|\bnot only\b|\bmay only be (?:a|the|because)\b",
    // Future tense without an obligation.
    r"\b(?:i|he|she|we|you|they|it|this|these|those|that|who|which|what|where|when|if|whether|one|nobody|everybody|people|time|chances|hopefully|probably|perhaps|tomorrow|today|next \w+)(?: (?:\w+ly|also|still|soon|then|often))? will (?:also |probably |likely |never |not |soon |still |always |often |\w+ly )*(?:have |need |want |see|find|know|notice|look|discuss|show|describe|explain|explore|examine|consider|learn|use|cover|return|assume|help|take|make|get|become|come|go|continue|remain|rain|grow|rise|fall|change|happen|mean|win|lose|enjoy|feel|like|love)?",
    r"\bwill (?:be|have|become|remain|continue|need|want|mean|cost|depend|vary|last|grow|rise|fall|increase|decrease|happen|lead|result|come|help|rain|play|win|lose|open|begin|start|find|see|look|feel|enjoy|likely|probably|perhaps|undoubtedly|surely|soon|eventually|inevitably|hopefully)(?: (?:easy|easier|hard|harder|difficult|clear|possible|impossible|useful|helpful|interesting|fun|sunny|warm|cold|held|discussed|described|explained|shown|seen|presented|covered|introduced|published|released|announced|celebrated|missed|remembered|born|back|home|there|here|over|ready|famous|the (?:first|last|best|largest|biggest)))\b",
    r"\b(?:chapter|section|book|article|paper|document|guide|tutorial|example|figure|table|appendix|introduction|part|weather|sun|rain|snow|temperature|market|prices?|economy|team|film|show|concert|exhibition|festival|train|child|children|reader|readers|students?|visitors|guests|world|future|history|city|story|success|project|event|game|season|year|day|night|summer|winter|spring|autumn|week|month|morning|evening)s? will\b",
    r"\bno \w+ (?:that|who|which) (?:may|can)\b|\bmay be no\b|\bno (?:doubt|wonder|matter|sooner)\b|\bwill be (?:happy|pleased|glad|delighted|familiar)\b",
];

const BINDING: &[Binding] = &[
    Binding { reason: "shall", says: &[r"\bshall\b|\bshalt\b"], unless: &[] },
    Binding { reason: "must", says: &[r"\bmust(?:n't)?\b"], unless: &[] },
    Binding {
        reason: "prohibition",
        says: &[
            r"\b<be> <adv>(?:prohibited|forbidden|banned|disallowed|barred from|precluded from|unlawful|illegal|inadmissible|impermissible|not <adv>(?:permitted|permissible|allowed|authori[sz]ed|acceptable|admissible|lawful|to\b|entitled to))",
            r"\b(?:isn't|aren't) (?:permitted|allowed|acceptable|authori[sz]ed)\b|\b(?:may|might) <adv>(?:not|neither|never|under no|in no)\b",
            r"\bcan(?: ?not|'t) be\b[^.;]*\b(?:without|unless|until|before|except|other than)\b|\bcan(?:not| not|'t) <adv>(?:assign|transfer|disclose|delegate|waive|sublet)\b",
            r"\bcan(?: ?not|'t) be (?:altered|amended|assigned|cancelled|changed|deactivated|deleted|disabled|disclosed|edited|exported|modified|overridden|overwritten|reassigned|removed|reused|revoked|shared|sublet|switched off|transferred|turned off|waived)\b",
            r"\b(?:no|neither|nobody|none|no one|nothing)\b[^.;]*\b(?:may|can be|(?:is|are) (?:permitted|allowed|authori[sz]ed|entitled))\b",
            r"\b(?:has|have|acquires?|gains?|holds?|obtains?) no (?:\w+ )?(?:right|authority|entitlement|permission|power)s? to \w|\b(?:no|nobody|none|no one|neither)\b[^.;]*\b(?:has|have) (?:the|any) (?:right|authority|permission|power) to\b|\b<be> in no (?:way|event|case) (?:permitted|allowed|authori[sz]ed|entitled)\b",
            r"\b(?:is|are|will be|can be) (?:not|never) <adv>tolerated\b|\b(?:will|can)(?: not| never|not) be (?:tolerated|condoned)\b|\bzero[ -]tolerance (?:for|of|towards?)\b",
            r"\b(?:under no circumstances|in no (?:case|event|circumstances)|at no time|on no account|not under any circumstances)\b",
            r"\b(?:prohibits?|forbids?|disallows?|outlaws?) \w|\b(?:does|do) not <adv>(?:permit|allow|authori[sz]e|entitle|exempt|relieve|release|tolerate)\b",
            r"^no \w[\w ]* (?:without|unless|until|before|in|on|after)\b|^no (?:smoking|entry|parking|eating|food|access)\b|^prohibited\b|\b<be> <adv>(?:off[ -]limits|out of bounds)\b",
            r"\b<actor> <adv>(?:does|do|will) not (?:<adv>)(?:<does>|use|process|transfer|engage|assign|sell|share|sublet|permit|allow|make|enter|alter|modify|copy|remove|exceed|accept|cause|impose|charge|rely|combine|profile|pass|employ|delegate|subcontract)\b",
        ],
        unless: &[],
    },
    // What a rule announces of requests and things that do not comply.
    Binding {
        reason: "prohibition",
        says: &[
            r"\bwill (?:not|never) be (?:accepted|admitted|considered|entertained|granted|honou?red|processed|refunded|reimbursed)\b|\bwill be (?:rejected|refused|disregarded)\b",
        ],
        unless: &[
            r"\b(?:here|further|in this (?:article|book|chapter|guide|paper|section|tutorial)|by (?:all|every\w+|many|most|some))\b",
        ],
    },
    // Signs and labels without a verb.
    Binding {
        reason: "prohibition",
        says: &[
            r"^no (?:\w+ ){0,2}(?:admittance|admission|exit|trespassing|loitering|littering|drinking|alcohol|drinks|weapons|photos|photography|filming|recordings?|cameras|phones|open flames?|naked (?:flames?|lights?)|pets|dogs|animals|visitors|vehicles|unauthori[sz]ed \w+|disclosure|sharing|copying|resale|redistribution|reuse|exceptions?|deviations?|storage|discharge|dumping)\b",
            r"^[^.;:,]{3,80}? <adv>(?:prohibited|forbidden|not (?:permitted|allowed))(?: <where> [^.;]*)?[.!]*$",
        ],
        unless: &[r"\b<finite>\b|~"],
    },
    Binding {
        reason: "only",
        says: &[
            r"\b(?:personnel|staff|members|employees|residents|holders|users|customers|visitors|adults|use|appointment|invitation|permit|badge|vehicles) only[.!]*$",
        ],
        unless: &[r"\b<finite>\b|~"],
    },
    Binding {
        reason: "required",
        says: &[
            r"^(?:mandatory|compulsory) (?:[\w-]+ ){1,5}<where> [^.;]*[.!]*$|^(?:mandatory|compulsory) (?:[\w-]+ ?){1,5}[.!]+$",
            r"^[^.;:,]{3,80}? <adv>(?:mandatory|compulsory|obligatory)(?: <where> [^.;]*)?[.!]*$|^[^.;:,]{3,80}? <adv>required(?: <where> [^.;]*[.!]*|[.!]+)$",
        ],
        unless: &[
            r"\b<finite>\b|~",
            r"\bnot <adv>(?:mandatory|compulsory|obligatory|required)\b",
            r"^(?:mandatory|compulsory) (?:courses?|documents?|education|experience|fields?|forms?|literature|modules?|qualifications?|readings?|skills?)\b",
        ],
    },
    Binding {
        reason: "only",
        says: &[
            r"\bcan (?:then |also )?(?:only|solely|exclusively) (?:be \w+|<do>)\b[^.;]*?\b(?:after|before|once|upon|until|if|when|where|with|by|on|in|during|through|within|from|at|for)\b|^only (?:after|once|when|if|where|with|upon|on|by|in)\b[^.;]*\bcan (?:the|an?|any|all|such|this|these|your|its|their)\b[^.;]*\bbe\b",
            r"\bonly\b[^.;]*\b(?:may|can be|<be> <adv>(?:permitted|permissible|allowed|lawful|admissible))\b|\bmay\b[^,.;]{0,60}?\b(?:only|solely|exclusively)\b",
            r"\b(?:may|can)\b[^.;]{0,240}?\bonly (?:if|where|when|to the extent|in so far as|insofar as|on condition|after|upon|with|under)\b",
            r"\b<be> (?:permitted|permissible|allowed|lawful|used|granted|given|admitted|accepted|processed|disclosed|valid) (?:only|solely|exclusively)\b|\b<be> (?:only|solely|exclusively) (?:permitted|permissible|allowed|lawful|granted|given|admitted|accepted|processed|disclosed|used)\b",
            r"\b<be> <adv>(?:limited|restricted|confined|reserved) (?:exclusively )?(?:to|for)\b",
            r"\b(?:may|can)(?: be| take)?[^.;]{0,80}\b(?:provided that|on condition that|subject to (?:<approval>|prior|the prior)|unless|if, and only if)\b",
            r"\b(?:may|can|permitted|allowed|authori[sz]ed)\b[^.;]{0,120}\bwith (?:the )?(?:prior |written |express )*(?:approval|authori[sz]ation|consent|permission) (?:of|from)\b",
        ],
        unless: &[],
    },
    Binding {
        reason: "required",
        says: &[
            r"\b<be> <adv><bound>\b|\b(?:bound|compelled) (?:to|by (?:the|this|these|a duty))\b|\b(?:is|are) <adv>directed to\b",
            r"\brequires? (?:that\b|(?:the |all |each |every |any |both |an? )?[\w -]{1,60}? to (?:be )?\w|(?:the )?(?:prior |written |express |explicit )*(?:approval|authori[sz]ation|consent|permission|a permit|a licen[cs]e|notification|registration|signature|payment))",
            r"\b(?:mandates|obligates|obliges|compels) (?:that\b|[\w-]+ )|\b<be> subject to (?:[\w-]+ ){0,4}requirements?\b",
            r"\b(?:is|are) <adv>(?:necessary|essential|vital|crucial)(?: (?:to|that|for|before|prior|in order|on|at|by)\b|\W*$)|\b(?:approval|consent|permit|licen[cs]e|permission|authori[sz]ation|signature|notification|certificate)s? (?:is|are) needed\b|\bit is (?:an? )?(?:requirement|condition|obligation|precondition)\b",
            r"^(?:mandatory|compulsory|required)(?::|$| (?:for|in|by|on|at|before|prior|when|if|under|to)\b)|\b(?:is|are|as) an? (?:\w+ )?(?:mandatory|legal|strict|contractual|statutory|binding) (?:requirement|obligation|duty|condition|precondition)\b",
            r"\b<be> subject to (?:prior |the prior |the |mandatory |regular |annual |periodic |written )*<approval>\b|\b<be> (?:conditional|contingent) (?:up)?on\b",
            r"\b<be> <adv>(?:(?:an?|the) )?(?:\w+ )?(?:pre-?condition|prerequisite|condition|requirement)s? (?:of|for|to|that|under|before)\b|\b<be> <adv>(?:not optional|non-?optional|non-negotiable|not negotiable)\b",
        ],
        unless: &[],
    },
    Binding {
        reason: "has to",
        says: &[
            r"\b(?:has|have) <adv>(?:got )?to\b <adv>\w|\b(?:needs?|need) <adv>to (?:be )?\w|\bneeds? (?:prior |written |the |explicit )*(?:approval|consent|authori[sz]ation|permission)\b",
            r"\b(?:is|are) (?:never )?<adv>to (?:be )?[a-z]{2,}|\bought (?:not )?to\b",
            r"\b(?:has|have|is|are|needs?), [^,.;]{1,60}, to (?:be )?[a-z]{2,}",
        ],
        unless: &[],
    },
    Binding {
        reason: "responsibility",
        says: &[
            r"\b<be> <adv>(?:jointly |solely |fully |ultimately )?(?:responsible|accountable|answerable|liable) (?:for|to|towards)\b|\b<be> (?:charged|tasked|entrusted) with\b|\bin charge of\b",
            r"\b(?:has|have|owes?|bears?|assumes?|carr(?:y|ies)|under|accepts?|imposes?(?: on [\w ]+)?|places?(?: on [\w ]+)?) (?:an?|the|its|their|his|her|your|full|sole|primary) (?:\w+ ){0,2}(?:obligation|duty|responsibility|liability|onus|burden)\b",
            r"\b(?:is|shall be|remains) (?:also )?(?:the|its|their|your|an?) (?:\w+ ){0,2}(?:duty|responsibility|obligation|task) (?:of|to)\b|\b(?:duty|responsibility|obligation|burden|onus)\b[^.;]{0,60}\b(?:lies|rests|falls|extends) (?:with|on|upon|to)\b|\bincumbent (?:up)?on\b",
            r"\b(?:obligations|duties|responsibilities) of [^.;:]{1,80} (?:include|are|comprise|consist)\b",
        ],
        unless: &[],
    },
    Binding {
        reason: "undertaking",
        says: &[
            r"\b(?:undertakes?|covenants?|pledges?|agrees?|commits?|commits? (?:itself|themselves)|promises?) <adv>(?:not )?to\b|\b(?:undertakes?|covenants?|represents and warrants|warrants?) that\b|\b<actor> (?:guarantees?|warrants?)\b",
            r"\b<actor>(?: and (?:the )?(?:its )?\w+)? <adv>will <adv>(?:not )?[a-z]|\bwill be (?:responsible|liable|required|obliged|payable)\b",
            r"\b<be> <adv>due(?: and payable)? (?:within|by|on|before|in|upon|no later|not later|monthly|quarterly|annually|each|at|immediately)\b|\b<be> <adv>(?:payable|repayable|chargeable)\b|\bfalls? due (?:within|on|at|by)\b",
            // With other subjects, `will` describes: `Most packages will have no priority.`
            r"\b<party>(?: and (?:the )?(?:its )?\w+)? <adv>will <adv>(?:not )?[a-z]|(?:^|, )(?:(?:the|an?|each|every|all|any) )?(?:[\w-]+ ){0,2}<product> <adv>will <adv>(?:not )?[a-z]",
        ],
        unless: &[],
    },
    Binding {
        reason: "should",
        says: &[
            r"\bshould(?:n't)?\b|\b(?:is|are) (?:strongly |highly )?(?:recommended|advised|encouraged|urged)\b|\brecommends? that\b",
            r"\b(?:is|are) <adv>expected to\b|\b(?:is|are) expected of\b|\bexpects? (?:all |the |each |every |that )?<actor>\b|\bexpects? (?:[\w-]+ ){1,4}?<actor> to\b|\b(?:we|regulator|authority|commission) expects?\b",
        ],
        unless: &[],
    },
    Binding {
        reason: "function",
        says: &[
            r"\b<product> (?:also |then |automatically |only )?<offers> [a-z\d(\x22]",
            r"^(?:the |an? )?(?:ability|capability|option|possibility) (?:for [\w ]{1,40} )?to \w",
            r"^(?:automatically |also )?<offering> (?:\w+ly )?[a-z\d(\x22]",
            r"\b(?:minimum|maximum) (?:[\w-]+ ){1,12}?(?:is|are) (?:(?:the )?(?:greater|lesser|higher|lower) of )?[$€£]?\d",
            r"\bwill be able to\b|^there will be\b",
            r"^(?:the |an? |any |each |every |all )?(?:[\w-]+ ){0,2}(?:users?|administrators?|system|application|software|product|program|interface) can (?:also |then |only )?<do>\b",
            r"\b(?:is|are) (?:never|not) (?:\w+ly )?(?:stored|kept|sent|shown|displayed|logged|shared|copied|cached|transmitted|saved|exposed|reused|disclosed|overwritten|deleted)\b",
            r"(?:^|: |\b(?:is|are|takes?|lasts?|weighs?|costs?|uses?|has|have) )(?:at most|no more than|not more than|no less than|not less than|no fewer than|a maximum of|a minimum of|max\.? ?|<|≤|≥|>) ?(?:\d|one|two|three|four|five|six|ten|a)",
            r"\b(?:is|are) available (?:at least )?\d",
        ],
        unless: &[r"\b(?:was|were|had|did|used to|my|our own|you can|we)\b"],
    },
    Binding {
        reason: "duty stated",
        says: &[
            r"(?:^|, |^\(?\w{1,3}[.)] )(?:the |each |every |all |any |an? |our |both |either |such |(?:top |senior |line )?)(?:[\w-]+ ){0,3}?<actor>(?: concerned| of [\w ]{1,40})? <adv><does>\b",
            r"^(?:<actor>|member states|top management|senior management) <adv><does>\b|\b<actor> (?:makes? sure|takes? care|sees? to it) that\b|\b(?:ensures?|guarantees?|makes? sure|sees to it) that\b",
            r"\b(?:is|are) <adv>(?:retained|kept|stored|documented|recorded|reviewed|approved|tested|verified|inspected|calibrated|archived|deleted|destroyed|erased|reported|notified|logged|encrypted|checked|signed|updated|submitted|audited|maintained|monitored|backed up|revoked|replaced|sent|informed|made available|carried out|performed|repeated)\b[^.;]*\b(?:at least|at most|no later than|not later than|no longer than|not longer than|no more than|not more than|within (?:\w+ ){1,3}(?:hours?|days?|weeks?|months?|years?|minutes?)|for a (?:minimum|maximum|period)|prior to|immediately|without (?:undue )?delay|at all times|in writing)\b",
        ],
        unless: &[],
    },
];
