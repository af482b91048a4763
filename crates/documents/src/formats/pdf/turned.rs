//! Pages whose text does not run from left to right as it is stored, mostly scans and wide tables, which a viewer turns
//! by the page's `/Rotate`. The parser reads the lines of such a page from bottom to top, or as one paragraph.

use unpdf::parser::TextSpan;
use unpdf::parser::backend::PageBox;

/// The turn after which a page's text runs from left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// For text that runs up the page.
    Right,
    /// For text that is upside down.
    Over,
    /// For text that runs down the page.
    Left,
}

impl Turn {
    /// The turn for most characters of a page, if it needs one.
    pub(crate) fn of(spans: &[TextSpan]) -> Option<Self> {
        let letters = |span: &TextSpan| span.text.chars().filter(|c| !c.is_whitespace()).count();
        let count = |turn| spans.iter().filter(|span| Self::of_span(span) == turn).map(letters).sum::<usize>();
        let turns = [Self::Right, Self::Over, Self::Left].map(|turn| (count(Some(turn)), turn));
        let (most, turn) = turns.into_iter().max_by_key(|(count, _)| *count)?;
        (most * 2 > spans.iter().map(letters).sum()).then_some(turn)
    }

    /// Scans are crooked by some degrees.
    fn of_span(span: &TextSpan) -> Option<Self> {
        match span.direction.map(|part| part.round() as i8) {
            [0, 1] => Some(Self::Right),
            [-1, 0] => Some(Self::Over),
            [0, -1] => Some(Self::Left),
            _ => None,
        }
    }

    /// The operator that turns all content of a page.
    pub(crate) fn operator(self, page: PageBox) -> String {
        let turn = match self {
            Self::Right => format!("0 -1 1 0 {} {}", -page.lly, page.urx),
            Self::Over => format!("-1 0 0 -1 {} {}", page.urx, page.ury),
            Self::Left => format!("0 1 -1 0 {} {}", page.ury, -page.llx),
        };
        format!("{turn} cm\n")
    }

    /// An area of a page after the turn.
    pub(crate) fn area(self, area: PageBox, page: PageBox) -> PageBox {
        let PageBox { llx, lly, urx, ury } = area;
        match self {
            Self::Right => {
                PageBox { llx: lly - page.lly, lly: page.urx - urx, urx: ury - page.lly, ury: page.urx - llx }
            }
            Self::Over => {
                PageBox { llx: page.urx - urx, lly: page.ury - ury, urx: page.urx - llx, ury: page.ury - lly }
            }
            Self::Left => {
                PageBox { llx: page.ury - ury, lly: llx - page.llx, urx: page.ury - lly, ury: urx - page.llx }
            }
        }
    }
}
