//! The configuration and prompt files: the built-in ones, overridden by those of a folder.
//!
//! A folder may be incomplete. A file in it replaces the built-in one of the same name, so a team keeps only its own
//! job types there and still extends `defaults`.

use crate::{ConfigError, error::Problem};
use rust_embed::Embed;
use std::{collections::BTreeMap, fs, io, path::Path};

#[derive(Embed)]
#[folder = "$CARGO_MANIFEST_DIR/../../configs"]
struct BuiltInConfigs;

#[derive(Embed)]
#[folder = "$CARGO_MANIFEST_DIR/../../prompts"]
struct BuiltInPrompts;

/// A text and the file name that the user knows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct File {
    pub(crate) shown: String,
    /// The text, or why it could not be read.
    text: Result<String, String>,
    /// Whether it is built in; otherwise the operator wrote it.
    pub(crate) is_built_in: bool,
}

impl File {
    /// The file's text.
    ///
    /// # Errors
    /// If it could not be read as text.
    pub(crate) fn text(&self) -> Result<&str, Problem> {
        self.text.as_deref().map_err(|reason| unreadable(&self.shown, reason))
    }
}

fn unreadable(path: &str, reason: &str) -> Problem {
    Problem::new(path, None, format!("cannot be read ({reason}); check the path and its permissions"))
}

/// Files by their path within the folder, `/`-separated.
pub(crate) type Files = BTreeMap<String, File>;

/// The configurations built into the binary.
pub(crate) fn built_in_configs() -> Files {
    embedded::<BuiltInConfigs>("configs")
}

/// The prompts built into the binary.
pub(crate) fn built_in_prompts() -> Files {
    embedded::<BuiltInPrompts>("prompts")
}

fn embedded<E: Embed>(folder: &str) -> Files {
    E::iter()
        .filter_map(|path| {
            let text = String::from_utf8(E::get(&path)?.data.into_owned()).ok()?;
            Some((path.to_string(), File { shown: format!("{folder}/{path}"), text: Ok(text), is_built_in: true }))
        })
        .collect()
}

/// Overrides `files` by the files of `dir`: those directly in it, and with `nested` those one folder deeper.
///
/// # Errors
/// If the folder cannot be read.
pub(crate) fn overlay(files: &mut Files, dir: &Path, nested: bool) -> Result<(), ConfigError> {
    let mut own = Files::new();
    read_folder(dir, "", nested, &mut own).map_err(|(path, error)| unreadable(&path, &error.to_string()))?;
    // A type given as YAML must also replace a built-in one given as JSON.
    for path in own.keys() {
        if let Some((stem, _)) = config_stem(path) {
            files.retain(|known, _| config_stem(known).is_none_or(|(other, _)| other != stem));
        }
    }
    files.extend(own);
    Ok(())
}

/// `creator/config` and its format for `creator/config.yaml`; `defaults` for `defaults.json`.
pub(crate) fn config_stem(path: &str) -> Option<(&str, Format)> {
    let (stem, extension) = path.rsplit_once('.')?;
    let is_config = stem == "defaults" || stem.ends_with("/config");
    is_config.then(|| Format::of_extension(extension)).flatten().map(|format| (stem, format))
}

fn read_folder(dir: &Path, prefix: &str, nested: bool, files: &mut Files) -> Result<(), (String, io::Error)> {
    let shown = |path: &Path| path.display().to_string();
    for entry in fs::read_dir(dir).map_err(|error| (shown(dir), error))? {
        let path = entry.map_err(|error| (shown(dir), error))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            if nested {
                read_folder(&path, &format!("{prefix}{name}/"), false, files)?;
            }
        } else if matches!(path.extension().and_then(|e| e.to_str()), Some("json" | "yaml" | "yml" | "md")) {
            let text = fs::read_to_string(&path).map_err(|error| error.to_string());
            files.insert(format!("{prefix}{name}"), File { shown: shown(&path), text, is_built_in: false });
        }
    }
    Ok(())
}

/// The two formats of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Yaml,
}

impl Format {
    pub(crate) fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "json" => Some(Self::Json),
            "yaml" | "yml" => Some(Self::Yaml),
            _ => None,
        }
    }
}
