//! A walk's choices, drawn in advance so that a failing walk can be shrunk and repeated.

use serde_json::{Value, json};

/// Drawn numbers, taken one by one; then zeros.
#[derive(Debug)]
pub(super) struct Choices {
    drawn: std::vec::IntoIter<u16>,
}

impl Choices {
    pub(super) fn new(drawn: Vec<u16>) -> Self {
        Self { drawn: drawn.into_iter() }
    }

    pub(super) fn are_over(&self) -> bool {
        self.drawn.len() == 0
    }

    /// A number below the bound.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.drawn.next().unwrap_or(0)) % bound
    }

    /// A call of a strategic phase: mostly one that advances the job.
    pub(super) fn strategic(&mut self, staged: bool) -> (&'static str, Value) {
        match self.below(if staged { 50 } else { 100 }) {
            0..32 => ("todo_complete", json!({})),
            32..36 => ("add_note", json!({"text": format!("Note {}", self.below(4))})),
            36..42 => ("job_complete", self.completion()),
            42..44 => ("read_plan", json!({})),
            44..46 => ("add_task", json!({"content": "Look at the annexes of the policy"})),
            46..48 => self.anywhere(),
            48 => ("todo_rewind", json!({"issue": "the plan does not fit"})),
            49 => ("archive_and_reset", json!({})),
            50..80 => ("todo_write", self.todos()),
            80..90 => ("write_plan", self.plan()),
            _ => self.anywhere(),
        }
    }

    /// A call of a tactical phase.
    pub(super) fn tactical(&mut self) -> (&'static str, Value) {
        match self.below(100) {
            0..35 => ("todo_complete", json!({"notes": format!("found {}", self.below(9))})),
            35..45 => ("add_requirement", json!({"text": format!("Record {} must be kept.", self.below(5))})),
            45..55 => ("send_letter", json!({"to": self.below(3)})),
            55..60 => ("index_page", json!({"page": self.below(3)})),
            60..62 => ("todo_rewind", json!({"issue": "the pages are in another order"})),
            62..64 => ("todo_write", self.todos()),
            _ => self.anywhere(),
        }
    }

    fn anywhere(&mut self) -> (&'static str, Value) {
        match self.below(10) {
            0..3 => ("write_file", json!({"path": self.path(), "content": "must be kept. ".repeat(self.below(200))})),
            3..7 => ("read_file", json!({"path": self.path()})),
            7 => ("web_search", json!({"query": self.below(3)})),
            8 => ("generate_workspace_summary", json!({})),
            _ => ("no_such_tool", json!({})),
        }
    }

    fn path(&mut self) -> &'static str {
        ["output/report.md", "output/list.md", "workspace.md", "../outside.md"][self.below(4)]
    }

    fn todos(&mut self) -> Value {
        let count = [3, 5, 5, 6, 21][self.below(5)];
        let todos: Vec<Value> = (1..=count).map(|n| json!(format!("Work through part {n} of the document"))).collect();
        json!({"phase": "Extraction", "description": "Part by part.", "todos": todos})
    }

    fn plan(&mut self) -> Value {
        let phases: String = (0..self.below(4)).map(|n| format!("\n## Phase {}: Part {n}\n", n + 1)).collect();
        json!({"content": format!("# Plan{phases}")})
    }

    fn completion(&mut self) -> Value {
        let undelivered = ["", "the annexes"][self.below(2)];
        json!({"summary": "Done.", "deliverables": [self.path()], "undelivered": undelivered, "confidence": 0.8})
    }
}
