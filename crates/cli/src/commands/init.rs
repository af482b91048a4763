//! `plumbline init`: writes the files of a new job type, which can be tried at once.

use super::dev::{self, Trial};
use crate::{
    arguments::{DevArguments, InitArguments},
    environment,
    error::Failure,
    output,
};
use plumbline_config::{ConfigRegistry, ModelEnv, Resolved, schema_json};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

const README: &str = include_str!("../../templates/init/README.md");
const JUDGE_README: &str = include_str!("../../templates/init/judge.md");
const EXAMPLE: &str = include_str!("../../templates/init/example.md");
const ANSWERS: &str = include_str!("../../templates/init/answers.md");
const ANSWERS_SCHEMA: &str = include_str!("../../templates/init/answers.schema.json");
const RECORDS_SCHEMA: &str = include_str!("../../templates/init/records.schema.json");

/// The base of every job type; as `--from` it has no instructions.
const DEFAULTS: &str = "defaults";
/// A tool that records requirements: a type with it delivers their list.
const RECORDERS: [&str; 2] = ["record_passage", "add_requirement"];
/// A tool that takes what other jobs recorded: a type with it judges.
const JUDGE: &str = "next_requirement";
/// The job type that records what a judge is tried with.
const RECORDER: &str = "creator";
/// The default folder of job types without PLUMBLINE_CONFIG_DIR.
const CONFIGS: &str = "configs";

pub(crate) async fn run(arguments: InitArguments) -> Result<u8, Failure> {
    let dir = environment::var("PLUMBLINE_CONFIG_DIR").map_or_else(|| PathBuf::from(CONFIGS), PathBuf::from);
    let (job_type, folder) = (arguments.job_type.as_str(), dir.join(&arguments.job_type));
    check_name(job_type)?;
    match (folder.exists(), arguments.r#try) {
        (false, _) => write(&Type::of(job_type, &arguments.from, &dir)?, &dir)?,
        // An existing job type is tried unchanged.
        (true, true) => {}
        (true, false) => {
            let said = format!("{} already exists; choose another name, or run it with --try", folder.display());
            return Err(Failure::usage(said));
        }
    }
    if !arguments.r#try {
        output::print(&format!(
            "try it with `plumbline init {job_type} --try`; {}/README.md says more",
            folder.display()
        ))?;
        return Ok(0);
    }
    let document = folder.join("example/policy.md");
    let documents = if document.exists() { vec![document] } else { Vec::new() };
    let prompt = Some("Work through the document as the instructions say.".to_owned());
    dev::run_with(DevArguments { documents, prompt, keep: false }, Some(trial(job_type, &dir)?)).await
}

/// A job of the type; of a type that judges, a recording job that the type follows.
fn trial(job_type: &str, dir: &Path) -> Result<Trial, Failure> {
    let configs = environment::configs_of(dir)?;
    let resolved = configs.show(job_type, &json!({}), &ModelEnv::default())?;
    Ok(match judges(&resolved) {
        true => Trial {
            job_type: RECORDER.to_owned(),
            configs: configs.also_serving(RECORDER),
            judge: Some(job_type.to_owned()),
        },
        false => Trial { job_type: job_type.to_owned(), configs, judge: None },
    })
}

fn judges(resolved: &Resolved) -> bool {
    resolved.config.tools.all().any(|tool| tool == JUDGE)
}

/// The types that a new one can extend: those of its folder, which may be the first thing written there.
fn known(dir: &Path) -> Result<ConfigRegistry, Failure> {
    if dir.exists() { environment::configs_of(dir) } else { Ok(ConfigRegistry::embedded()) }
}

/// It is the name of a folder, and is used in SQL and on command lines.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    let begins = name.chars().next().is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    if begins && name.len() <= 64 && name.chars().all(is_plain) && name != DEFAULTS {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "`{name}` is not a valid job type name: use 1 to 64 lowercase letters, digits, `-` and `_`, starting with a \
         letter or a digit"
    )))
}

/// What is written.
struct Type<'a> {
    name: &'a str,
    from: &'a str,
    instructions: String,
    /// The file with a schema, and the schema; none of a type that delivers rows alone.
    owed: Option<(&'static str, &'static str)>,
    config: Value,
}

