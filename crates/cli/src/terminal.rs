//! Features for terminals only: colours, a width, a live view.
//!
//! Colours carry no additional information, so output without them is complete.

use comfy_table::Color;
use console::{Term, measure_text_width, truncate_str};
use std::io::{self, IsTerminal, Write};

/// Width of text in a pipe.
const PIPE_WIDTH: usize = 120;

/// The meaning of a text, which determines its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Success, or done.
    Good,
    /// A person should look.
    Warning,
    /// It failed.
    Bad,
    /// In progress.
    Active,
    /// Beside the point.
    Quiet,
    /// A heading.
    Strong,
}

impl Tone {
    /// A job's status.
    pub(crate) fn of_status(status: &str) -> Self {
        match status {
            "completed" => Self::Good,
            "failed" => Self::Bad,
            "running" => Self::Active,
            "paused" | "review" => Self::Warning,
            _ => Self::Quiet,
        }
    }

    /// Its colour in a table's cell; none if it is not a colour.
    pub(crate) fn colour(self) -> Option<Color> {
        match self {
            Self::Good => Some(Color::DarkGreen),
            Self::Warning => Some(Color::DarkYellow),
            Self::Bad => Some(Color::DarkRed),
            Self::Active => Some(Color::DarkCyan),
            Self::Quiet | Self::Strong => None,
        }
    }

    /// The number of the terminal's colour or attribute.
    fn code(self) -> u8 {
        match self {
            Self::Good => 32,
            Self::Warning => 33,
            Self::Bad => 31,
            Self::Active => 36,
            Self::Quiet => 2,
            Self::Strong => 1,
        }
    }
}

/// The style of stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    terminal: bool,
    colours: bool,
    width: usize,
}

impl Look {
    /// For the actual stdout: colours only on a terminal, and never with `NO_COLOR` (<https://no-color.org>: any
    /// non-empty value).
    pub(crate) fn of_stdout() -> Self {
        let terminal = io::stdout().is_terminal();
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let width = Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
        Self {
            terminal,
            colours: terminal && !unwanted && !dumb,
            width: width.filter(|width| terminal && *width > 0).unwrap_or(PIPE_WIDTH),
        }
    }

    /// A fixed style, for text that must be the same everywhere.
    #[cfg(test)]
    pub(crate) fn plain(width: usize) -> Self {
        Self { terminal: true, colours: false, width }
    }

    /// Whether a person looks at it, and what is too wide for the screen is cut.
    pub(crate) fn is_terminal(self) -> bool {
        self.terminal
    }

    /// Whether there are colours.
    pub(crate) fn has_colours(self) -> bool {
        self.colours
    }

    /// Columns of a line.
    pub(crate) fn width(self) -> usize {
        self.width
    }

    /// The text in a tone.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        if !self.colours || text.is_empty() {
            return text.to_owned();
        }
        format!("\u{1b}[{}m{text}\u{1b}[0m", tone.code())
    }

    /// The line truncated to the width, with its colours reset.
    pub(crate) fn fit(self, line: &str) -> String {
        if measure_text_width(line) <= self.width {
            return line.to_owned();
        }
        let cut = truncate_str(line, self.width, "…").into_owned();
        if self.colours { format!("{cut}\u{1b}[0m") } else { cut }
    }
}

/// The text without control characters, except line ends and tabs, without bidirectional marks and without characters
/// that take no room, each replaced by `\u{fffd}`. Prompts, reasons and errors come from rows that others write: an escape sequence could set the
/// clipboard, clear the screen, or show a false status. If colours are enabled, sequences that set one are kept.
pub(crate) fn printable(text: &str, colours: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let used = match colour(rest).filter(|_| colours) {
            Some(length) => {
                out.push_str(&rest[..length]);
                length
            }
            None => {
                out.push(if is_obeyed(first) { '\u{fffd}' } else { first });
                first.len_utf8()
            }
        };
        rest = &rest[used..];
    }
    out
}

