//! Instructions: sentences that tell whoever reads them to do something, without a subject.

use super::rules::{Binding, Lists, Rules};
use super::wording::Wording;
use std::sync::LazyLock;

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::of(&LISTS));

/// Longer ones are hardly instructions of a procedure.
const MOST_WORDS: usize = 60;

/// By what an instruction is known.
pub(super) fn reason(wording: &Wording) -> Option<&'static str> {
    (2..=MOST_WORDS).contains(&wording.words).then(|| RULES.reason(&wording.text)).flatten()
}

const LISTS: Lists = Lists { names: NAMES, never: NEVER, aside: ASIDE, harmless: HARMLESS, binding: BINDING };

const NAMES: &[(&str, &str)] = &[
    // What may stand before the verb: a label, a condition, an adverb.
    (
        "start",
        r"^(?:step \d+[:.] |note: |notes: |warning[:!] |caution[:!] |important: |danger[:!] |\d+ |[a-z\d]{1,3}[.)] )?(?:(?:if|when|before|after|where|once|unless|in case|during|for|at|in|upon|on|prior to|while|until|to|following|as soon as|with|within|every|at the end of|by) [^,;.]{3,140}, (?:then )?)?(?:then |please |always |immediately |never |first, |finally, |next, |also )?",
    ),
    // Verbs that are hardly nouns at the beginning of a sentence.
    (
        "verb",
        r"(?:abide|adhere|adjust|affix|align|allocate|allow|appoint|apply|archive|arrange|ask|assemble|assess|assign|attach|authenticate|authori[sz]e|avoid|bring|calculate|calibrate|carry|choose|clean|clear|close|collect|communicate|complete|comply|conduct|configure|confirm|connect|consult|create|define|delete|deliver|demonstrate|deny|describe|designate|destroy|determine|disable|disconnect|discard|discontinue|dispose|draw up|drain|encrypt|enforce|ensure|enter|erase|escalate|establish|evacuate|evaluate|examine|execute|fasten|fill|fit|follow|forward|give|grant|handle|hold|identify|implement|inform|insert|inspect|install|isolate|keep|label|load|loosen|lower|maintain|make|measure|minimi[sz]e|mitigate|mount|notify|observe|obtain|open|operate|perform|prepare|preserve|press|prevent|prohibit|protect|provide|publish|purge|put|quarantine|read|reduce|refrain|register|reject|remove|repair|replace|require|restrict|retain|revoke|rinse|rotate|run|safeguard|sanitize|secure|select|send|separate|set|shut|specify|stop|submit|switch|take|tighten|train|transmit|turn|unplug|update|use|validate|verify|wait|wash|wear|wipe|withdraw|write)",
    ),
    // Verbs that may be nouns: only with what a noun would not be followed by.
    (
        "noun",
        r"(?:access|address|alert|answer|audit|back up|block|change|charge|check|contact|control|copy|cover|date|document|drill|file|focus|freeze|guard|leave|limit|list|lock|log|mark|monitor|name|order|pack|plan|plug|pump|record|release|report|request|restore|return|review|scan|seal|sign|stamp|start|state|store|supply|support|test|track|transfer|treat|weigh)",
    ),
    (
        "object",
        r"(?:the|all|any|each|every|an?|your|its|their|this|these|those|that|no|both|only|whether|it|them|at least|in|at|on|to|with|within|out|off|down|for|and \w+ (?:the|all|any|each|every|an?|your))",
    ),
];

const NEVER: &[&str] = &[
    r"^(?:note|recall|see|compare|consider|suppose|imagine|let|think|remember|refer|read on|look|take (?:for|the case|a look|me|this)|make no mistake|keep in mind|bear in mind|give or take|set in|set against|written|made|given|open to|run by|read more|put (?:simply|differently|another)|for example|zum beispiel|beispiel)\b",
];

const ASIDE: &[&str] = &[r"\bnot only\b"];

const HARMLESS: &[&str] = &[r"^(?:<verb>|<noun>)(?:, \w+)*,? (?:is|are|was|were|has|had|have|can|could|will|would)\b"];

const BINDING: &[Binding] = &[
    Binding {
        reason: "instruction",
        says: &[
            r"<start>(?:do not|don't) [a-z]",
            r"<start><verb>(?:,? (?:and|or|,) \w+)? [a-z0-9\x22(§%-]",
            r"<start><noun> <object>\b",
            r"<start>(?:make sure|take care|see to it)\b|^(?:always|never) [a-z]+ ",
        ],
        unless: &[],
    },
    Binding {
        reason: "instruction",
        says: &[
            // "Prüfen Sie", "Stellen Sie sicher"; a clause may stand before it.
            r"(?:^|, |: |\d )(?:bitte )?(?:prüfen|verwenden|stellen|tragen|achten|beachten|halten|lassen|entfernen|öffnen|schließen|schalten|reinigen|trennen|melden|informieren|dokumentieren|bewahren|speichern|löschen|füllen|geben|ziehen|setzen|legen|wählen|warten|führen|nehmen|vermeiden|unterlassen|sichern|verschlüsseln|ändern|kontrollieren|überprüfen|benachrichtigen|senden|notieren|erfassen|unterschreiben|sorgen|beauftragen|verständigen|unterbrechen|nutzen|bringen|ersetzen|lesen|befolgen|hinterlegen|reichen|vergewissern|drücken|installieren|starten|wenden|protokollieren|sperren|archivieren|vernichten|messen|verlassen|tauschen|bestätigen|lagern|montieren|betreiben|betreten|befestigen|lösen|berühren|\w{3,}ieren) sie\b",
            // "Vor der Wartung den Netzstecker ziehen.": no finite verb, an infinitive at the end.
            r"^(?:[^ ,]+ ){1,14}?(?:nicht |sofort |unverzüglich |sorgfältig |regelmäßig |täglich |wöchentlich |jährlich |immer |niemals |vollständig |schriftlich )*(?:(?:ab|an|auf|aus|bei|dar|durch|ein|fest|frei|her|hin|los|mit|nach|sicher|über|um|unter|vor|weg|weiter|wieder|zurück|zusammen|zu|bereit|bekannt|offen|nieder|heraus|hinzu)(?:b|d|f|g|h|k|l|m|n|p|r|s|t|v|w|z)\w{2,}(?:en|eln|ern)|prüfen|verwenden|tragen|beachten|einhalten|entfernen|öffnen|schließen|reinigen|trennen|melden|informieren|dokumentieren|speichern|löschen|füllen|ziehen|vermeiden|sichern|verschlüsseln|kontrollieren|überprüfen|benachrichtigen|notieren|erfassen|unterschreiben|befolgen|protokollieren|sperren|archivieren|vernichten|messen|lagern|montieren|betreten|befestigen|lösen|berühren|schütteln|spülen|waschen|halten|wechseln|ersetzen|sicherstellen|verständigen|kalibrieren|installieren|unterrichten|schulen|verlassen|aufsuchen|benutzen|benützen|lüften|abkühlen|kühlen|schmieren|ölen|fetten|desinfizieren|laden|fahren|treten|greifen|verstellen|verändern|legen|stellen|setzen|tauchen|erwärmen|kippen|rütteln|rufen|bringen|leisten|bewahren|vernehmen|ausfüllen|einsenden)[.!]$",
        ],
        unless: &[
            r"\b(?:ist|sind|muss|müssen|mussten?|soll|sollen|sollten?|wird|werden|hat|haben|kann|können|konnten?|darf|dürfen|lässt|lassen|will|wollen|möchten?|würden?|wurden?|war|waren|hatten?|geht|gehen|man|wir|ich|er|es)\b",
        ],
    },
];
