//! Definitions of automatic numbering: which level of which list numbers a paragraph, and how its labels are made; and
//! outline levels of styles.

use super::outline;
use crate::formats::xml;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// A list has nine levels.
pub(super) const LEVELS: usize = 9;
/// How many styles are followed from a style to those it is based on.
const MOST_BASES: usize = 16;

/// One level of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Level {
    /// The first number, 0 if the file does not say (ECMA-376, part 1, 17.9.25).
    pub(super) start: Option<u32>,
    /// The format of its numbers: `decimal`, `lowerLetter`.
    pub(super) format: String,
    /// Its label with `%1` to `%9` for the numbers of the levels.
    pub(super) text: String,
    /// Whether all numbers in the label are decimal.
    pub(super) legal: bool,
    /// The level, from 1, that begins its numbers anew, and those above it; 0 for none. Usually each level above.
    pub(super) restart: Option<usize>,
    /// Whether nothing separates its label from the text.
    pub(super) glued: bool,
    /// The style of its paragraphs.
    style: Option<String>,
}

/// An abstract list; several lists of a document share its counters.
#[derive(Debug, Default)]
struct Abstract {
    levels: HashMap<usize, Level>,
    /// The style of lists that defines its levels.
    link: Option<String>,
    /// The style of lists that it defines.
    defines: Option<String>,
}

/// A list of the document.
#[derive(Debug, Default)]
struct List {
    of: String,
    starts: HashMap<usize, u32>,
    levels: HashMap<usize, Level>,
}

#[derive(Debug, Default)]
struct Style {
    base: Option<String>,
    list: Option<String>,
    level: Option<usize>,
    /// Its outline level by its name, and as it says.
    named: Option<u8>,
    outline: Option<u8>,
}

/// The lists of a document and the styles that number paragraphs.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    abstracts: HashMap<String, Abstract>,
    lists: HashMap<String, List>,
    styles: HashMap<String, Style>,
}

/// What the properties of a paragraph say of its number.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) style: Option<String>,
    pub(super) list: Option<String>,
    pub(super) level: Option<usize>,
    pub(super) outline: Option<u8>,
}

/// A level of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) list: String,
    pub(super) level: usize,
}

impl Numbering {
    /// Reads the two parts; what is read before an error counts, because the parser rejects a part that is no XML.
    pub(super) fn of(numbering: &str, styles: &str) -> Self {
        let mut found = Self::default();
        found.read_lists(numbering);
        found.read_styles(styles);
        found
    }

    /// Whether no paragraph can have a number, or a level by its style that the parser does not read.
    pub(super) fn is_empty(&self) -> bool {
        let is_unread = |style: &Style| match style.outline {
            Some(level) => !outline::is_known(level),
            None => style.named.is_some(),
        };
        self.lists.is_empty() && !self.styles.values().any(is_unread)
    }

    /// The outline level of a paragraph, by itself or by its style.
    pub(super) fn outline(&self, asked: &Asked) -> Option<u8> {
        let of_style = || self.chain(asked).find_map(|(_, style)| style.outline.or(style.named));
        asked.outline.or_else(of_style)
    }

