//! The main flow: from the first phase to the completed job.

use crate::kit::{check, settings};

const PLAN: &str =
    r##"call write_plan {"content": "# Plan\n\n## Phase 1: Extraction\n- [ ] a\n\n## Phase 2: Report\n- [ ] b"}"##;
const TODOS: &str = r#"call todo_write {"phase": "Extraction", "description": "Record it all.", "todos": [{"id": 1, "content": "Process section 1"}, {"id": 2, "content": "Process section 2"}, {"id": 3, "content": "Process section 3"}, {"id": 4, "content": "Consolidate"}, {"id": 5, "content": "Validate"}]}"#;
const TODOS_AGAIN: &str = r#"call todo_write {"phase": "Extraction", "description": "Record it all.", "todos": [{"id": 1, "content": "Look for duplicates in section 1"}, {"id": 2, "content": "Look for duplicates in section 2"}, {"id": 3, "content": "Look for duplicates in section 3"}, {"id": 4, "content": "Consolidate"}, {"id": 5, "content": "Validate"}]}"#;

#[test]
fn a_job_from_start_to_end() {
    let script = format!(
        r#"
        take in
        call read_file {{"path": "instructions.md"}}
        {PLAN}
        {TODOS}
        close 4
        call add_requirement {{"text": "Invoices must be kept."}} + todo_complete {{"notes": "one requirement"}}
        close 4
        {TODOS_AGAIN}
        close 4
        call write_file {{"path": "output/duplicates.md", "content": "None of the sections says the same twice."}}
        close 5
        call write_file {{"path": "output/report.md", "content": "Invoices must be kept for ten years."}}
        call job_complete {{"summary": "One requirement.", "deliverables": ["output/report.md"], "confidence": 0.9}}
        "#
    );
    check("a_job_from_start_to_end", settings(), &script);
}