impl<'a> Type<'a> {
    fn of(name: &'a str, from: &'a str, dir: &Path) -> Result<Self, Failure> {
        let configs = known(dir)?;
        if configs.show(name, &json!({}), &ModelEnv::default()).is_ok() {
            return Err(Failure::usage(format!("the job type `{name}` already exists; choose another name")));
        }
        let parent = match from {
            DEFAULTS => None,
            _ => Some(configs.show(from, &json!({}), &ModelEnv::default())?),
        };
        let records = |parent: &Resolved| parent.config.tools.all().any(|tool| RECORDERS.contains(&tool));
        Ok(match parent {
            Some(parent) if records(&parent) => Self::of_records(name, from, parent.prompts.instructions),
            Some(parent) if judges(&parent) => Self::of_judgements(name, from, parent.prompts.instructions),
            Some(parent) => Self::of_answers(name, from, parent.prompts.instructions),
            None => Self::of_answers(name, from, ANSWERS.to_owned()),
        })
    }

    /// It records requirements; the system renders their list.
    fn of_records(name: &'a str, from: &'a str, instructions: String) -> Self {
        let owed = "output/requirements.json";
        let config = json!({
            "deliverables": [{"path": owed, "json_schema": schema(RECORDS_SCHEMA)}, "output/summary_report.md"],
        });
        Self { name, from, instructions, owed: Some((owed, RECORDS_SCHEMA)), config }
    }

    /// It judges the requirements of other jobs, in their rows.
    fn of_judgements(name: &'a str, from: &'a str, instructions: String) -> Self {
        Self { name, from, instructions, owed: None, config: json!({}) }
    }

    /// It delivers a separate file, whose quotes are looked up.
    fn of_answers(name: &'a str, from: &'a str, instructions: String) -> Self {
        let owed = "output/answers.json";
        let mut config = json!({
            "deliverables": [{"path": owed, "json_schema": schema(ANSWERS_SCHEMA)}, "output/report.md"],
            "citations_required": [owed],
        });
        if from == DEFAULTS {
            config["tools"] = json!({"domain": ["extract_document_text", "chunk_document", "cite"]});
        }
        Self { name, from, instructions, owed: Some((owed, ANSWERS_SCHEMA)), config }
    }

    fn config(&self) -> Value {
        let mut config = json!({
            "$schema": "../schema.json", "$extends": self.from, "job_type": self.name, "display_name": self.name,
            "limits": {"max_iterations": 200},
        });
        if let (Some(config), Some(own)) = (config.as_object_mut(), self.config.as_object()) {
            config.extend(own.clone());
        }
        config
    }

    fn readme(&self, dir: &Path) -> String {
        let (template, owed) = self.owed.map_or((JUDGE_README, ""), |(owed, _)| (README, owed));
        let dir = dir.display().to_string();
        let values = [("{type}", self.name), ("{from}", self.from), ("{owed}", owed), ("{dir}", &dir)];
        values.iter().fold(template.to_owned(), |text, (name, value)| text.replace(name, value))
    }
}

fn schema(text: &str) -> Value {
    serde_json::from_str(text).expect("the templates are JSON, which a test reads")
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn write(new: &Type<'_>, dir: &Path) -> Result<(), Failure> {
    let folder = dir.join(new.name);
    let put = |path: PathBuf, text: &str| {
        let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        made.map_err(|error| {
            Failure::new(format!("{} cannot be written ({error}); check the folder", path.display()))
        })?;
        output::print(&format!("wrote {}", path.display()))
    };
    put(folder.join("config.json"), &pretty(&new.config()))?;
    if let Some((_, schema)) = new.owed {
        put(folder.join("schema.json"), schema)?;
    }
    put(folder.join("instructions.md"), &new.instructions)?;
    put(folder.join("example/policy.md"), EXAMPLE)?;
    put(folder.join("README.md"), &new.readme(dir))?;
    // The schema for completion in editors.
    if !dir.join("schema.json").exists() {
        put(dir.join("schema.json"), &schema_json(&ConfigRegistry::embedded().defaults()?))?;
    }
    let configs = plumbline_job_setup::configs(Some(dir), None)?;
    match configs.broken(&ModelEnv::default()).remove(new.name) {
        Some(reason) => {
            Err(Failure::new(format!("the generated configuration does not resolve; please report it: {reason}")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{ANSWERS_SCHEMA, RECORDS_SCHEMA, check_name, schema};

    #[test]
    fn the_templates_are_json_and_names_are_plain() {
        assert!([ANSWERS_SCHEMA, RECORDS_SCHEMA].map(schema).iter().all(serde_json::Value::is_object));
        assert!(["a", "supplier-answers", "q_2"].into_iter().all(|name| check_name(name).is_ok()));
        assert!(["", "defaults", "../x", "A", "-x", "a b"].into_iter().all(|name| check_name(name).is_err()));
    }
}
