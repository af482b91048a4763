//! Instructions: imperative sentences, without a subject.

use super::rules::{Binding, Lists, Rules};
use super::wording::Wording;
use std::sync::LazyLock;

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::of(&LISTS));
static NUMBERED: LazyLock<Rules> = LazyLock::new(|| Rules::of(&OF_NUMBERED));

/// Longer sentences are unlikely to be instructions of a procedure.
const MOST_WORDS: usize = 60;

/// The rule by which an instruction is a candidate; `numbered`: it has its own number, like a requirement.
pub(super) fn reason(wording: &Wording, numbered: bool) -> Option<&'static str> {
    if !(2..=MOST_WORDS).contains(&wording.words) {
        return None;
    }
    let by_number = || NUMBERED.reason(wording.text.as_str()).filter(|_| numbered);
    RULES.reason(&wording.text).or_else(by_number)
}

const LISTS: Lists =
    Lists { names: NAMES, never: NEVER, aside: ASIDE, firm: &[], firmly: "", harmless: HARMLESS, binding: BINDING };

/// A numbered sentence needs fewer signs of an instruction: `Monitor security alerts.`
const OF_NUMBERED: Lists = Lists {
    names: NAMES,
    never: NEVER,
    aside: ASIDE,
    firm: &[],
    firmly: "",
    harmless: HARMLESS,
    binding: &[Binding {
        reason: "instruction",
        says: &[r"^(?:<start>)?(?:\w+ly )?(?:<verb>|<noun>)(?:,? \(?[a-z/\x22-].*)\.(?: ?\d{1,3})*$"],
        unless: &[
            r"^(?:[\w/-]+,? ){1,5}(?:is|are|was|were|has|had|have|can|could|may|might|will|would|must|shall|should|does|do)\b",
        ],
    }],
};

