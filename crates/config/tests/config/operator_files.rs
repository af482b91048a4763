//! Job types of an operator, as files; the tests of `job-setup` include this file.

use plumbline_config::ModelEnv;
use serde_json::{Value, json};
use std::fs;

/// A process whose environment names a model.
pub(crate) fn env() -> ModelEnv {
    ModelEnv { model: Some("test-model".into()), base_url: Some("http://127.0.0.1:1/v1".into()), ..ModelEnv::default() }
}

/// A configuration folder with these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

/// A folder with the job type `mine`: these keys in addition to the creator's.
pub(crate) fn folder_of_mine(keys: &Value) -> tempfile::TempDir {
    let mut file = json!({"$extends": "creator"});
    file.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    folder(&[("mine/config.json", &file.to_string())])
}
