//! Reads the frame of the active todo list.

use std::sync::LazyLock;

use plumbline_bounds::pattern;
use regex::Regex;

/// The title in the frame's head, by which it is found among the messages.
const TITLE: &str = "ACTIVE TODO LIST";

static TODO: LazyLock<Regex> =
    LazyLock::new(|| pattern::own(r"^\s*\[([ xX])\]\s+(\d+)\.\s+(.*?)\s*(←\s*CURRENT)?\s*$"));

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Todo {
    /// Its number in the list, from 1.
    pub(crate) number: u32,
    /// What is to be done.
    pub(crate) text: String,
    /// Whether it is ticked.
    pub(crate) done: bool,
    /// Whether the arrow points at it.
    pub(crate) marked: bool,
}

/// The whole list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TodoList {
    /// The text after `Phase:`.
    pub(crate) phase: String,
    /// The todos in order.
    pub(crate) todos: Vec<Todo>,
}

impl TodoList {
    /// Reads the frame out of a message; `None` when there is none in it.
    pub(crate) fn read(message: &str) -> Option<Self> {
        let (_, body) = message.split_once(TITLE)?;
        let mut todo_list = Self::default();
        for line in body.lines() {
            if let Some(phase) = line.trim().strip_prefix("Phase:") {
                todo_list.phase = phase.trim().to_owned();
            } else if let Some(found) = TODO.captures(line) {
                todo_list.todos.push(Todo {
                    number: found[2].parse().unwrap_or_default(),
                    text: found[3].to_owned(),
                    done: &found[1] != " ",
                    marked: found.get(4).is_some(),
                });
            }
        }
        Some(todo_list)
    }

    /// The todo to work on: the one the arrow points at, else the first open one.
    pub(crate) fn current(&self) -> Option<&Todo> {
        let marked = self.todos.iter().find(|todo| todo.marked);
        marked.or_else(|| self.todos.iter().find(|todo| !todo.done))
    }

    /// The open todos after the current one.
    pub(crate) fn behind(&self) -> impl Iterator<Item = &Todo> {
        let current = self.current().map_or(u32::MAX, |todo| todo.number);
        self.todos.iter().filter(move |todo| todo.number > current && !todo.done)
    }

    /// Whether the current todo is to divide the plan into phases.
    pub(crate) fn is_at_dividing(&self) -> bool {
        self.current().is_some_and(|todo| todo.text.starts_with("Divide the plan"))
    }

    /// Closes the current todo; the next open one becomes current.
    pub(crate) fn move_on(&mut self) {
        let Some(closed) = self.current().map(|todo| todo.number) else { return };
        for todo in &mut self.todos {
            todo.done |= todo.number == closed;
            todo.marked = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TodoList;

    const FRAME: &str = "\
═══════════════════════════════════════════════════════════════════
                         ACTIVE TODO LIST
═══════════════════════════════════════════════════════════════════

Phase: Requirement Extraction (2 of 4)

[x] 1. Process section 1-3
[ ] 2. Consolidate findings      ← CURRENT
[ ] 3. Write extraction_results.md

Progress: 1/3 tasks complete

───────────────────────────────────────────────────────────────────
INSTRUCTION: Complete task 2, then call todo_complete()
═══════════════════════════════════════════════════════════════════";

    #[test]
    fn the_frame_of_the_interface_is_understood() {
        let todo_list = TodoList::read(FRAME).unwrap();
        assert_eq!(todo_list.phase, "Requirement Extraction (2 of 4)");
        let lines: Vec<_> = todo_list.todos.iter().map(|todo| (todo.number, todo.text.as_str(), todo.done)).collect();
        let expected = [
            (1, "Process section 1-3", true),
            (2, "Consolidate findings", false),
            (3, "Write extraction_results.md", false),
        ];
        assert_eq!(lines, expected);
        assert_eq!(todo_list.current().unwrap().number, 2);
        let mut moved = todo_list.clone();
        moved.move_on();
        assert_eq!(moved.current().unwrap().number, 3);
        assert_eq!(moved.behind().count(), 0);
    }

    #[test]
    fn without_an_arrow_the_first_open_todo_is_current() {
        let todo_list = TodoList::read(&FRAME.replace("← CURRENT", "")).unwrap();
        assert_eq!(todo_list.current().unwrap().number, 2);
    }

    #[test]
    fn other_messages_have_no_frame() {
        assert_eq!(TodoList::read("[ ] 1. not a frame"), None);
    }
}
