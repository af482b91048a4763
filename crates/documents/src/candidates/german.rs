//! German: the wording of obligations.

use super::rules::{Binding, Lists, Rules, in_capitals};
use super::wording::Wording;
use std::sync::LazyLock;

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::of_ascii(&LISTS));

/// The rule by which a German sentence is a candidate.
pub(super) fn reason(wording: &Wording) -> Option<&'static str> {
    RULES.reason(&in_capitals(&wording.text))
}

const LISTS: Lists = Lists {
    names: NAMES,
    never: NEVER,
    aside: ASIDE,
    firm: FIRM,
    firmly: " darf nicht ",
    harmless: HARMLESS,
    binding: BINDING,
};

const NAMES: &[(&str, &str)] = &[
    // Addressees of obligations, with article and adjectives.
    (
        "actor",
        r"(?:(?:der|die|das|jede[rs]?|alle|ein|eine|dem|den|sämtliche|beide|diese[rs]?|er|sie) )?(?:[\wäöüß-]+(?:e|en|er|es) ){0,2}(?:verantwortliche[nr]?|auftragsverarbeiter|auftragnehmer(?:in)?|auftraggeber(?:in)?|betreiber(?:in)?|anbieter|hersteller|lieferant(?:en)?|mieter(?:in)?|vermieter(?:in)?|arbeitgeber(?:in)?|arbeitnehmer(?:in)?|beschäftigte[nr]?|mitarbeiter(?:in|innen|innen und mitarbeiter|nde)?|mitgliedstaat(?:en)?|aufsichtsbehörden?|zuständigen? behörden?|behörden?|kommission|unternehmer(?:in)?|unternehmen|steuerpflichtige[nr]?|buchführungspflichtige[nr]?|institute?|leitung|geschäftsleitung|geschäftsführung|vorstand|aufsichtsrat|kunden?|käufer(?:in)?|verkäufer(?:in)?|pächter(?:in)?|bieter|bewerber(?:in)?|versicherer|darlehensnehmer(?:in)?|träger|vermittler|gesellschafter|kaufleute|kaufmann|arzt|ärzte|schulen?|kreditinstitute?|einführer|importeure?|händler|inhaber(?:in)?|antragsteller(?:in)?|prüfer(?:in)?|administratoren|administrator|nutzer(?:in)?|anwender|parteien?|vertragsparteien?|vertragspartner|datenschutzbeauftragte[nr]?|beauftragte[nr]?|stellen?|verpflichteten?|eigentümer(?:in)?|dienstleister|organisation(?:en)?|abteilung(?:en)?|fachabteilung(?:en)?|anlagenbetreiber|halter|fahrer|lizenznehmer|gemeinden?|länder|bundesamt|bundesanstalt|ministerium)",
    ),
    // Present tense of actions that an organisation is obliged to perform.
    (
        "does",
        r"(?:stell(?:t|en)|gewährleiste(?:t|n)|sorg(?:t|en)|triff?t|treffen|ergreif(?:t|en)|unterrichte(?:t|n)|informier(?:t|en)|teil(?:t|en)|meld(?:et|en)|übermittel(?:t|n)|führ(?:t|en)|leg(?:t|en)|benenn(?:t|en)|bestell(?:t|en)|dokumentier(?:t|en)|überprüf(?:t|en)|prüf(?:t|en)|überwach(?:t|en)|bewahr(?:t|en)|lösch(?:t|en)|berichtig(?:t|en)|veröffentlich(?:t|en)|erstell(?:t|en)|erlass?(?:t|en)|erlässt|trag(?:en)?|trägt|hält|halten|gib?t|geben|erteil(?:t|en)|haft(?:et|en)|zahl(?:t|en)|liefer(?:t|n)|verwend(?:et|en)|wend(?:et|en)|richt(?:et|en)|arbeit(?:et|en)|schütz(?:t|en)|sicher(?:t|n)|protokollier(?:t|en)|verarbeit(?:et|en)|bewert(?:et|en)|ermittel(?:t|n)|leiste(?:t|n)|erbring(?:t|en)|reich(?:t|en)|leit(?:et|en)|beacht(?:et|en)|berücksichtig(?:t|en)|unterstütz(?:t|en)|verfüg(?:t|en)|beschränk(?:t|en)|händig(?:t|en)|weis(?:t|en)|setz(?:t|en)|nimmt|nehmen|zieh(?:t|en)|hol(?:t|en)|schul(?:t|en)|regel(?:t|n)|unterlass(?:en)?|unterlässt|bestimm(?:t|en)|ernenn(?:t|en)|bring(?:t|en)|nutz(?:t|en)|begleich(?:t|en)|händig(?:t|en)|stimm(?:t|en)|mach(?:t|en)|stimm(?:t|en)|kontrollier(?:t|en)|verschlüssel(?:t|n)|archivier(?:t|en)|bericht(?:et|en)|zeig(?:t|en)|beauftrag(?:t|en)|vernicht(?:et|en)|speicher(?:t|n)|fordert|fordern|konsultier(?:t|en)|sieht|sehen|verpflicht(?:et|en))",
    ),
    // An infinitive with "zu", as one word or two.
    (
        "zu",
        r"(?:zu [\wäöüß]{2,}(?:en|eln|ern|un|in)|(?:ab|an|auf|aus|bei|dar|durch|ein|entgegen|fest|fort|frei|gegenüber|heraus|herbei|herab|herauf|herein|heran|herunter|her|hinaus|hinzu|hinein|hinauf|hin|los|mit|nach|nieder|offen|sicher|statt|teil|über|um|unter|voraus|vorher|vor|weg|weiter|wieder|zurück|zusammen|zu|bereit|bekannt|gleich|gut|klar|wahr|auseinander|bevor|dazu|daran|davor|fern|fertig|fest|hervor|instand|kenntlich|kund|nahe|rück|schadlos|still|voll|vorlieb|zufrieden|zugrunde|zurecht)zu[\wäöüß]{3,}(?:en|eln|ern|un|in)|(?:ab|an|auf|aus|bei|dar|durch|ein|fest|her|hin|nach|vor|zu)zutun)",
    ),
    (
        "clause",
        r"(?:die|der|das|den|dem|deren|dessen|welche[rsnm]?|wenn|soweit|sofern|falls|sobald|solange|wie|was|wo|in de[rnm]|für die|auf die|mit de[rnm]|insbesondere|auch|spätestens|vor|nach|bei|unter|mit|im|in|auf|für|innerhalb|unverzüglich|ohne|soll|gegebenenfalls|einschließlich|jedoch|mindestens|unbeschadet|abweichend|außer)",
    ),
    (
        "bound",
        r"(?:verpflichtet|erforderlich|notwendig|nötig|vorgeschrieben|zwingend|obligatorisch|vorgesehen|geboten|unerlässlich|unabdingbar|verbindlich|verpflichtend|unumgänglich|unverzichtbar)",
    ),
    // Nouns that bind as a predicate: `ist Pflicht`. With an article they are spoken about: `ist eine Bedingung`.
    ("noun", r"(?:pflicht|vorschrift|bedingung|pflichtfeld(?:er)?|pflichtangaben?|[\wäöüß]*voraussetzung(?:en)?)"),
    (
        "article",
        r"(?:die|der|den|dem|des|ein|eine[rsnm]?|diese[rsnm]?|jede[rsnm]?|welche[rsnm]?|keine?[rsnm]?|ihre[rsnm]?|seine[rsnm]?|unsere[rsnm]?|als|wichtige|wesentliche|gute|beste|zentrale|entscheidende)",
    ),
    // A finite verb, or a word that begins a clause with one: the words before the end are no sign or label.
    (
        "finite",
        r"(?:ist|sind|sei|war|waren|wird|werden|wurden?|hat|haben|hatten?|kann|können|konnten?|darf|dürfen|durften?|soll|sollen|muss|müssen|mussten?|gibt|gilt|gelten|galten?|geht|kommt|steht|tritt|bleibt|bleiben|macht|regelt|betrifft|dient|entfällt|endet|beginnt|fehlt|umfasst|besteht|bestand|wann|warum|wie|wer|ob|wenn|falls|soweit|sofern|nicht|umstritten|beschlossen|gefordert|geplant|festgestellt|gefunden|bekannt|vorhanden|angegeben|aufgehoben|verfügbar)",
    ),
    // Words between the parts of a phrase that say nothing of a duty.
    (
        "still",
        r"(?:aber|allerdings|also|auch|außerdem|abschließend|daher|dabei|dann|derzeit|deshalb|ferner|freilich|grundsätzlich|hier|hierbei|insgesamt|insoweit|jederzeit|jedoch|nach wie vor|noch|nun|regelmäßig|schließlich|somit|stets|vielmehr|weiter|weiterhin|wohl|zudem|zunächst|zusammenfassend|zwar|immer)",
    ),
    // How a sentence begins that draws a conclusion.
    (
        "opening",
        r"(?:(?:aber|abschließend|allerdings|also|angesichts|auch|auf ?grund|aus|dabei|daher|danach|dann|demnach|dennoch|derzeit|deshalb|ferner|folglich|gemäß|grundsätzlich|hier|hierbei|hierzu|in (?:der regel|diesem fall|vielen fällen)|im (?:allgemeinen|regelfall|zweifel)|insgesamt|insofern|insoweit|jedenfalls|jedoch|künftig|laut|mithin|nach|so|somit|trotz|wegen|weiter|weiterhin|zudem|zunächst|zusammenfassend)(?: [^,;.:]{1,80}?)?)",
    ),
    // What is expected, not done: `mit Verzögerungen`.
    (
        "trouble",
        r"[\wäöüß-]*(?:absage|änderung|andrang|ansturm|anstieg|ausfall|ausfälle|auswirkung|beeinträchtigung|behinderung|bußgeld|einschränkung|engpass|engpässe|entwicklung|erhöhung|fehler|folge|frost|gefahr|gewitter|glatteis|hochwasser|konsequenz|kosten|kündigung|mehraufwand|nachfrage|nachteil|nebel|niederschl[aä]g|problem|reaktion|regen|rückgang|sanktion|schaden|schäden|schnee|staus?\b|steigerung|störung|strafe|sturm|unfall|unfälle|unterbrechung|verbesserung|verkehr|verletzung|verlust|verschlechterung|verspätung|verzögerung|wartezeit|widerst[aä]nd|zunahme|zuwachs)[\wäöüß]*",
    ),
    (
        "comment",
        r"(?:zu (?:bedenken|bemerken|beobachten|betonen|erwähnen|ergänzen)|anzunehmen|einzuräumen|festzuhalten|festzustellen|hervorzuheben|hinzuzufügen|klarzustellen|vorauszuschicken|zuzugeben|zuzugestehen)",
    ),
    (
        "where",
        r"(?:in|im|am|an|auf|ab|vor|bei|beim|für|während|innerhalb|außerhalb|zwischen|unter|ohne|mit|gegenüber|nach|von|vom)",
    ),
];

