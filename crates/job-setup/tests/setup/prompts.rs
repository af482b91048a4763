//! The shipped prompts compared with the tools that are bound.

use crate::{creator, env, folder, operators};
use plumbline_engine::{PhaseKind, Settings, ToolSpec};
use plumbline_job_setup::{catalog, configs, settings as settings_with};
use serde_json::json;
use std::collections::HashSet;
use std::sync::Arc;

/// Maximum tokens of a request before the job's own text: prompt, instructions and tool definitions.
const FIXED_PART: u32 = 4000;

/// The tool names of `catalog` that a text uses as words although they are not bound.
fn unbound_names<'a>(text: &str, catalog: &'a [ToolSpec], bound: impl Fn(&ToolSpec) -> bool) -> Vec<&'a str> {
    let words: HashSet<&str> = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    catalog
        .iter()
        .filter(|tool| words.contains(tool.name.as_str()) && !bound(tool))
        .map(|tool| tool.name.as_str())
        .collect()
}

fn settings() -> Settings {
    let count: plumbline_engine::TokenCounter = Arc::new(plumbline_tokens::count);
    settings_with(&creator(json!({})).unwrap(), count).unwrap()
}

#[test]
fn lesson_14_no_prompt_names_a_tool_that_its_phase_does_not_have() {
    let settings = settings();
    let catalog = catalog();
    let prompts = &settings.prompts;
    let check = |what: &str, text: &str, in_phase: &dyn Fn(&ToolSpec) -> bool| {
        assert_eq!(unbound_names(text, &catalog, in_phase), Vec::<&str>::new(), "{what}");
    };
    let bound = |kind| move |tool: &ToolSpec| tool.phases.contains(kind);
    check("strategic.md", &prompts.strategic, &bound(PhaseKind::Strategic));
    check("tactical.md", &prompts.tactical, &bound(PhaseKind::Tactical));
    check("summarization.md", &prompts.summarization, &|_| false);
    // Instructions are part of the prompts of both kinds of phase, and name the job's tools of either.
    check("instructions.md", &prompts.instructions, &|tool| settings.tools.iter().any(|has| has.name == tool.name));
    let todos = &prompts.todos;
    for todo in
        [&todos.initial, &todos.transition, &todos.r#final, &todos.rewound, &todos.feedback].into_iter().flatten()
    {
        check(&todo.content, &todo.content, &bound(PhaseKind::Strategic));
    }
}

#[test]
fn the_guard_finds_a_tool_name_as_a_word_only() {
    let catalog = catalog();
    let none = |_: &ToolSpec| false;
    assert_eq!(unbound_names("Call `todo_write`, then rest.", &catalog, none), ["todo_write"]);
    assert_eq!(unbound_names("todo_writes, excited, citeable", &catalog, none), Vec::<&str>::new());
}

#[test]
fn lesson_19_the_fixed_part_of_a_request_is_small() {
    let settings = settings();
    for (kind, prompt) in
        [(PhaseKind::Strategic, &settings.prompts.strategic), (PhaseKind::Tactical, &settings.prompts.tactical)]
    {
        let definitions = settings.bound(kind).map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": *tool.parameters
            }})
        });
        let tools: u32 = definitions.map(|tool| plumbline_tokens::count(&tool.to_string())).sum();
        let on_demand = settings.deferred(kind).map(|tool| format!("- {}: {}\n", tool.name, tool.description));
        let listed = plumbline_tokens::count(&on_demand.collect::<String>());
        let texts = plumbline_tokens::count(prompt) + plumbline_tokens::count(&settings.prompts.instructions) + listed;
        println!("{}: {texts} tokens of text, {listed} of them on demand, and {tools} of tools", kind.as_str());
        assert!(tools + texts <= FIXED_PART, "{}: {texts} tokens of text and {tools} of tools", kind.as_str());
    }
}

