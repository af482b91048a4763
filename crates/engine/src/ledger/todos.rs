//! Todos and their passages: which are open, and the todos that the system adds for remaining passages.

use super::{Ledger, Passage, PassageState};
use crate::{PlannedTodo, Todo, TodoPlan, phase::number_list::as_list};
use std::collections::{BTreeSet, HashMap};

/// Maximum passages that a todo of the system names: as many as a phase of work reads at once.
const PASSAGES_A_TODO: usize = 8;

/// The text of a passage that a refusal to close its todo shows.
#[derive(Clone, Debug)]
pub(crate) struct ShownPassage {
    /// The passage's number.
    pub(crate) number: i32,
    /// Its text, as the tool shows it.
    pub(crate) text: String,
}

impl Ledger {
    /// The passages that a todo names and that have work left; not those whose text cannot be extracted.
    pub(crate) fn open_of(&self, todo: &Todo) -> impl Iterator<Item = &Passage> {
        let named = todo.passages.iter().filter_map(|number| self.get(*number));
        named.filter(|passage| passage.is_left(self.records))
    }

    /// Skipped passages: those read and not answered, and unread ones before others of their document that were read.
    /// `all`: every passage that is not answered.
    fn skipped_passages(&self, all: bool) -> BTreeSet<i32> {
        let mut furthest: HashMap<&str, i32> = HashMap::new();
        for passage in self.all().filter(|passage| passage.state != PassageState::Unread) {
            let at = furthest.entry(&passage.document).or_default();
            *at = passage.ordinal.max(*at);
        }
        let behind = |passage: &&Passage| match passage.state {
            PassageState::Answered => false,
            PassageState::Read => true,
            PassageState::Unread => furthest.get(passage.document.as_str()).is_some_and(|at| passage.ordinal < *at),
        };
        let open = self.all().filter(|passage| passage.is_left(self.records));
        open.filter(|passage| all || behind(passage)).map(|passage| passage.number).collect()
    }

    /// Inserts todos for skipped passages before those of a list that names none of them, as far as there is room for
    /// more todos; returns the passages they are for.
    pub(crate) fn add_follow_ups(&self, plan: &mut TodoPlan, is_last: bool, room: usize) -> BTreeSet<i32> {
        let left = self.skipped_passages(is_last);
        if plan.todos.iter().any(|todo| !todo.passages.is_disjoint(&left)) {
            return BTreeSet::new();
        }
        let left: Vec<i32> = left.into_iter().take(room * PASSAGES_A_TODO).collect();
        let added =
            left.chunks(PASSAGES_A_TODO).map(|passages| follow_up(&passages.iter().copied().collect(), self.records));
        plan.todos.splice(0..0, added.collect::<Vec<_>>());
        left.into_iter().collect()
    }
}

fn follow_up(passages: &BTreeSet<i32>, records: bool) -> PlannedTodo {
    let (listed, record) = (as_list(passages), if records { "record" } else { "cite" });
    let content = format!(
        "Work through passages {listed}, which were left open: read what is unread, {record} what obliges somebody, close the \
         rest with a reason"
    );
    PlannedTodo::new(0, content, passages.clone())
}