const NEVER: &[&str] = &[
    r#"^[^a-z]*(?:im sinne (?:dieser|dieses|der|des) [^,]{1,80} (?:ist|sind|bezeichnet|gelten als|bedeutet)|["'\w][\w"'…() /äöüß-]{0,60} (?:bezeichnet|bedeutet|ist definiert als|meint)\b|unter (?:einer|einem|dem begriff|der bezeichnung) [^,]{1,60} versteht man)"#,
    r"^[^a-z]*(?:zum beispiel|beispielsweise|beispiel|beispiele|ein beispiel|so zum beispiel|angenommen|nehmen wir an)\b",
];

const ASIDE: &[&str] = &[
    // Goods, which elsewhere are a verb: `Die Waren sind zu wiegen.`
    r"^(?:(?:die|sämtliche|solche|andere|beschädigte|eingeführte|gebrauchte|gefährliche|gelieferte|mangelhafte|verbotene|verderbliche) )?waren\b|\b(?:der|den) waren\b",
    // Nouns: the two sides of an account, a planned value, a thing not to be missed.
    r"\bsoll(?: und |/| / )haben\b|\bsoll(?:-| und )ist\b|\bsoll-(?:bestand|buchung|größe|konzept|prozess|saldo|seite|stand|stellung|vergleich|wert|zeit|zustand)[\wäöüß]*|\b(?:plan-|im |vom |ins )soll\b",
    r"\b(?:ein|kein|absolutes|echtes) muss\b",
    // What a person in a story has no right to.
    r"\b(?:er|ich|du) (?:hat|habe|hast) kein recht\b",
    r"\bnicht (?:nur|zuletzt|allein)\b",
    // "vor nicht befugtem Zugriff", "nicht später als".
    r"\b(?:vor|von|durch|mit|bei|aus|an|für|gegen|über|unter|zwischen|im|in|der|den|dem|die|das|des|auf|nach|alle|aller|eine?[mnrs]?) nicht [\wäöüß-]+(?:e|en|em|er|es)\b|\bnicht (?:später|länger|mehr|weniger|früher|älter|höher|niedriger|vor|nach) (?:als|ablauf)\b",
];

