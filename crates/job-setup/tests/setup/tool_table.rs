//! `docs/tools.md` is generated from the tools themselves.

use plumbline_engine::{Handler, Phases, ToolSpec};
use plumbline_job_setup::catalog;
use std::{fmt::Write as _, fs, path::Path};

const HEAD: &str = "\
# Every tool

Made from the tools; never edited. A job type lists the tools it binds (`tools` in its configuration); one is bound where the
list and its own phases agree: S strategic, T tactical. Arguments with `?` may be left out. A job has the whole documentation
of its tools in its workspace, a page each.

| tool | phases | arguments | carried out | what it does |
|---|---|---|---|---|
";

#[test]
fn the_committed_table_has_every_tool() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tools.md");
    let expected = catalog().iter().fold(HEAD.to_owned(), |mut text, tool| {
        let _ = writeln!(text, "{}", row(tool));
        text
    });
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == expected, "docs/tools.md is out of date: run the test with UPDATE=1 and commit the file");
}

fn row(tool: &ToolSpec) -> String {
    let phases = match tool.phases {
        Phases::Strategic => "S",
        Phases::Tactical => "T",
        Phases::Both => "S T",
        Phases::Neither => "",
    };
    let carried_out = match tool.handler {
        Handler::Engine | Handler::Local => "with the step",
        Handler::External => "outside, after a commit",
    };
    let arguments = arguments(tool);
    let what = tool.description.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    format!("| `{}` | {phases} | {arguments} | {carried_out} | {what} |", tool.name)
}

/// The names of the arguments, required ones first.
fn arguments(tool: &ToolSpec) -> String {
    let required: Vec<&str> =
        tool.parameters["required"].as_array().into_iter().flatten().filter_map(|name| name.as_str()).collect();
    let all = tool.parameters["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let optional = all.filter(|name| !required.contains(name)).map(|name| format!("`{name}`?"));
    let given = required.iter().map(|name| format!("`{name}`"));
    given.chain(optional).collect::<Vec<_>>().join(", ")
}
