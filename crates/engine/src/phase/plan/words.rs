//! The keywords of plans in several languages.

/// A word that begins the name of a part of the plan, before its number.
const PHASES: &str = "\
    phase, stage, étape, etape, etappe, fase, etapa, etap, fáze, faza, fázis, fas, vaihe, aşama, этап, фаза, \
    стадия, 阶段, 階段, フェーズ, 段階, 단계, giai đoạn, tahap, مرحلة, المرحلة, चरण, milestone, meilenstein, jalon, hito, \
    sprint, iteration, work package, arbeitspaket, abschnitt, teil, part, partie, parte, deel, część, část, часть, \
    block";
/// The same for a smaller part, which is a phase only if there is no larger one.
const STEPS: &str = "\
    step, schritt, paso, passo, stap, steg, trin, askel, krok, шаг, крок, adım, 步骤, 步驟, ステップ, bước, lépés, langkah, \
    task, aufgabe, tâche, tarea, taak, compito, задача, 任务";
/// Titles of a section that contains the phases and is not one itself.
const CONTAINERS: &str = "\
    phases, plan, the plan, work plan, plan of work, project plan, steps, stages, milestones, roadmap, schedule, \
    phasen, schritte, arbeitsplan, ablauf, ablaufplan, zeitplan, meilensteine, étapes, plan de travail, fases, \
    etapas, pasos, plan de trabajo, fasi, piano, passi, passos, plano, fasen, stappen, этапы, план, шаги, 计划, 阶段, \
    步骤, 計画, tasks, aufgaben, tâches, tareas, to do, todos";
/// The same, if a plan has no other.
const APPROACHES: &str = "\
    approach, method, methodology, procedure, workflow, vorgehen, vorgehensweise, methode, approche, démarche, \
    méthode, enfoque, método, approccio, metodo, abordagem, aanpak, подход, 方法";
/// Titles of a section about the plan that is not a part of it, unless it has boxes to tick.
const ABOUT_THE_PLAN: &str = "\
    overview, summary, introduction, context, background, scope, status, übersicht, überblick, einleitung, \
    zusammenfassung, hintergrund, kontext, umfang, contexte, introducción, resumen, contexto, résumé, contesto, \
    riepilogo, resumo, overzicht, samenvatting, обзор, контекст, 概述, 背景, material, materials, documents, dokumente";
/// The same, with or without boxes.
const ASIDES: &str = "\
    goal, goals, objective, objectives, aim, aims, purpose, criteria, completion, completion criteria, \
    success criteria, acceptance criteria, how completion is judged, how completion, definition of done, done when, \
    risk, risks, glossary, definition, definitions, term, terms, terminology, vocabulary, abbreviations, \
    assumption, assumptions, constraint, constraints, reference, references, question, questions, open questions, \
    deliverable, deliverables, note, notes, ziel, ziele, zweck, kriterien, abschlusskriterien, erfolgskriterien, \
    abnahmekriterien, fertig wenn, risiko, risiken, glossar, begriffe, definitionen, abkürzungen, annahmen, \
    offene fragen, fragen, hinweise, notizen, ergebnisse, objectif, objectifs, but, critères, risques, glossaire, \
    définitions, hypothèses, livrables, objetivo, objetivos, meta, criterios, riesgos, glosario, definiciones, \
    supuestos, entregables, obiettivo, obiettivi, criteri, rischi, glossario, definizioni, critérios, riscos, \
    glossário, doel, doelen, risico's, begrippen, woordenlijst, цель, цели, риски, глоссарий, термины, критерии, \
    目标, 风险, 术语, 术语表, 词汇表, 用語集";
/// Heads of a column of numbers.
const NUMBERS: &str = "\
    #, nr, nr., no, no., n°, nº, №, number, nummer, id, 编号";