const FIRM: &[&str] = &[
    // Elsewhere an infinitive after "Recht" is what somebody may do.
    r"\b(?:hat|haben)\b[^,;.]*? kein(?:e|erlei)? (?:[\wäöüß]+ )?(?:recht|befugnis|berechtigung|erlaubnis|vollmacht), [^;.]*?<zu>\b",
];

const HARMLESS: &[&str] = &[
    // Negated obligations.
    r"\b(?:muss|müssen|müsse|müssten|braucht|brauchen|hat|haben)\b[^,;.:]*? nicht (?:mehr |zwingend |unbedingt |notwendigerweise |gesondert |eigens |erneut |zusätzlich )*(?:(?:in|im|von|vom|an|am|auf|bei|zu|als|durch|mit|dem|der|den|das|die|jedem|jeder|fall|nochmals|schriftlich) ){0,4}(?:[\wäöüß-]+ ){0,2}(?:werden|sein|haben|[\wäöüß]{3,}(?:en|eln|ern))(?:[.,;!)]|$)",
    r"\b(?:nicht|keine?[rsnm]?|nie|weder) (?:[\wäöüß]+ ){0,2}?(?:<bound>|verboten|untersagt|unzulässig|ausgeschlossen|haftbar|verantwortlich)\b(?:, [^;.]*?<zu>)?",
    r"\b(?:bedarf|bedürfen)\b[^,;.]*?\b(?:keine[rsnm]?|nicht)\b|\b(?:besteht|bestehen|herrscht|herrschen|gilt|gelten|gibt es|trifft|treffen|hat|haben)\b[^,;.]*?\bkeine? (?:[\wäöüß]+ )?(?:[\wäöüß]*pflicht|[\wäöüß]*verbot|verpflichtung|notwendigkeit|zwang|anspruch)(?:en)?\b|\bohne (?:dazu )?(?:verpflichtet|gezwungen) zu sein\b",
    r"\b(?:entfällt|entfallen) (?:die|diese|eine) [\wäöüß]*(?:pflicht|verpflichtung)\b|\bbrauch(?:t|en)\b[^,;.]*? nicht\b",
    // "where required" is not an obligation.
    r"\b(?:soweit|sofern|wenn|falls|wo|wie|insoweit|ob|als)(?: [\wäöüß]+){0,4}? (?:<bound>|untersagt|verboten)(?: (?:ist|sind|wird|werden|erscheint))?\b",
    // Past obligations.
    r"\b(?:war|waren|wurde|wurden|hatte|hatten|wäre|wären)\b[^,;.]*?\b(?:<bound>|verboten|untersagt|<zu>)\b",
    // Guesses and phrases.
    r"\b(?:muss|müssen) (?:[\wäöüß]+ )*?(?:wohl|offenbar|anscheinend|vermutlich)\b|\b(?:muss|müssen|soll|sollen)\b[^;.]*?(?:gewesen|worden) sein(?:[.,;!]|$)|\b(?:soll|sollen|er|sie|es|da|jemand) (?:muss )?[^;.,]*?[\wäöüß]+(?:t|en) haben[.!]?$",
    r"\bmuss (?:sich )?(?:um )?(?:ein|eine|einen) (?:irrtum|missverständnis|fehler|versehen|verwechslung)\b|\b(?:man|ich|wir) (?:muss|müssen|musste|soll|sollte) (?:[\wäöüß]+ )?(?:sagen|zugeben|wissen|bedenken|gestehen|einräumen)\b|\bich (?:muss|soll)\b",
    r"^sollten? |[,;] sollten? (?:die|der|das|dies|es|sie|ein|eine|hier)\b|\bes soll(?:te)? [^,.;]*?(?:regnen|schneien|geben)\b|\bsollte (?:das|es|dies) (?:kein|reichen|genügen|klappen)",
    // An infinitive that depends on another word.
    r"\b(?:ist|sind|war|waren|hat|haben)\b[^,;.]*?\b(?:leicht|schwer|einfach|kaum|gut|schlecht|noch|nur schwer|schwierig|deutlich|viel|nichts|etwas|wenig) <zu>\b",
    r"\b(?:ist|sind|war|waren|hat|haben|habe|hatte|hatten)\b[^;.]*?\b(?:möglich|unmöglich|bereit|frei|gern|in der lage|dabei|möglichkeit|recht|befugnis|anspruch|absicht|chance|ziel|zeit|lust|mühe|gelegenheit|glück|versuch|versucht|vergessen|begonnen|angefangen|beschlossen|entschieden|bestreben|grund|anlass|zweck|idee|wunsch|schön|sinnvoll|hilfreich|spannend|freigestellt|vorbehalten)\b,? [^,;.]*?<zu>\b",
    r"\b(?:ist|sind|bleibt|bleiben) (?:es )?(?:ihm|ihr|ihnen|de[mnr] [\wäöüß]+) überlassen\b,? [^,;.]*?<zu>\b",
    // A word that ends in "ht" before "berechtigt" is a "nicht".
    r"\b(?:ist|sind|war|waren)(?: [^;.]*?(?:[^h]t|[^t]))? (?:berechtigt|befugt)\b,? [^;.]*?<zu>\b",
    r"\b(?:ist|sind) (?:[\wäöüß]+ )*?(?:zu (?:sehen|erkennen|finden|verstehen|hören|lesen|sagen|kaufen|haben|denken|erreichen|tun)|zurückzuführen|nachzulesen|anzusehen|(?:durch|mit|aus|dadurch|damit|daraus) (?:[\wäöüß]+ )*?zu erklären)\b",
    // What is expected, or judged: without the verb before it, because another infinitive may follow.
    r"\b(?:zu (?:erwarten|hoffen|befürchten|bedauern|vermuten|glauben|danken|verdanken|begrüßen|beklagen|bezweifeln|konstatieren|spüren|bewundern|besichtigen)|abzusehen|anzumerken)\b",
    r"\b(?:muss |müssen )?(?:<still> )*damit (?:[\wäöüß]+ ){0,4}?(?:zu rechnen|rechnen|gerechnet werden)\b|\b(?:(?:muss|müssen) (?:(?:<still>|(?:im|am|bei|ab) [\wäöüß]+) )*)?mit (?:[\wäöüß%-]+ ){0,5}?<trouble> (?:[\wäöüß%-]+ ){0,4}?(?:zu rechnen|rechnen|gerechnet werden)\b",
    r"\b<trouble> (?:(?:ist|sind|<still>) )*nicht auszuschließen\b|\b(?:es ist |ist )?(?:<still> )*nicht (?:ganz |völlig )?auszuschließen(?:, dass\b| ist, dass\b)|^dass [^;.]+, (?:ist|war) (?:<still> )*nicht (?:ganz |völlig )?auszuschließen\b|\bwie (?:[\wäöüß]+ ){1,6}?zu (?:sehen|erkennen|lesen|entnehmen) ist\b",
    // Elsewhere a rule about what a calculation assumes: "Bei der Bemessung ist davon auszugehen".
    r"(?:^|[,;:] |\b(?:und|denn|aber|doch) )(?:es|man|wir|<opening>) (?:ist|muss|müssen) (?:<still> )*davon (?:<still> )*(?:auszugehen|ausgehen|ausgegangen werden)\b|\bdavon (?:ist|muss) (?:[\wäöüß]+ )*?(?:auszugehen|ausgegangen werden)\b|\bdavon auszugehen ist\b",
    // What a writer says about the text.
    r"(?:^|[,;:] )(?:es|<opening>) (?:ist|bleibt) (?:<still> )*<comment>, (?:dass|wie)\b|(?:^|[,;:] )<comment> (?:ist|bleibt)(?: <still>)*, dass\b|(?:^|[,;:] )(?:(?:besonders|vor allem) )?(?:zu (?:betonen|erwähnen)|hervorzuheben) ist\b",
    r"\b(?:darauf|hierauf|auf [^,;.:]{1,80}?) (?:[\wäöüß]+ )*?(?:hier|an dieser stelle|im einzelnen|nicht (?:mehr|näher|weiter|gesondert)) (?:(?:nicht|noch|kurz|näher|weiter) )*einzugehen\b|\b(?:darauf|hierauf) ist nicht einzugehen\b|\b(?:im folgenden|nachfolgend|an dieser stelle|hier) ist (?:<still> )*auf [^,;.:]{1,80}? einzugehen\b",
    r"\b(?:näheres|[\wäöüß]*(?:einzelheiten|details|informationen)) (?:ist|sind|hierzu|dazu|[\wäöüß]+) [^,;.:]{0,80}?zu entnehmen\b|\b(?:daraus|hieraus|daran|hieran) (?:[\wäöüß]+ ){0,3}?(?:zu (?:schließen|folgern|entnehmen|ersehen)|abzulesen)(?: ist| sind)?, (?:dass|wie|welche[rsnm]?)\b",
    r"\b(?:davon|hiervon) (?:[\wäöüß]+ ){0,5}?zu unterscheiden\b|\b(?:als (?:beispiel|grund|gründe|ursache|vorteil|nachteil)[\wäöüß]*|hier) (?:ist|sind|wäre) (?:zunächst|vor allem|etwa|beispielsweise|auch|noch|[\wäöüß]+ [\wäöüß]+)(?: [\wäöüß]+)*? zu nennen\b",
    r"\b(?:ist|sind)\b[^,;.:]{0,60}?\b[\wäöüß]*(?:rückgang|anstieg|zunahme|abnahme|zuwachs|wachstum|trend|tendenz) zu (?:verzeichnen|beobachten)\b|^zu (?:verzeichnen|beobachten) (?:ist|war) (?:ein|eine)\b",
    r"\b(?:ist|bleibt) (?:<still> )*abzuwarten, (?:ob|wie|was|wann|inwieweit|welche[rsnm]?)\b|\bso zu verstehen, dass\b",
    // What is impossible.
    r"\bnicht (?:[\wäöüß]+ )?(?:zu (?:beanstanden|bestreiten|leugnen|rechtfertigen|überhören|übersehen|überblicken|unterschätzen|verhindern|verkennen|vermeiden|verwechseln)|abzuschätzen|nachzuvollziehen|vorherzusagen|vorherzusehen|wegzudenken)\b|\bnicht (?:mit|vom?n?) (?:[\wäöüß]+ ){1,4}?zu verwechseln\b|\bnicht von der hand zu weisen\b",
    r"\bes muss (?:<still> )*(?:betont|gesagt|erwähnt|bedacht|eingeräumt|befürchtet|bezweifelt|vermutet|angenommen) werden, dass\b",
    r"\bhat(?:te)?(?: [\wäöüß]+)* (?:zu tun|zu bieten|zu sagen|zu kämpfen|zu erzählen|zu leiden)\b",
    // A clause of its own: elsewhere the words belong to a noun, `Anträge ohne Siegel sind zurückzuweisen`.
    r"(?:[,;:(-] ?|\b(?:und|oder|aber|sondern) )(?:um|ohne|(?:an)?statt) (?:[^\d,;.][^,;.]*?)?\b<zu>\b(?: (?:und|oder|sowie) (?:[^,;.]*? )?<zu>\b)*|^(?:um|ohne|(?:an)?statt) (?:[^\d,;.][^,;.]*?)?\b<zu>,|\bum <zu>\b|\b(?:ohne|(?:an)?statt) (?:[a-zäöüß]+ )?<zu>\b",
    r"\b(?:muss|müssen)\b[^,;.:]*?\bkeine?[rsnm]?\b[^,;.]*|\bniemand\b[^,;.]*?\b(?:gezwungen|verpflichtet|muss)\b[^;.]*",
];