#[test]
fn rendered_prompts_know_their_tools_and_leave_the_systems_headings_to_the_system() {
    let settings = settings();
    let prompts = &settings.prompts;
    assert!(prompts.strategic.contains("todo_write") && prompts.strategic.contains("5 to 20 todos"));
    assert!(!prompts.tactical.contains("todo_write"));
    // A line that ends with a tag still ends.
    assert!(prompts.tactical.contains("\n- **Write as you go.**"), "{}", prompts.tactical);
    for text in [&prompts.strategic, &prompts.tactical, &prompts.instructions, &prompts.summarization] {
        assert!(!text.contains("{{") && !text.contains("{%"), "{text}");
        for heading in ["## The job", "## Instructions", "## workspace.md"] {
            assert!(!text.lines().any(|line| line == heading), "{heading} is written by the engine");
        }
    }
}

#[test]
fn what_a_job_has_not_bound_its_prompts_do_not_mention() {
    let resolved = creator(json!({"tools": {"workspace": ["read_file", "write_file", "todo_complete"]}})).unwrap();
    let settings = settings_with(&resolved, Arc::new(|_| 0)).unwrap();
    assert!(!settings.prompts.tactical.contains("add_note"), "{}", settings.prompts.tactical);
    // A gate is bound regardless of the lists.
    assert!(settings.prompts.strategic.contains("todo_rewind") && settings.prompts.tactical.contains("todo_rewind"));
}

#[test]
fn a_template_that_does_not_render_is_a_sentence_with_its_line() {
    for (template, expected) in [
        ("one\n{{ nonsense }}", "tactical.md:2: does not render"),
        ("{% for a in range(10000) %}{% for b in range(10000) %}x{% endfor %}{% endfor %}", "does not render"),
        ("{% if %}", "tactical.md:1: does not render"),
    ] {
        let dir = folder(&[("tactical.md", template)]);
        let resolved = configs(None, Some(dir.path())).unwrap().resolve("creator", &json!({}), &env()).unwrap();
        let error = settings_with(&resolved, Arc::new(|_| 0)).expect_err(template).to_string();
        assert!(error.contains(expected), "{error}");
    }
    let dir = folder(&[("todos.yaml", "initial: [a]\ntransition: [b]\nfinal: []\nrewound: [c]\nfeedback: [d]\n")]);
    let error = configs(None, Some(dir.path())).unwrap().resolve("creator", &json!({}), &env()).unwrap_err();
    assert!(
        error.to_string().contains("each of initial, transition, final, rewound and feedback needs a todo"),
        "{error}"
    );
}

/// The text about checked quotes appears only if quotes are checked.
#[test]
fn the_prompt_speaks_of_checked_quotes_only_where_they_are() {
    let tactical = |domain: serde_json::Value| {
        let resolved = operators(&json!({"tools": {"domain": domain}})).unwrap();
        let count: plumbline_engine::TokenCounter = Arc::new(plumbline_tokens::count);
        settings_with(&resolved, count).unwrap().prompts.tactical
    };
    let said = "They are checked against the source, and what does not occur there is refused";
    assert!(tactical(json!(["cite"])).contains(said) && tactical(json!(["add_requirement"])).contains(said));
    let without = tactical(json!(["extract_document_text"]));
    assert!(!without.contains("checked against the source"), "{without}");
}

/// The prompt lists the job's deliverables.
#[test]
fn the_instructions_name_what_a_job_owes() {
    let count: plumbline_engine::TokenCounter = Arc::new(plumbline_tokens::count);
    let resolved = operators(&json!({
        "deliverables": ["output/a.md", {"path": "output/b.json", "json_schema": {"type": "array"}, "required": false}],
        "citations_required": ["output/a.md"]
    }))
    .unwrap();
    let instructions = settings_with(&resolved, count).unwrap().prompts.instructions;
    let lines = "- `output/a.md`\n- `output/b.json`, if there is any, JSON that meets this JSON Schema: `{\"type\":\"array\"}`\n";
    assert!(
        instructions.contains(lines) && instructions.contains("must quote the documents: `output/a.md`. "),
        "{instructions}"
    );
    assert!(!settings().prompts.instructions.contains("## What this job owes"));
}