/// Heads of the column that names the work of a part.
const NAMES: &str = "\
    name, title, what, work, content, activity, description, goal, titel, was, inhalt, arbeit, tätigkeit, \
    beschreibung, nom, titre, activité, contenu, nombre, título, actividad, descripción, nome, titolo, attività, \
    descrizione, atividade, naam, activiteit, название, содержание, 名称, 内容";
/// Ordinals that may precede the word: "first phase".
const ORDINALS: &str = "\
    first, second, third, fourth, fifth, sixth, last, erste, erster, zweite, zweiter, dritte, dritter, vierte, \
    vierter, fünfte, fünfter, première, premier, deuxième, troisième, quatrième, primera, primer, segunda, segundo, \
    tercera, tercer, cuarta, prima, primo, seconda, terza, quarta, primeira, terceira, eerste, tweede, derde, \
    первый, второй, третий, первая, вторая, третья";
/// Number words that may follow it: "phase one".
const SPELLED: &str = "\
    one, two, three, four, five, six, seven, eight, nine, ten, eins, zwei, drei, vier, fünf, un, deux, trois, \
    quatre, cinq, uno, una, dos, tres, cuatro, due, tre, quattro";
const CJK_NUMERALS: &str = "一二三四五六七八九十";

/// The size of the part that a word names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Size {
    Phase,
    Step,
}

/// The role of a section in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// It may be a part.
    Part,
    Container,
    Approach,
    AboutThePlan,
    Aside,
}

/// A name with its number: "Phase 2: Comparison", "2. Etappe: Vergleich", "第二阶段".
#[derive(Clone, Copy, Debug)]
pub(super) struct Label<'a> {
    pub(super) size: Size,
    pub(super) word: &'static str,
    /// The text after word and number.
    pub(super) rest: &'a str,
    /// Whether a separator follows them, so that they do not belong to a sentence.
    pub(super) is_apart: bool,
}

/// Reads a label at the beginning of a line.
pub(super) fn label(text: &str) -> Option<Label<'_>> {
    let text = text.trim_start_matches(['*', '_', '[', ' ']);
    word_first(text).or_else(|| number_first(text))
}

fn word_first(text: &str) -> Option<Label<'_>> {
    let (size, word, behind) = word(text)?;
    let behind = behind.trim_start_matches([' ', '\u{a0}', '-', '#', '№']);
    let rest = number(behind).or_else(|| spelled(behind))?;
    Some(Label { size, word, rest, is_apart: is_apart(rest) })
}

fn number_first(text: &str) -> Option<Label<'_>> {
    let ordinal = match text.strip_prefix('第') {
        Some(behind) => number(behind).or_else(|| cjk(behind))?,
        None => listed(text, ORDINALS).or_else(|| digits_ordinal(text))?.trim_start(),
    };
    let (size, word, rest) = word(ordinal)?;
    // "1. Part 2 of the contract" is a name with a number.
    is_apart(rest).then_some(Label { size, word, rest, is_apart: true })
}

/// The longest keyword that the text begins with, as a whole word.
fn word(text: &str) -> Option<(Size, &'static str, &str)> {
    let sizes = [(Size::Phase, PHASES), (Size::Step, STEPS)];
    let words = sizes.into_iter().flat_map(|(size, words)| all(words).map(move |word| (size, word)));
    let fitting = words.filter_map(|(size, word)| Some((size, word, behind(text, word)?)));
    fitting.max_by_key(|(_, word, _)| word.len())
}

/// The rest after a word at the beginning, in any case; scripts without spaces have no word boundary.
fn behind<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    for expected in word.chars() {
        let found = rest.next()?;
        if found != expected && !found.to_lowercase().eq(expected.to_lowercase()) {
            return None;
        }
    }
    let rest = rest.as_str();
    let goes_on =
        rest.starts_with(char::is_alphabetic) && !is_cjk(word) && !rest.starts_with(|c| CJK_NUMERALS.contains(c));
    (!goes_on).then_some(rest)
}