const BINDING: &[Binding] = &[
    Binding { reason: "muss", says: &[r"\b(?:muss|muß|müssen|müsse|mußten?|müssten?)\b"], unless: &[] },
    Binding {
        reason: "darf nicht",
        says: &[
            r"\b(?:darf|dürfen|dürfe)\b[^;.:]*?\b(?:nicht|kein(?:e[rsnm]?)?|nichts|keinerlei|nie|niemals|nur|ausschließlich|lediglich|erst|weder|höchstens|maximal|keinesfalls|allein|niemand)\b",
            r"\b(?:nicht|kein(?:e[rsnm]?)?|nichts|keinerlei|nie|niemals|nur|ausschließlich|lediglich|erst|weder|höchstens|keinesfalls|niemand)\b[^;.:]*?\b(?:darf|dürfen|dürfe)\b",
            r"\b(?:kann|können)\b[^;.:]*?\b(?:nur|ausschließlich|erst)\b[^;.:]*?\b(?:werden|erfolgen|wenn|nach|mit)\b|\b(?:nur|ausschließlich|erst)\b[^;.:]*?\b(?:kann|können)\b",
            r"\b(?:verboten|untersagt|unzulässig|unstatthaft|nicht (?:[\wäöüß]+ )?(?:zulässig|gestattet|erlaubt|statthaft|zugelassen))\b|\b(?:nur|ausschließlich)\b[^;.]*?\b(?:zulässig|gestattet|erlaubt|statthaft|zugelassen)\b|\bverbietet\b",
            r"\b(?:zulässig|gestattet|erlaubt|statthaft)(?: ist| sind)?[^;.]*?\b(?:nur|ausschließlich)\b|\bunter keinen umständen\b|\bin keinem fall\b|\bhat (?:zu|jede[rs]?)\b[^;.]*?\b(?:unterbleiben|unterlassen)\b|\b(?:ist|sind|bleibt|bleiben) (?:(?:strikt|grundsätzlich|generell|stets|ausnahmslos|vollständig|hiermit|in jedem fall|in allen fällen) )?ausgeschlossen\b|\b(?:ist|sind|bleibt|bleiben)\b[^;.]*?\btabu\b|\bhat zu unterbleiben\b",
            r"\b(?:ist|sind)\b[^;.]*?\bnicht (?:[\wäöüß]+ ){0,2}?(?:berechtigt|befugt),? [^;.]*?<zu>\b",
            // What the law or a contract denies.
            r"\b(?:hat|haben)\b[^,;.]*? kein(?:e|erlei)? (?:[\wäöüß]+ )?(?:recht|befugnis|berechtigung|erlaubnis|vollmacht) (?:auf|zur|zum|für)\b",
            r"\b(?:kann|können)\b[^;.:]*?\bnicht\b[^;.:]*?\b(?:verlang(?:t|en)|geltend (?:ge)?mach(?:t|en)|verzicht(?:et|en)|berufen|widersprechen|abgetreten|abtreten|gekündigt|kündigen|aufgerechnet|aufrechnen)\b",
        ],
        unless: &[],
    },
    Binding {
        reason: "verpflichtet",
        says: &[
            r"\b(?:ist|sind|wird|werden|sei|seien|bleibt|bleiben|hat sich|haben sich|sich)\b[^;.]*?\bverpflichtet\b|\bverpflichtet(?: ist| sind| wird|,)|\bverpflichte[tn]? (?:sich|den|die|das|zur|zum|zu|alle)\b|\bverpflichten sich\b|\b(?:gehalten|gezwungen|angehalten|aufgefordert)(?: ist| sind)?, [^.;]*?<zu>",
            r"\b(?:obliegt|obliegen|schuldet|schulden)\b|\b(?:besteht|bestehen|herrscht|herrschen|gilt|trifft|treffen|unterlieg(?:t|en)|hat|haben|begründet|umfasst)\b[^;.]*?\b(?:[\wäöüß]*pflicht|verpflichtung|obliegenheit|[\wäöüß]*verbot)(?:en|e)?\b",
            r"\bunterlieg(?:t|en) (?:[\wäöüß]+ ){0,4}?(?:genehmigung|zustimmung|freigabe|erlaubnis|geheimhaltung|verschwiegenheit|vertraulichkeit)\b|\b(?:liegt|liegen)\b[^;.]*?\b(?:in der|im) (?:[\wäöüß]+ )?(?:verantwortung|zuständigkeit|verantwortungsbereich|zuständigkeitsbereich)\b|^(?:verantwortlich|zuständig|haftbar)\b[^;.]*?\b(?:ist|sind)\b",
            r"\b(?:ist|sind|bleibt|bleiben|wird|werden)\b[^;.]*?\b(?:[\wäöüß]*pflichtig|verantwortlich|zuständig|haftbar|rechenschaftspflichtig)\b|\b(?:ist|gehört) (?:es )?(?:die )?(?:aufgabe|pflicht|sache) (?:de[rs]|von)\b|\bes ist (?:die )?(?:aufgabe|pflicht)\b|\bgehört zu den (?:pflichten|aufgaben)\b|\b(?:trägt|tragen)\b[^;.]*?\b(?:verantwortung|sorge|kosten|beweislast)\b|\bhaftet (?:für|der|dem|gegenüber|auch|nicht nur)\b",
        ],
        unless: &[],
    },
    Binding {
        reason: "erforderlich",
        says: &[
            r"\b(?:ist|sind|wird|werden|bleibt|sei|gilt|gelten)\b[^;.]*?\b<bound>\b|\b<bound> (?:ist|sind|wird|werden)\b",
            r"\b(?:ist|sind|wird|werden) (?:[\wäöüß.-]+ ){0,5}?(?:fällig|zahlbar)\b|\b(?:ist|sind|bleibt|bleiben) [^,;.]{0,60}?\bauf [^,;.]+ (?:beschränkt|begrenzt)\b|\b(?:gestatte[tn]|erlaub(?:t|en)|duldet|dulden) (?:[\wäöüß]+ ){0,4}?(?:keine[rsnm]?|nicht)\b",
            r"\b(?:bedarf|bedürfen)\b|\b(?:benötigt|benötigen|braucht|brauchen) (?:[\wäöüß]+ ){0,3}(?:genehmigung|zustimmung|einwilligung|erlaubnis|zulassung|bewilligung)\b|\b(?:erfordert|erfordern|setzt|setzen) (?:[\wäöüß]+ ){0,8}(?:voraus|genehmigung|zustimmung|einwilligung|dass)\b|\bzustimmungsbedürftig|\bes gilt\b[^.;]*?<zu>",
        ],
        unless: &[],
    },
    // A participle in place of "muss … werden": `Alte Akten gehören vernichtet.`
    Binding {
        reason: "muss",
        says: &[
            r"\bgehör(?:t|en) (?:(?:[\wäöüß]+lich|[\wäöüß]+gerecht|[\wäöüß]+mäßig|sofort|umgehend|immer|stets|getrennt|nicht|auch|sicher|zuerst) )*(?:(?:ab|an|auf|aus|bei|ein|fest|nach|um|unter|vor|weg|zu|zurück)?ge[\wäöüß]+(?:t|en)|(?:be|ent|er|ver|zer|über|unter)[\wäöüß]+t|[\wäöüß]+iert|verboten|unterbunden|verworfen)(?:[.,;:!]| und\b| oder\b|$)",
        ],
        unless: &[],
    },
    // What a rule announces of requests and conduct that do not comply.
    Binding {
        reason: "darf nicht",
        says: &[
            r"\b(?:wird|werden)\b[^;.,]*?\bnicht (?:geduldet|toleriert|hingenommen)\b",
            r"\b(?:wird|werden)\b[^;.,]*?\b(?:nicht (?:akzeptiert|anerkannt|angenommen|berücksichtigt|erstattet|gewährt)|zurückgewiesen)[.!]*$",
        ],
        unless: &[r"\b(?:hier|in diesem (?:abschnitt|beitrag|buch|kapitel)|von (?:allen|vielen|manchen))\b"],
    },
    // Nominal style: `Das Tragen eines Helms ist Pflicht.`
    Binding {
        reason: "erforderlich",
        says: &[
            r"\b(?:ist|sind|sei|bleibt|bleiben)\b[^;.]*?\b<noun>\b|^(?:[\wäöüß]+e[rs]? )?(?:[\wäöüß]*voraussetzung|bedingung)(?:en)?\b[^;.]*?\b(?:ist|sind)\b",
        ],
        unless: &[
            r"\b(?:ist|sind|sei|bleibt|bleiben)\b[^;.]*?\b(?:<article> (?:(?:gut|wichtig|wesentlich|zentral|entscheidend|best|ideal|günstig|solid|einfach|rein)e[rsn]? )?|(?:nicht|nie|weder) (?:[\wäöüß]+ )*)<noun>\b|^<article> <noun>",
        ],
    },
    // Signs and labels without a verb.
    Binding {
        reason: "erforderlich",
        says: &[
            r"^(?:<bound>|pflicht|verboten|untersagt): ?[\wäöüß]|^(?:[\wäöüß/-]+ ){1,10}(?:zwingend |unbedingt )?(?:erforderlich|notwendig|nötig|vorgeschrieben|obligatorisch|verpflichtend|pflicht|vorschrift)(?: <where> [^,;.]+)?[.!]$",
        ],
        unless: &[r"\b<finite>\b|~|\b<article> (?:pflicht|vorschrift)\b"],
    },
    Binding {
        reason: "darf nicht",
        says: &[
            r"^(?:[\wäöüß]+es )?[\wäöüß-]*verbot(?: <where> [^;]+)?[.!:]?$|^(?:[\wäöüß]+es )?verbot (?:de[rs]|jede[rsn]|jegliche[rsn]?) [^;]+[.!]$",
            r"^keine?(?:rlei)? (?:[\wäöüß]+e[rsn]? )?(?:zutritt|zugang|zugriff|einlass|einfahrt|durchfahrt|durchgang|rauchen|feuer|flammen?|licht|alkohol|drogen|waffen|tiere|hunde|essen|speisen|getränke|fotos|aufnahmen|handys|mobiltelefone|weitergabe|nutzung|verwendung|speicherung|übermittlung|veröffentlichung|verarbeitung|vervielfältigung|ausnahmen?|abweichungen?|mitnahme|lagerung|entnahme|barzahlung|einleitung|ablagerung|arbeiten|anweisung|werbung)\b",
            r"^(?:[\wäöüß]+e[rsn]? )?(?:zutritt|zugang|zugriff|einlass|einfahrt|durchfahrt|durchgang|betreten|benutzung|nutzung|verwendung|bedienung|betrieb|abgabe|ausgabe|verkauf|weitergabe|lieferung|reparatur(?:en)?|wartung|arbeiten|änderungen|besuch|aufenthalt|lagerung|transport|zahlung) (?:[\wäöüß-]+ ){0,4}?(?:nur|ausschließlich) (?:<where>|an|durch|gegen|über|zu|bis|als|zwecks)\b",
        ],
        unless: &[r"\b<finite>\b|~"],
    },
    Binding {
        reason: "verpflichtet",
        says: &[
            r"^(?:[\wäöüß]+e )?[\wäöüß-]{3,}pflicht(?: <where> [^;]+)?[.!]$|^(?:[\wäöüß]+e )?[\wäöüß-]{3,}pflicht (?:in|im|am|auf|ab|während|innerhalb) [^;]+$|^[\wäöüß-]*(?:helm|masken|gurt|ausweis|leinen|brillen|schuh|handschuh|westen|schweige)pflicht$",
        ],
        unless: &[r"\b<finite>\b|~"],
    },
    Binding {
        reason: "hat zu",
        says: &[
            // Enclosed clauses and enumerations may separate verb and infinitive; any other comma means that the
            // infinitive belongs to another clause.
            r"\b(?:hat|haben|habe)\b[^,;.:]*?(?:(?:, <clause>\b[^,;.:]*,|, [\wäöüß-]+ (?:und|oder|sowie)\b|, [\wäöüß-]+(?:,|\b))[^,;.:]*?)*? <zu>(?:[.,;:)!]| und\b| oder\b| sowie\b| bzw\b| \(|$| hat\b| haben\b)",
            r"\b<zu> (?:hat|haben)\b",
        ],
        unless: &[],
    },
    Binding {
        reason: "ist zu",
        says: &[
            r"\b(?:ist|sind|sei|seien)\b[^,;.:]*?(?:(?:, <clause>\b[^,;.:]*,|, [\wäöüß-]+ (?:und|oder|sowie)\b|, [\wäöüß-]+(?:,|\b))[^,;.:]*?)*? <zu>(?:[.,;:)!]| und\b| oder\b| sowie\b| bzw\b| \(|$| ist\b| sind\b)",
            r"\b<zu> (?:ist|sind)\b",
        ],
        unless: &[],
    },
    Binding {
        reason: "soll",
        says: &[r"\b(?:soll|sollen|sollten?)\b|\bwird empfohlen\b|\bempfiehlt sich\b|\bist empfehlenswert\b"],
        unless: &[],
    },
    // Each on its own: together they have more states than the cache of an expression.
    Binding {
        reason: "duty stated",
        says: &[r"(?:^|, |^\(?\w{1,3}[.)] )<actor>(?: [^,;.]{1,80}?)? <does>\b"],
        unless: OF_NO_DUTY,
    },
    Binding {
        reason: "duty stated",
        says: &[r"(?:^|, )(?:[^,;.]{1,100}, )?(?:so )?<does> <actor>\b|^(?:[\wäöüß§.-]+ ){1,12}?<does> <actor>\b"],
        unless: OF_NO_DUTY,
    },
    Binding {
        reason: "duty stated",
        says: &[
            r"\b(?:stell(?:t|en)|stelle)\b[^;.]*?\bsicher(?:[,.;]|$)|\bsorg(?:t|en) dafür\b|\btr(?:ä|a)g(?:t|en)? dafür\b|\bgewährleiste(?:t|n),? dass\b",
        ],
        unless: OF_NO_DUTY,
    },
    Binding {
        reason: "duty stated",
        says: &[
            r"\b(?:wird|werden)\b[^;.]*?\b(?:mindestens|spätestens|unverzüglich|innerhalb|binnen|für die dauer|schriftlich|höchstens)\b[^;.]*?\b(?:aufbewahrt|dokumentiert|gemeldet|überprüft|geprüft|gelöscht|gespeichert|protokolliert|vorgelegt|mitgeteilt|erstellt|informiert|benachrichtigt|archiviert|genehmigt|durchgeführt|vernichtet|übermittelt|gesperrt|gesichert|bestätigt|angezeigt)\b",
        ],
        unless: OF_NO_DUTY,
    },
    Binding {
        reason: "duty stated",
        says: &[
            r"\b(?:beträgt|betragen)\b[^;.]*?\b(?:mindestens|höchstens)\b|\b(?:erfolgt|erfolgen)\b[^;.]*?\b(?:mindestens|spätestens|unverzüglich|innerhalb|binnen|schriftlich|ausschließlich|nur)\b",
        ],
        unless: OF_NO_DUTY,
    },
];

/// Verbs of what was, may or will be: a sentence with one of them states no duty in the present tense.
const OF_NO_DUTY: &[&str] = &[
    r"\b(?:mussten?|kann|können|könnten?|darf|dürfen|mag|mögen|will|wollen|würden?|wurden?|war|waren|hat|haben|hatten?)\b",
];
