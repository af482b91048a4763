//! Plans as models write them, one file each under `plans/`, whose first line contains the expected phases.

use plumbline_engine::plan::{read_plan, reading};
use std::{collections::BTreeMap, fs, path::Path};

fn plans() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/plans");
    let files =
        fs::read_dir(folder).expect("the folder of plans is there").map(|file| file.expect("it can be listed").path());
    files.map(|path| (path.display().to_string(), fs::read_to_string(&path).expect("a plan is a text"))).collect()
}

#[test]
fn each_form_of_plan_has_its_phases() {
    let plans = plans();
    assert!(plans.len() > 12, "{} plans", plans.len());
    let mut wrong = Vec::new();
    for (path, text) in plans {
        let (head, _) = text.split_once(" -->").expect("the first line says what is read");
        let expected: Vec<&str> =
            head.trim_start_matches("<!-- phases:").trim().split('|').filter(|name| !name.is_empty()).collect();
        let found: Vec<String> = read_plan(&text).into_iter().map(|phase| phase.name).collect();
        if found != expected {
            wrong.push(format!("{path}: {found:?}, expected {expected:?}"));
        }
        let said = reading(&text).unwrap_or_default();
        if !found.iter().all(|name| said.contains(name)) || said.is_empty() != found.is_empty() {
            wrong.push(format!("{path}: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
