//! Parses a file's text into a JSON value, with the line of a syntax error.

use super::{
    files::{File, Format},
    locate::Lines,
};
use crate::error::Problem;
use crate::layers::yaml;
use serde_json::Value;

/// The file's value, which must be an object, and the lines of its keys.
pub(crate) fn parse(file: &File, format: Format) -> Result<(Value, Lines), Problem> {
    let text = file.text()?.trim_start_matches('\u{feff}');
    let (value, lines) = match format {
        Format::Json => {
            let value = serde_json::from_str(text).map_err(|error| {
                let reason = error.to_string();
                let reason = reason.split(" at line ").next().unwrap_or_default();
                Problem::new(&file.shown, Some(error.line()), format!("is not valid JSON: {reason}"))
            });
            (value?, yaml::lines_of_json(text))
        }
        Format::Yaml => parse_yaml(file, text)?,
    };
    // YAML's parser refuses these itself; JSON's silently keeps the last.
    if let Some((path, line)) = lines.twice().filter(|_| format == Format::Json) {
        return Err(Problem::new(&file.shown, Some(line), format!("`{path}` appears twice; keep one")));
    }
    match value {
        Value::Object(_) => Ok((value, lines)),
        _ => Err(Problem::new(&file.shown, Some(1), "must be an object with keys and values")),
    }
}

fn parse_yaml(file: &File, text: &str) -> Result<(Value, Lines), Problem> {
    yaml::parse_value(text).map_err(|error| {
        let line = usize::try_from(error.line).ok().filter(|line| *line > 0);
        Problem::new(&file.shown, line, format!("is not valid YAML: {}", error.message))
    })
}
