//! Another duration, share, count or place: *a week* for *a fortnight*, *twice a day* for *once a day*, *one third* for
//! *two-thirds*, *the fifth day* for *the third day*.

use super::super::measures::{Kind, Measure};
use super::{MOST_SHOWN, beginning};

/// The measure that only the text has, where its quotes have one of that kind that the text does not have.
pub(super) fn other(said: &[Measure], quoted: &[Measure]) -> Option<String> {
    let only = |own: &[Measure], others: &[Measure], kind: Kind| {
        own.iter().find(|one| kind == one.kind && !one.is_in(others)).cloned()
    };
    let shown = |measure: &Measure| beginning(&measure.said, MOST_SHOWN);
    [Kind::Span, Kind::Share, Kind::Times, Kind::Ordinal].into_iter().find_map(|kind| {
        let (one, other) = (only(said, quoted, kind)?, only(quoted, said, kind)?);
        Some(format!("its text says `{}` where its quotes say `{}`", shown(&one), shown(&other)))
    })
}