const NAMES: &[(&str, &str)] = &[
    // Text that may precede the verb: a label, a condition, an adverb.
    (
        "start",
        r"^(?:step \d+[:.] |note: |notes: |warning[:!] |caution[:!] |important: |danger[:!] |\d+ |\d+(?:\.\d+)+\.? |[a-z]{1,5}[.-]?\d+(?:[.-]\d+)*(?:\(\d+\))?[:.]? |[a-z\d]{1,3}[.)] )?(?:(?:if|when|before|after|where|once|unless|in case|during|for|at|in|upon|on|prior to|while|until|to|following|as soon as|with|within|every|at the end of|by) [^,;.]{3,140}, (?:then )?)?(?:then |please |always |immediately |never |first, |finally, |next, |also |periodically |regularly |promptly |only )?",
    ),
    // Verbs that are unlikely to be nouns at the beginning of a sentence.
    (
        "verb",
        r"(?:abide|adapt|adhere|adjust|administer|advise|affix|align|allocate|allow|analy[sz]e|anonymi[sz]e|appoint|apply|approve|archive|arrange|ask|assemble|assess|assign|attach|attest|authenticate|authori[sz]e|automate|avoid|bring|build|calculate|calibrate|carry|cease|certify|choose|clarify|classify|clean|clear|close|collect|combine|communicate|compare|compile|complete|comply|conduct|configure|confirm|connect|consolidate|consult|contain|convene|convert|cooperate|coordinate|correct|correlate|create|deactivate|declare|decommission|decrypt|dedicate|define|delete|deliver|demonstrate|deny|deploy|derive|describe|designate|destroy|detect|determine|develop|disable|disapprove|discard|disclose|disconnect|discontinue|dispose|disseminate|distribute|drain|draw up|educate|eliminate|employ|enable|encourage|encrypt|enforce|engage|enhance|enrol|ensure|enter|erase|escalate|escort|establish|evacuate|evaluate|examine|exclude|execute|extract|facilitate|fasten|fill|finali[sz]e|fit|follow|formali[sz]e|forward|gather|generate|give|govern|grant|guarantee|handle|harden|hold|identify|implement|include|incorporate|inform|initiate|insert|inspect|install|integrate|investigate|invoke|involve|isolate|justify|keep|label|load|loosen|lower|lubricate|maintain|make|manage|maximi[sz]e|measure|meet|merge|migrate|minimi[sz]e|mitigate|modify|mount|negotiate|nominate|notify|obfuscate|obscure|observe|obtain|open|operate|optimi[sz]e|organi[sz]e|oversee|partition|pay|perform|permit|preclude|prepare|preserve|press|prevent|prioriti[sz]e|procure|prohibit|promote|propose|protect|prove|provide|provision|publish|purge|put|quarantine|raise|read|reassess|reconcile|recover|reduce|refrain|refuse|register|reject|remediate|remind|remove|render|renew|repair|replace|require|resolve|respond|restrict|resume|retain|reuse|revoke|rinse|rotate|run|safeguard|sanitize|secure|segregate|select|send|separate|serve|set|shut|solicit|specify|standardi[sz]e|stop|strengthen|strive|submit|substantiate|summari[sz]e|supervise|suppress|suspend|sustain|switch|synchroni[sz]e|tailor|take|terminate|tighten|train|translate|transmit|turn|uninstall|unlock|unplug|update|use|utili[sz]e|vacate|validate|verify|vet|wait|warn|wash|wear|wipe|withdraw|withhold|write)",
    ),
    // Verbs that may be nouns: only if followed by something that cannot follow a noun.
    (
        "noun",
        r"(?:access|acquire|address|alert|answer|assume|attend|audit|back up|block|change|charge|check|claim|commission|conserve|contact|contract|control|copy|count|cover|date|delay|demand|design|direct|display|divide|document|download|drill|estimate|exchange|exercise|exit|expand|expose|extend|file|filter|fix|flag|focus|freeze|guard|guide|handle|hash|host|import|export|increase|index|influence|interface|invite|issue|leave|limit|link|list|locate|lock|log|map|mark|mask|monitor|name|number|offer|order|outline|pack|patch|permit|place|plan|plug|post|practi[cs]e|present|process|produce|program|pump|purchase|question|rank|rate|reboot|record|refresh|release|report|request|reserve|reset|restore|return|review|route|sample|save|scale|scan|schedule|screen|seal|search|segment|share|ship|show|sign|signal|sort|stamp|start|state|store|structure|subject|supply|support|tag|target|test|time|trace|track|transfer|treat|trigger|upgrade|upload|view|visit|walk|weigh)",
    ),
    (
        "object",
        r"(?:the|all|any|each|every|an?|your|its|their|this|these|those|that|no|both|only|whether|it|them|at least|in|at|on|to|with|within|out|off|down|for|and \w+ (?:the|all|any|each|every|an?|your))",
    ),
];

const NEVER: &[&str] = &[
    r"^(?:use cases?|open issues?|open source|set points?|read-only|write-once|use of|notify of|complete(?:d|ly)? of|close to|contain(?:er)?s|given|build number|include files?|clear text|present)\b",
    r"^(?:note|recall|see|compare|consider|suppose|imagine|let|think|remember|refer|read on|look|take (?:for|the case|a look|me|this)|make no mistake|keep in mind|bear in mind|give or take|set in|set against|written|made|given|open to|run by|read more|put (?:simply|differently|another)|for example|zum beispiel|beispiel)\b",
];

const ASIDE: &[&str] = &[r"\bnot only\b"];

const HARMLESS: &[&str] = &[r"^(?:<verb>|<noun>)(?:, \w+)*,? (?:is|are|was|were|has|had|have|can|could|will|would)\b"];