fn is_obeyed(character: char) -> bool {
    let direction = matches!(character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    // Tag characters can spell a text that no terminal shows.
    let hidden = matches!(character,
        '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    direction || hidden || (character.is_control() && !matches!(character, '\n' | '\t'))
}

/// The permitted colour and weight sequences: those of [`Tone::code`], and those of table cells.
const SEQUENCES: [&str; 13] = ["", "0", "1", "2", "31", "32", "33", "36", "39", "38;5;1", "38;5;2", "38;5;3", "38;5;6"];

/// The length of a permitted sequence at the beginning of the text. Any other, such as a background or black, could
/// hide text.
fn colour(text: &str) -> Option<usize> {
    let (parameters, _) = text.strip_prefix("\u{1b}[")?.split_once('m')?;
    SEQUENCES.contains(&parameters).then_some("\u{1b}[m".len() + parameters.len())
}

/// A live view on the terminal, redrawn in place. While it exists the cursor is hidden; dropping it restores the cursor
/// below the view.
#[derive(Debug)]
pub(crate) struct Picture {
    rows: usize,
}

impl Picture {
    /// Begins a view at the cursor.
    pub(crate) fn begin() -> io::Result<Self> {
        write("\u{1b}[?25l")?;
        Ok(Self { rows: 0 })
    }

    /// Lines that fit on the screen: scrolled lines cannot be redrawn.
    pub(crate) fn most_rows() -> usize {
        Term::stdout().size_checked().map_or(24, |(rows, _)| usize::from(rows)).saturating_sub(1).max(1)
    }

    /// Replaces the previous lines, in one write to avoid flicker.
    pub(crate) fn draw(&mut self, lines: &[String]) -> io::Result<()> {
        let lines = &lines[..lines.len().min(Self::most_rows())];
        let mut text = String::new();
        if self.rows > 0 {
            text.push_str(&format!("\u{1b}[{}A", self.rows));
        }
        for line in lines {
            text.push_str(&format!("\r{}\u{1b}[K\r\n", printable(line, true)));
        }
        text.push_str("\u{1b}[J");
        self.rows = lines.len();
        write(&text)
    }
}

impl Drop for Picture {
    fn drop(&mut self) {
        // A closed terminal needs no cursor.
        let _ = write("\u{1b}[?25h");
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

#[cfg(test)]
mod tests {
    use super::{Look, Tone, printable};

    #[test]
    fn a_line_is_cut_by_what_is_seen() {
        let look = Look { terminal: true, colours: true, width: 10 };
        let line = format!("{} and more", look.paint(Tone::Good, "completed"));
        let cut = look.fit(&line);
        assert!(cut.contains("\u{1b}[32mcompleted") && cut.ends_with("\u{1b}[0m"), "{cut:?}");
        assert_eq!(console::measure_text_width(&cut), 10);
        assert_eq!(Look::plain(5).fit("abcdefgh"), "abcd…");
    }

    #[test]
    fn without_colours_there_are_no_control_characters() {
        assert_eq!(Look::plain(80).paint(Tone::Bad, "failed"), "failed");
    }

    #[test]
    fn what_rows_hold_moves_no_terminal() {
        let title = "a\u{1b}]0;owned\u{7}b\u{1b}[2J\u{1b}]52;c;eA==\u{7}\u{9b}31m\u{202e}c\r\n\td";
        let hidden = "a\u{200b}b\u{2060}\u{feff}\u{e0041}\u{e007f}\u{2028}c";
        assert_eq!(printable(hidden, true).replace('\u{fffd}', "?"), "a?b?????c");
        for colours in [true, false] {
            let shown = printable(title, colours);
            assert!(shown.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()), "{shown:?}");
            assert!(
                shown.starts_with("a\u{fffd}]0;owned\u{fffd}b") && shown.ends_with("\u{fffd}c\u{fffd}\n\td"),
                "{shown:?}"
            );
        }
        let painted = "\u{1b}[32mdone\u{1b}[0m \u{1b}[38;5;2mx\u{1b}[39m";
        assert_eq!(printable(painted, true), painted);
        assert!(!printable(painted, false).contains('\u{1b}'));
        assert!(!printable("\u{1b}[8mhidden", true).contains('\u{1b}'));
    }
}
