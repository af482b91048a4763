//! `plumbline init`: a new job type, tried at once without any setup.

use plumbline_system_tests::{Ended, Program, program};
use serde_json::Value;
use std::{fs, path::Path};

async fn plumbline(folder: &Path, arguments: &[&str]) -> Ended {
    plumbline_with(folder, arguments, &[]).await
}

async fn plumbline_with(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Ended {
    let mut command = program::command(arguments);
    command.envs(environment.iter().copied());
    command.current_dir(folder);
    Program::start(command, folder).ended().await
}

#[tokio::test]
async fn a_new_type_is_in_order_and_says_how_to_try_it() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (name, from) in [("policies", "creator"), ("answers", "defaults"), ("tenders", "policies")] {
        let made = plumbline(folder.path(), &["init", name, "--from", from]).await;
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        let of = |file: &str| folder.path().join("configs").join(name).join(file);
        let config: Value = serde_json::from_slice(&fs::read(of("config.json")).expect("a file")).expect("JSON");
        let schema: Value = serde_json::from_slice(&fs::read(of("schema.json")).expect("a file")).expect("JSON");
        assert_eq!(config["$extends"], from);
        assert_eq!(config["deliverables"][0]["json_schema"], schema);
        assert!(!fs::read_to_string(of("instructions.md")).expect("a file").trim().is_empty());
        let readme = fs::read_to_string(of("README.md")).expect("a file");
        assert!(readme.contains(&format!("plumbline init {name} --try")), "{readme}");
    }
    let check = plumbline(folder.path(), &["config", "check", "configs"]).await;
    assert_eq!((check.code, check.stdout.as_str()), (Some(0), "3 job types are valid: answers, policies, tenders\n"));

    let before = fs::read(folder.path().join("configs/policies/config.json")).expect("a file");
    for (arguments, words) in [
        (&["init", "policies"][..], "already exists"),
        (&["init", "creator"], "the job type `creator` already exists"),
        (&["init", "../out"], "is not a valid job type name"),
        (&["init", "more", "--from", "craetor"], "did you mean `creator`?"),
    ] {
        let refused = plumbline(folder.path(), arguments).await;
        assert!(refused.code != Some(0) && refused.stderr.contains(words), "{arguments:?}: {}", refused.stderr);
    }
    assert_eq!(fs::read(folder.path().join("configs/policies/config.json")).expect("a file"), before);
    assert!(!folder.path().join("configs/more").exists());
}

#[tokio::test]
async fn a_new_type_makes_the_folder_of_types_where_there_is_none() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let types = [("PLUMBLINE_CONFIG_DIR", "types")];
    let made = plumbline_with(folder.path(), &["init", "policies"], &types).await;
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let check = plumbline_with(folder.path(), &["config", "check"], &types).await;
    assert_eq!(check.stdout, "1 job type is valid: policies\n", "{}", check.stderr);
}

#[tokio::test]
async fn a_type_that_judges_is_tried_with_what_a_creator_recorded() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let tried = plumbline(folder.path(), &["init", "checks", "--from", "validator", "--try"]).await;
    assert_eq!(tried.code, Some(0), "{}\n{}", tried.stdout, tried.stderr);
    let judged = tried.stdout.lines().find(|line| line.contains(" judged: ")).unwrap_or_default();
    assert!(!judged.is_empty() && !judged.starts_with("0 judged"), "{}", tried.stdout);
    let own = tried.stdout.lines().any(|line| line.starts_with(" checks ") && line.contains("completed"));
    assert!(own, "{}", tried.stdout);
    let readme = fs::read_to_string(folder.path().join("configs/checks/README.md")).expect("a file");
    assert!(readme.contains("plumbline init checks --try") && !readme.contains("`schema.json`"), "{readme}");
}

#[tokio::test]
async fn a_new_type_is_tried_without_a_key() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let tried = plumbline(folder.path(), &["init", "policies", "--try"]).await;
    assert_eq!(tried.code, Some(0), "{}\n{}", tried.stdout, tried.stderr);
    assert!(tried.stdout.contains("Job completed"), "{}", tried.stdout);
    let table = |name: &str| tried.stdout.lines().any(|line| line.starts_with(&format!(" {name} ")));
    assert!(table("policies") && !table("creator"), "the table names the job's own type: {}", tried.stdout);
    let jobs: Vec<_> = fs::read_dir(folder.path().join(".plumbline/workspace"))
        .expect("the job's folder")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("output/requirements.json").exists())
        .collect();
    assert_eq!(jobs.len(), 1, "one job of the type, and no validator");
}