const BINDING: &[Binding] = &[
    Binding {
        reason: "instruction",
        says: &[
            r"<start>(?:do not|don't) [a-z]",
            r"<start><verb>(?:,? (?:and|or|,) \w+)? (?:\([^)]*\) )?[a-z0-9\x22(§%-]",
            r"<start><noun>(?:,? (?:and|or) \w+)? (?:\([^)]*\) )?<object>\b",
            r"<start>(?:<verb>|<noun>)(?:, (?:or |and )?(?:<verb>|<noun>))+(?:,? (?:and|or) (?:<verb>|<noun>)|,)? ",
            r"<start>(?:<verb>|<noun>)(?:,? (?:and|or) (?:<verb>|<noun>)) ",
            r"<start>\w+ly (?:<verb>|<noun> <object>) ",
            r"^(?:do|must) not (?:<verb>|<noun>)\b",
            r"<start>(?:make sure|take care|see to it)\b|^(?:always|never) [a-z]+ ",
        ],
        unless: &[],
    },
    Binding {
        reason: "instruction",
        says: &[
            // "Prüfen Sie", "Stellen Sie sicher"; a clause may precede it.
            r"(?:^|, |: |\d )(?:bitte )?(?:prüfen|verwenden|stellen|tragen|achten|beachten|halten|lassen|entfernen|öffnen|schließen|schalten|reinigen|trennen|melden|informieren|dokumentieren|bewahren|speichern|löschen|füllen|geben|ziehen|setzen|legen|wählen|warten|führen|nehmen|vermeiden|unterlassen|sichern|verschlüsseln|ändern|kontrollieren|überprüfen|benachrichtigen|senden|notieren|erfassen|unterschreiben|sorgen|beauftragen|verständigen|unterbrechen|nutzen|bringen|ersetzen|lesen|befolgen|hinterlegen|reichen|vergewissern|drücken|installieren|starten|wenden|protokollieren|sperren|archivieren|vernichten|messen|verlassen|tauschen|bestätigen|lagern|montieren|betreiben|betreten|befestigen|lösen|berühren|\w{3,}ieren) sie\b",
            // "Vor der Wartung den Netzstecker ziehen.": no finite verb, an infinitive at the end.
            r"^(?:[^ ,]+ ){1,14}?(?:nicht |sofort |unverzüglich |sorgfältig |regelmäßig |täglich |wöchentlich |jährlich |immer |niemals |vollständig |schriftlich )*(?:(?:ab|an|auf|aus|bei|dar|durch|ein|fest|frei|her|hin|los|mit|nach|sicher|über|um|unter|vor|weg|weiter|wieder|zurück|zusammen|zu|bereit|bekannt|offen|nieder|heraus|hinzu)(?:b|d|f|g|h|k|l|m|n|p|r|s|t|v|w|z)\w{2,}(?:en|eln|ern)|prüfen|verwenden|tragen|beachten|einhalten|entfernen|öffnen|schließen|reinigen|trennen|melden|informieren|dokumentieren|speichern|löschen|füllen|ziehen|vermeiden|sichern|verschlüsseln|kontrollieren|überprüfen|benachrichtigen|notieren|erfassen|unterschreiben|befolgen|protokollieren|sperren|archivieren|vernichten|messen|lagern|montieren|betreten|befestigen|lösen|berühren|schütteln|spülen|waschen|halten|wechseln|ersetzen|sicherstellen|verständigen|kalibrieren|installieren|unterrichten|schulen|verlassen|aufsuchen|benutzen|benützen|lüften|abkühlen|kühlen|schmieren|ölen|fetten|desinfizieren|laden|fahren|treten|greifen|verstellen|verändern|legen|stellen|setzen|tauchen|erwärmen|kippen|rütteln|rufen|bringen|leisten|bewahren|vernehmen|ausfüllen|einsenden)[.!]$",
        ],
        unless: &[
            r"\b(?:ist|sind|bleibt|bleiben|scheint|scheinen|muss|müssen|mussten?|soll|sollen|sollten?|wird|werden|hat|haben|kann|können|konnten?|darf|dürfen|lässt|lassen|will|wollen|möchten?|würden?|wurden?|war|waren|hatten?|geht|gehen|man|wir|ich|er|es)\b",
        ],
    },
];
