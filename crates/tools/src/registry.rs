//! The list of tools. A tool is in it or it does not exist.

use crate::tool::Tool;
use crate::{
    documents::{chunk_document, cite, extract_document_text},
    graph::{execute_cypher_query, get_graph_schema},
    requirements::{
        add_requirement, integrate_requirement, next_requirement, query_similar_requirements, recorded,
        reject_requirement,
    },
    web::{fetch_page, web_search},
    workspace::{create_folder, delete_file, edit_file, list_files, read_file, search_files, write_file},
};
use plumbline_engine::ToolSpec;

/// All tools, in the fixed order of the request.
pub(crate) static TOOLS: [Tool; 23] = [
    read_file::TOOL,
    write_file::TOOL,
    edit_file::TOOL,
    list_files::TOOL,
    search_files::TOOL,
    delete_file::TOOL,
    create_folder::TOOL,
    extract_document_text::TOOL,
    chunk_document::TOOL,
    web_search::TOOL,
    fetch_page::TOOL,
    cite::TOOL,
    add_requirement::TOOL,
    add_requirement::ALIAS,
    recorded::list::TOOL,
    recorded::update::TOOL,
    recorded::withdraw::TOOL,
    query_similar_requirements::TOOL,
    next_requirement::TOOL,
    integrate_requirement::TOOL,
    reject_requirement::TOOL,
    get_graph_schema::TOOL,
    execute_cypher_query::TOOL,
];

/// The specifications of all tools carried out here. The engine has its own, which it carries out itself.
pub fn catalog() -> Vec<ToolSpec> {
    TOOLS.iter().map(|tool| (tool.spec)()).collect()
}
