//! The prompts: templates from `prompts/`, rendered with the tools that are actually bound.
//!
//! A prompt that names an unbound tool costs dozens of turns. So the templates get the bound tools as data
//! and list those; any other mention of a tool is inside a condition. Templates have the following variables:
//!
//! | name | value |
//! |---|---|
//! | `tools` | the tools bound in the phase, in their fixed order, each `{name, summary}` |
//! | `tool_names` | their names, for `{% if "todo_rewind" in tool_names %}` |
//! | `display_name`, `job_type` | of the job type |
//! | `min_todos`, `max_todos` | how many todos a tactical phase has |
//!
//! An unknown name is an error, and a template that does not terminate runs out of fuel.

use crate::{Deliverable, JobConfig, Problem};
use minijinja::{Environment, UndefinedBehavior, Value, context, syntax::SyntaxConfig};
use plumbline_engine::{PhaseKind, Prompts, StrategicTodos, SystemTodo, ToolSpec};
use serde::{Deserialize, Serialize};

/// Maximum instructions of the template engine per prompt; the built-in ones use some hundreds.
const FUEL: u64 = 100_000;

/// The texts before rendering. Stored with a job, so that its prompts do not change after its start.
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
        file: impl Fn(&str) -> Option<Result<(&'a str, &'a str), Problem>>,
        instructions: String,
    ) -> Result<Self, Problem> {
        let text = |name: &str| {
            let missing = || Problem::new(name, None, "prompt is missing; put it into the prompts folder");
            let (shown, text) = file(name).ok_or_else(missing)??;
            Ok::<_, Problem>((shown.to_owned(), text.to_owned()))
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

    /// The rendered texts for a job with these tools.
    ///
    /// # Errors
    /// If one does not render.
    pub fn render(&self, config: &JobConfig, tools: &[ToolSpec]) -> Result<Prompts, Problem> {
        let strategic = bound(tools, PhaseKind::Strategic);
        let tactical = bound(tools, PhaseKind::Tactical);
        // Instructions apply to both kinds of phase: they may name the tools of either.
        let either: Vec<BoundTool<'_>> = tools.iter().map(BoundTool::of).collect();
        let instructions = render("instructions.md", &self.instructions, config, &either)?;
        let mut todos = self.todos.clone();
        for todo in todos_of(&mut todos) {
            todo.content = render("todos.yaml", &todo.content, config, &strategic)?;
        }
        let finale = finale_of(&instructions);
        if !finale.is_empty() {
            todos.r#final = finale;
        }
        end_by_completing(&mut todos.r#final);
        Ok(Prompts {
            strategic: render("strategic.md", &self.strategic, config, &strategic)?,
            tactical: render("tactical.md", &self.tactical, config, &tactical)?,
            // Summaries are requested without tools.
            summarization: render("summarization.md", &self.summarization, config, &[])?,
            instructions: instructions + &owed(config),
            todos,
        })
    }
}

fn todos_of(todos: &mut StrategicTodos) -> impl Iterator<Item = &mut SystemTodo> {
    let StrategicTodos { initial, transition, r#final, rewound, feedback } = todos;
    [initial, transition, r#final, rewound, feedback].into_iter().flatten()
}

/// What the job must deliver, as checked by the completion gate; empty if the job type requires nothing.
fn owed(config: &JobConfig) -> String {
    let mut text = String::new();
    let line = |owed: &Deliverable| {
        let path = owed.path();
        let unless = if owed.is_required() { "" } else { ", if there is any" };
        let schema = owed.json_schema().map(|schema| format!(", JSON that meets this JSON Schema: `{schema}`"));
        format!("- `{path}`{unless}{}\n", schema.unwrap_or_default())
    };
    if let Some(deliverables) = config.deliverables.as_ref().filter(|deliverables| !deliverables.is_empty()) {
        text.push_str(
            "\n\n## What this job owes\n\nThe job is complete when these files are there, which is checked:\n\n",
        );
        deliverables.iter().for_each(|owed| text.push_str(&line(owed)));
    }
    if let Some(quoting) = config.citations_required.as_ref().filter(|quoting| !quoting.is_empty()) {
        let files = quoting.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ");
        text.push_str(&format!(
            "\n\nThese files must quote the documents: {files}. Their quotes are looked up when the job completes, and one that occurs in \
             none keeps it from completing, as does a file without any: what stands in quotation marks or in a block quote, \
             and in JSON the texts of keys like `quote`. Copy them character by character.\n"
        ));
    }
    if let Some(documents) = config.no_sources.as_ref().filter(|documents| !documents.is_empty()) {
        let named = documents.iter().map(|document| format!("`{document}`")).collect::<Vec<_>>().join(", ");
        text.push_str(&format!(
            "\n\nThese documents are no sources, and nothing is quoted or cited from them: {named}.\n"
        ));
    }
    text
}

fn parse_todos(shown: &str, text: &str) -> Result<StrategicTodos, Problem> {
    let todos: StrategicTodos = crate::layers::yaml::parse(text).map_err(|error| {
        let line = usize::try_from(error.line).ok().filter(|line| *line > 0);
        Problem::new(shown, line, format!("is not a list of todos by opening: {}", error.message))
    })?;
    let openings = [&todos.initial, &todos.transition, &todos.r#final, &todos.rewound, &todos.feedback];
    if openings.into_iter().any(Vec::is_empty) {
        return Err(Problem::new(shown, None, "each of initial, transition, final, rewound and feedback needs a todo"));
    }
    Ok(todos)
}

/// The heading of the section of `instructions.md` whose list is the type's own final todos.
const FINALE: &str = "finale";

/// The last todo of a job if the finale does not contain it.
const COMPLETE: &str = "Call job_complete with the deliverables";

/// The list under the heading "Finale" of a type's instructions, at any heading level; empty if there is none.
fn finale_of(instructions: &str) -> Vec<SystemTodo> {
    let is_heading = |line: &&str| line.starts_with('#');
    let is_finale = |line: &str| line.trim_matches(['#', ' ']).eq_ignore_ascii_case(FINALE) && line.starts_with('#');
    let section = instructions.lines().skip_while(|line| !is_finale(line)).skip(1).take_while(|line| !is_heading(line));
    section.filter_map(list_item).map(SystemTodo::from).collect()
}

/// The text of a line such as `1. Verify the totals` or `- Verify the totals`.
fn list_item(line: &str) -> Option<&str> {
    let line = line.trim();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(['.', ')']);
    let item =
        line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).or(numbered.filter(|rest| rest.len() < line.len()));
    item.map(str::trim).filter(|item| !item.is_empty())
}

/// A job ends with a call, so the last todo always requests it.
fn end_by_completing(todos: &mut Vec<SystemTodo>) {
    if todos.last().is_none_or(|last| !last.content.contains("job_complete")) {
        todos.push(COMPLETE.into());
    }
}

/// A bound tool as templates see it.
struct BoundTool<'a> {
    name: &'a str,
    summary: &'a str,
}

impl<'a> BoundTool<'a> {
    fn of(tool: &'a ToolSpec) -> Self {
        Self { name: &tool.name, summary: first_sentence(&tool.description) }
    }

    fn to_value(&self) -> Value {
        Value::from_pairs([("name", self.name), ("summary", self.summary)])
    }
}

fn bound(tools: &[ToolSpec], kind: PhaseKind) -> Vec<BoundTool<'_>> {
    let tools = tools.iter().filter(|tool| tool.phases.contains(kind));
    tools.map(BoundTool::of).collect()
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
    let names: Vec<String> = tools.iter().map(|tool| tool.name.to_owned()).collect();
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

/// A line that contains only a tag is removed.
fn lines_of_tags_vanish() -> SyntaxConfig {
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    syntax.expect("the delimiters are the default ones")
}

#[cfg(test)]
mod tests {
    use super::{COMPLETE, end_by_completing, finale_of};
    use plumbline_engine::SystemTodo;

    #[test]
    fn a_type_brings_its_own_finale_and_the_last_todo_completes_the_job() {
        let text = "You compare.\n\n### Finale\n\n1. Compare the totals\n2) Read output/ back\n- Write the page\n\n### Deliverables\n\n- none\n";
        let mut todos = finale_of(text);
        end_by_completing(&mut todos);
        let texts: Vec<&str> = todos.iter().map(|todo| todo.content.as_str()).collect();
        assert_eq!(texts, ["Compare the totals", "Read output/ back", "Write the page", COMPLETE]);
        let mut complete: Vec<SystemTodo> = vec!["Call job_complete, and be honest".into()];
        end_by_completing(&mut complete);
        assert_eq!(complete.len(), 1);
        assert_eq!(finale_of("### The finale of the work\n\n- no\n"), []);
    }
}
