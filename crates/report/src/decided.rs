//! The most frequent reason for candidate sentences without a requirement, shown after the headline.

use plumbline_engine::{Account, Passage};
use std::collections::BTreeMap;

/// One sentence on the candidates that were decided not to be requirements, with the most frequent reason; none if
/// there are none.
pub(crate) fn decided<'p>(passages: impl Iterator<Item = &'p Passage>) -> Option<String> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for decision in passages.flat_map(|passage| &passage.decisions) {
        if let Account::Why(why) = &decision.account {
            *reasons.entry(why.trim().trim_end_matches('.')).or_default() += 1;
        }
    }
    let all: usize = reasons.values().sum();
    // Of equally frequent reasons the alphabetically first, so that equal rows give the same sentence.
    let (why, most) = reasons.into_iter().max_by(|(a, n), (b, m)| n.cmp(m).then_with(|| b.cmp(a)))?;
    Some(match (all, most) {
        (1, _) => format!("1 candidate sentence was decided by its number: {why}."),
        (_, most) if most == all => format!("{all} candidate sentences were decided by their numbers: {why}."),
        _ => format!("{all} candidate sentences were decided by their numbers, {most} of them: {why}."),
    })
}

#[cfg(test)]
mod tests {
    use super::decided;
    use plumbline_engine::{Account, Decision, Passage};

    fn passage(accounts: &[Account]) -> Passage {
        let decision = |(s, account): (i32, &Account)| Decision { s, account: account.clone(), step: 1 };
        Passage { decisions: (1..).zip(accounts).map(decision).collect(), ..Passage::unread(1, "input/a.md", 1) }
    }

    #[test]
    fn the_most_frequent_reason_is_reported() {
        let why = |text: &str| Account::Why(text.to_owned());
        for (accounts, expected) in [
            (vec![], None),
            (vec![Account::In(3)], None),
            (vec![why("a definition")], Some("1 candidate sentence was decided by its number: a definition.")),
            (vec![why("a."), why("a")], Some("2 candidate sentences were decided by their numbers: a.")),
            (
                vec![why("history"), why("a"), why("a"), Account::In(1)],
                Some("3 candidate sentences were decided by their numbers, 2 of them: a."),
            ),
        ] {
            let passages = [passage(&accounts), passage(&[])];
            assert_eq!(decided(passages.iter()).as_deref(), expected, "{accounts:?}");
        }
    }
}