    /// The style of a paragraph and those it is based on.
    fn chain<'a>(&'a self, asked: &'a Asked) -> impl Iterator<Item = (&'a String, &'a Style)> {
        let base = |id: &&String| self.styles.get(*id).and_then(|style| style.base.as_ref());
        let chain = std::iter::successors(asked.style.as_ref(), base).take(MOST_BASES);
        chain.filter_map(|id| Some((id, self.styles.get(id)?)))
    }

    /// The place of a paragraph; none for a paragraph without a number.
    pub(super) fn place(&self, asked: &Asked) -> Option<Place> {
        let styles = || self.chain(asked);
        let list = asked.list.clone().or_else(|| styles().find_map(|(_, style)| style.list.clone()))?;
        self.lists.get(&list)?;
        let of_style = || styles().find_map(|(id, style)| self.level_of_style(&list, id).or(style.level));
        let level = asked.level.or_else(of_style).unwrap_or(0);
        (level < LEVELS).then_some(Place { list, level })
    }

    fn level_of_style(&self, list: &str, style: &str) -> Option<usize> {
        (0..LEVELS).find(|at| self.level(list, *at).is_some_and(|level| level.style.as_deref() == Some(style)))
    }

    /// The name of the abstract list whose counters a list uses.
    pub(super) fn counters(&self, list: &str) -> Option<&str> {
        let (name, own) = self.abstracts.get_key_value(&self.lists.get(list)?.of)?;
        let linked = own.link.as_ref().and_then(|link| {
            let mut all = self.abstracts.iter();
            all.find(|(_, other)| other.defines.as_ref() == Some(link)).map(|(name, _)| name)
        });
        Some(linked.unwrap_or(name))
    }

    /// A level of a list as the list defines or overrides it.
    pub(super) fn level(&self, list: &str, level: usize) -> Option<&Level> {
        let own = self.lists.get(list)?.levels.get(&level);
        own.or_else(|| self.abstracts.get(self.counters(list)?)?.levels.get(&level))
    }

    /// The number with which a list begins a level of its own, although it shares the counters.
    pub(super) fn own_start(&self, list: &str, level: usize) -> Option<u32> {
        self.lists.get(list)?.starts.get(&level).copied()
    }

    fn read_lists(&mut self, xml: &str) {
        let mut open = Open::default();
        let _ = xml::each_start("numbering.xml", xml, |start| {
            self.begin_list(&mut open, start);
            if let Some(level) = self.open_level(&open) {
                define(level, start);
            }
            ControlFlow::Continue(())
        });
    }

    fn begin_list(&mut self, open: &mut Open, start: &BytesStart<'_>) {
        let value = |name: &str| xml::attribute(start, name);
        let level = || value("ilvl").and_then(|level| level.parse().ok()).filter(|level| *level < LEVELS);
        match start.local_name().as_ref() {
            "abstractNum" => *open = Open { name: value("abstractNumId").unwrap_or_default(), ..Open::default() },
            "num" => *open = Open { name: value("numId").unwrap_or_default(), is_list: true, ..Open::default() },
            "abstractNumId" if open.is_list => {
                let of = value("val").unwrap_or_default();
                self.lists.insert(open.name.clone(), List { of, ..List::default() });
            }
            "lvlOverride" => (open.overridden, open.level) = (level(), None),
            "startOverride" => {
                let start = open.overridden.zip(value("val").and_then(|start| start.parse().ok()));
                if let Some(list) = self.lists.get_mut(&open.name) {
                    list.starts.extend(start);
                }
            }
            "lvl" => open.level = level(),
            "numStyleLink" => self.abstracts.entry(open.name.clone()).or_default().link = value("val"),
            "styleLink" => self.abstracts.entry(open.name.clone()).or_default().defines = value("val"),
            _ => {}
        }
    }

    fn open_level(&mut self, open: &Open) -> Option<&mut Level> {
        let levels = match open.is_list {
            true => &mut self.lists.get_mut(&open.name)?.levels,
            false if open.name.is_empty() => return None,
            false => &mut self.abstracts.entry(open.name.clone()).or_default().levels,
        };
        Some(levels.entry(open.level?).or_default())
    }

    fn read_styles(&mut self, xml: &str) {
        let mut id = String::new();
        let _ = xml::each_start("styles.xml", xml, |start| {
            let value = || xml::attribute(start, "val");
            match start.local_name().as_ref() {
                "style" => id = xml::attribute(start, "styleId").unwrap_or_default(),
                "basedOn" => self.styles.entry(id.clone()).or_default().base = value(),
                "name" => {
                    let named = value().and_then(|name| outline::of_name(&name));
                    self.styles.entry(id.clone()).or_default().named = named;
                }
                "outlineLvl" => {
                    self.styles.entry(id.clone()).or_default().outline = value().and_then(|level| level.parse().ok());
                }
                "numId" => self.styles.entry(id.clone()).or_default().list = value(),
                "ilvl" => {
                    self.styles.entry(id.clone()).or_default().level = value().and_then(|level| level.parse().ok());
                }
                _ => {}
            }
            ControlFlow::Continue(())
        });
    }
}

/// What is open while the lists are read.
#[derive(Default)]
struct Open {
    name: String,
    is_list: bool,
    overridden: Option<usize>,
    level: Option<usize>,
}

fn define(level: &mut Level, property: &BytesStart<'_>) {
    let value = || xml::attribute(property, "val");
    match property.local_name().as_ref() {
        "start" => level.start = value().and_then(|start| start.parse().ok()),
        "numFmt" => level.format = value().unwrap_or_default(),
        "lvlText" => level.text = value().unwrap_or_default(),
        "isLgl" => level.legal = !value().is_some_and(|value| matches!(value.as_str(), "0" | "false" | "off")),
        "lvlRestart" => level.restart = value().and_then(|level| level.parse().ok()),
        "suff" => level.glued = value().is_some_and(|suffix| suffix == "nothing"),
        "pStyle" => level.style = value(),
        _ => {}
    }
}

/// What the properties at the beginning of a paragraph ask for, and the position behind them; none if it has none.
pub(super) fn asked(mut ahead: Reader<&[u8]>) -> Option<(Asked, usize)> {
    ahead.config_mut().expand_empty_elements = true;
    let (mut asked, mut open): (Asked, Vec<String>) = Default::default();
    loop {
        match ahead.read_event().ok()? {
            Event::Start(start) => {
                let name = start.name();
                let value = || xml::attribute(&start, "val");
                let path: Vec<&str> = open.iter().map(String::as_str).collect();
                match (path.as_slice(), name.as_ref()) {
                    ([], "w:pPr") => {}
                    ([], _) => return None,
                    (["w:pPr"], "w:pStyle") => asked.style = value(),
                    (["w:pPr"], "w:outlineLvl") => asked.outline = value().and_then(|level| level.parse().ok()),
                    (["w:pPr", "w:numPr"], "w:numId") => asked.list = value(),
                    (["w:pPr", "w:numPr"], "w:ilvl") => asked.level = value().and_then(|level| level.parse().ok()),
                    _ => {}
                }
                open.push(name.as_ref().to_owned());
            }
            Event::End(_) if open.len() <= 1 => {
                return (open.len() == 1).then(|| (asked, ahead.buffer_position() as usize));
            }
            Event::End(_) => drop(open.pop()),
            Event::Eof => return None,
            _ => {}
        }
    }
}
