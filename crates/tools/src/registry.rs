//! The list of all built-in tools.

use crate::documents::{chunk_document::ChunkDocument, cite::Cite, extract_document_text::ExtractDocumentText};
use crate::graph::{execute_cypher_query::ExecuteCypherQuery, get_graph_schema::GetGraphSchema};
use crate::requirements::add_requirement::{self, AddRequirement};
use crate::requirements::record_passage::RecordPassage;
use crate::requirements::recorded::{list::ListRequirements, update::UpdateRequirement, withdraw::WithdrawRequirement};
use crate::requirements::{
    integrate_requirement::IntegrateRequirement, judge_requirements::JudgeRequirements,
    next_requirement::NextRequirement, query_similar_requirements::QuerySimilarRequirements,
    reject_requirement::RejectRequirement,
};
use crate::tool::{Registry, Tool};
use crate::web::{fetch_page::FetchPage, web_search::WebSearch};
use crate::workspace::{
    create_folder::CreateFolder, delete_file::DeleteFile, edit_file::EditFile, list_files::ListFiles,
    read_file::ReadFile, search_files::SearchFiles, write_file::WriteFile,
};
use plumbline_engine::ToolSpec;
use std::sync::LazyLock;

/// All built-in tools, in the fixed order of the request; one list for the whole process.
pub(crate) static BUILT_IN: LazyLock<Registry> = LazyLock::new(|| {
    Registry::from_iter([
        Tool::declared::<ReadFile>(),
        Tool::declared::<WriteFile>(),
        Tool::declared::<EditFile>(),
        Tool::declared::<ListFiles>(),
        Tool::declared::<SearchFiles>(),
        Tool::declared::<DeleteFile>(),
        Tool::declared::<CreateFolder>(),
        Tool::declared::<ExtractDocumentText>(),
        Tool::declared::<ChunkDocument>(),
        Tool::declared::<WebSearch>(),
        Tool::declared::<FetchPage>(),
        Tool::declared::<Cite>(),
        Tool::declared::<AddRequirement>(),
        add_requirement::alias(),
        Tool::declared::<RecordPassage>(),
        Tool::declared::<ListRequirements>(),
        Tool::declared::<UpdateRequirement>(),
        Tool::declared::<WithdrawRequirement>(),
        Tool::declared::<QuerySimilarRequirements>(),
        Tool::declared::<NextRequirement>(),
        Tool::declared::<JudgeRequirements>(),
        Tool::declared::<IntegrateRequirement>(),
        Tool::declared::<RejectRequirement>(),
        Tool::declared::<GetGraphSchema>(),
        Tool::declared::<ExecuteCypherQuery>(),
    ])
});

/// Whether a call of a built-in tool reaches another host than these. The engine's own tools do not.
pub fn reaches_out(name: &str, arguments: &str, hosts: &[String]) -> bool {
    let Some(tool) = BUILT_IN.get(name) else { return false };
    (tool.reaches_out)(&serde_json::from_str(arguments).unwrap_or_default(), hosts)
}

/// The specifications of all tools run here. The engine has its own, which it runs itself.
pub fn catalog() -> Vec<ToolSpec> {
    BUILT_IN.specs()
}