fn is_cjk(word: &str) -> bool {
    word.chars().all(|c| c as u32 > 0x2e80)
}

/// The rest after a number: Arabic or Roman, but not that of a part of a part ("1.2").
fn number(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return roman(text).or_else(|| cjk(text));
    }
    let goes_on = rest.starts_with('.') && rest[1..].starts_with(|c: char| c.is_ascii_digit());
    (digits.len() <= 3 && !goes_on).then_some(rest)
}

fn roman(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !"ivxIVX".contains(c)).unwrap_or(text.len());
    let rest = &text[end..];
    // A single letter is a number as well: "Phase A".
    let letter =
        text.strip_prefix(|c: char| c.is_ascii_uppercase()).filter(|rest| !rest.starts_with(char::is_alphanumeric));
    let is_number = end > 0 && !rest.starts_with(char::is_alphanumeric);
    if is_number { Some(rest) } else { letter }
}

fn cjk(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c| CJK_NUMERALS.contains(c));
    (rest.len() < text.len()).then_some(rest)
}

fn spelled(text: &str) -> Option<&str> {
    listed(text, SPELLED)
}

fn listed<'a>(text: &'a str, words: &'static str) -> Option<&'a str> {
    all(words).find_map(|word| behind(text, word))
}

fn all(words: &'static str) -> impl Iterator<Item = &'static str> {
    words.split(", ")
}

/// "1.", "2nd", "3ème" before a word.
fn digits_ordinal(text: &str) -> Option<&str> {
    let rest = number(text).filter(|_| text.starts_with(|c: char| c.is_ascii_digit()))?;
    let endings = ["st", "nd", "rd", "th", "ère", "ere", "er", "ème", "eme", "re", "e", "ª", "º", "°", "-й", "."];
    endings.iter().find_map(|ending| rest.strip_prefix(ending))
}

fn is_apart(rest: &str) -> bool {
    !rest.trim_start().starts_with(char::is_alphanumeric)
}

/// The role of a section with this name; a name that begins with such a word and continues with "and …" has the same
/// role.
pub(super) fn section(name: &str) -> Section {
    let name = name.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let lists = [
        (Section::Aside, ASIDES),
        (Section::Container, CONTAINERS),
        (Section::Approach, APPROACHES),
        (Section::AboutThePlan, ABOUT_THE_PLAN),
    ];
    let is_in = |words| all(words).any(|word| name.strip_prefix(word).is_some_and(continues_title));
    let named = lists.iter().find(|(_, words)| is_in(words)).map(|(section, _)| *section);
    // Single-letter headings belong to an index.
    let is_letter = name.chars().count() == 1;
    named.unwrap_or(if is_letter { Section::Aside } else { Section::Part })
}

fn continues_title(rest: &str) -> bool {
    let connectives =
        ["and ", "or ", "of ", "for ", "und ", "oder ", "et ", "y ", "e ", "en ", "и ", "des ", "der ", "du ", "de "];
    let next = rest.trim_start();
    let is_apart = |c: char| !c.is_alphanumeric();
    rest.is_empty()
        || rest.starts_with(|c| is_apart(c) && c != ' ' && c != '-')
        || rest.starts_with(' ')
            && (next.starts_with(is_apart) || connectives.iter().any(|word| next.starts_with(word)))
}

/// The content of a table's column, by its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Number,
    Part,
    Name,
    Other,
}

pub(super) fn column(head: &str) -> Column {
    let head = head.trim_matches(|c: char| c.is_whitespace() || "*_".contains(c)).to_lowercase();
    let is_part = |word: &str| head == word || head.strip_suffix(['s', 'n']).is_some_and(|one| one == word);
    let is_in = |words| all(words).any(|word| word == head);
    if is_in(NUMBERS) {
        Column::Number
    } else if all(PHASES).chain(all(STEPS)).any(is_part) {
        Column::Part
    } else if is_in(NAMES) {
        Column::Name
    } else {
        Column::Other
    }
}
