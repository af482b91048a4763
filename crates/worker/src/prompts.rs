//! The texts that steer the model: templates from `prompts/`, rendered against the tools that are really bound.
//!
//! A prompt that names a tool the model does not have costs dozens of turns of looking for it (lesson 14). So the
//! templates get the bound tools as data and list those; nothing else in them names a tool unless a condition asks
//! for it first. Templates know the following:
//!
//! | name | value |
//! |---|---|
//! | `tools` | the tools bound in the phase, in their fixed order, each `{name, summary}` |
//! | `tool_names` | their names, for `{% if "todo_rewind" in tool_names %}` |
//! | `display_name`, `job_type` | of the job type |
//! | `min_todos`, `max_todos` | how many todos a tactical phase has |
//!
//! An unknown name is an error, and a template that does not come to an end runs out of fuel.

use crate::config::{JobConfig, Problem};
use minijinja::{Environment, UndefinedBehavior, Value, context, syntax::SyntaxConfig};
use plumbline_engine::{PhaseKind, Prompts, StrategicTodos, ToolSpec};
use serde::{Deserialize, Serialize};

/// Instructions of the template engine that one prompt may take; the built-in ones take some hundreds.
const FUEL: u64 = 100_000;

/// The texts before rendering. Stored with a job, so that its prompts stay what they were when it started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PromptSources {
    /// Template of the strategic phases' system prompt.
    pub strategic: String,
    /// Template of the tactical phases' system prompt.
    pub tactical: String,
    /// Template of the request for a summary.
    pub summarization: String,
    /// Todos of strategic phases, by opening.
    pub todos: StrategicTodos,
    /// Template of the job type's instructions.
    pub instructions: String,
}

impl PromptSources {
    /// Collects the prompt files; `file` gives the shown name and the text of a file of the prompts folder.
    pub(crate) fn gather<'a>(
        file: impl Fn(&str) -> Option<(&'a str, &'a str)>,
        instructions: String,
    ) -> Result<Self, Problem> {
        let text = |name: &str| {
            let missing = || Problem::new(name, None, "prompt is missing; put it into the prompts folder");
            file(name).map(|(shown, text)| (shown.to_owned(), text.to_owned())).ok_or_else(missing)
        };
        let (shown, todos) = text("todos.yaml")?;
        let todos = parse_todos(&shown, &todos)?;
        Ok(Self {
            strategic: text("strategic.md")?.1,
            tactical: text("tactical.md")?.1,
            summarization: text("summarization.md")?.1,
            todos,
            instructions,
        })
    }

    /// The finished texts for a job with these tools.
    pub(crate) fn render(&self, config: &JobConfig, tools: &[ToolSpec]) -> Result<Prompts, Problem> {
        let strategic = bound(tools, PhaseKind::Strategic);
        let tactical = bound(tools, PhaseKind::Tactical);
        Ok(Prompts {
            strategic: render("strategic.md", &self.strategic, config, &strategic)?,
            tactical: render("tactical.md", &self.tactical, config, &tactical)?,
            // A summary is asked for without tools, and the instructions hold in both kinds of phase.
            summarization: render("summarization.md", &self.summarization, config, &[])?,
            instructions: render("instructions.md", &self.instructions, config, &[])?,
            todos: self.todos.clone(),
        })
    }
}

fn parse_todos(shown: &str, text: &str) -> Result<StrategicTodos, Problem> {
    let todos: StrategicTodos = plumbline_effects::yaml::parse(text).map_err(|error| {
        let line = usize::try_from(error.line).ok().filter(|line| *line > 0);
        Problem::new(shown, line, format!("is not a list of todos by opening: {}", error.message))
    })?;
    let openings = [&todos.initial, &todos.transition, &todos.r#final, &todos.rewound, &todos.feedback];
    if openings.into_iter().any(Vec::is_empty) {
        return Err(Problem::new(shown, None, "each of initial, transition, final, rewound and feedback needs a todo"));
    }
    Ok(todos)
}

/// A bound tool as templates see it.
struct BoundTool<'a> {
    name: &'static str,
    summary: &'a str,
}

impl BoundTool<'_> {
    fn to_value(&self) -> Value {
        Value::from_pairs([("name", self.name), ("summary", self.summary)])
    }
}

fn bound(tools: &[ToolSpec], kind: PhaseKind) -> Vec<BoundTool<'_>> {
    let tools = tools.iter().filter(|tool| tool.phases.contains(kind));
    tools.map(|tool| BoundTool { name: tool.name, summary: first_sentence(&tool.description) }).collect()
}

fn first_sentence(description: &str) -> &str {
    let line = description.lines().next().unwrap_or_default();
    line.find(". ").map_or(line, |end| &line[..end]).trim_end_matches('.')
}

fn render(file: &str, template: &str, config: &JobConfig, tools: &[BoundTool<'_>]) -> Result<String, Problem> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_syntax(lines_of_tags_vanish());
    let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
    let context = context! {
        tools => tools.iter().map(BoundTool::to_value).collect::<Vec<Value>>(),
        tool_names => names,
        job_type => config.job_type.as_str(),
        display_name => config.display_name.as_str(),
        min_todos => config.phase_settings.min_todos,
        max_todos => config.phase_settings.max_todos,
    };
    environment.render_str(template, context).map_err(|error| {
        let reason = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        Problem::new(
            file,
            error.line(),
            format!("does not render: {reason}; see prompts/README.md for what it may use"),
        )
    })
}

/// A line that holds nothing but a tag leaves no line behind.
fn lines_of_tags_vanish() -> SyntaxConfig {
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    syntax.expect("the delimiters are the default ones")
}

/// The tool names of `catalog` that a text uses as words although `kind` does not bind them.
///
/// The guard against lesson 14, for texts that are about to be used and for tests of those that are shipped.
pub fn unbound_names<'a>(text: &str, catalog: &'a [ToolSpec], bound: impl Fn(&ToolSpec) -> bool) -> Vec<&'a str> {
    let words: std::collections::HashSet<&str> = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    catalog.iter().filter(|tool| words.contains(tool.name) && !bound(tool)).map(|tool| tool.name).collect()
}
