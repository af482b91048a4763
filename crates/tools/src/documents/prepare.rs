//! Prepares a document: extracts its text and splits it into passages, with the code of the model's two tools for it.

use crate::documents::unread_pages;
use crate::error::{BatchError, ToolError};
use crate::requirements::comparison;
use crate::runner::ToolRunner;
use crate::tool::{Caches, ToolContext};
use crate::workspace::Workspace;
use crate::workspace::overlay::WorkspaceOverlay;
use plumbline_engine::{Prepared, Product, ToolCall};
use serde_json::json;

/// First extraction, then cutting.
const TOOLS: [&str; 2] = ["extract_document_text", "chunk_document"];

impl ToolRunner {
    /// Extracts a document's text and cuts it. A document without text is prepared as well: the note says why.
    ///
    /// # Errors
    /// The workspace could not be read. Nothing has been changed, and the call may be retried.
    pub async fn prepare(
        &self,
        document: &str,
        workspace: &dyn Workspace,
        ctx: &ToolContext<'_>,
    ) -> Result<Prepared, BatchError> {
        let mut overlay = WorkspaceOverlay::new(workspace);
        let caches = Caches::default();
        let (mut notes, mut products): (Vec<String>, Vec<Product>) = (Vec::new(), Vec::new());
        for name in TOOLS {
            let env = self.env(&overlay, ctx, &caches);
            let arguments = json!({"file_path": document}).to_string();
            let call = ToolCall { id: format!("prepare {document}"), name: name.to_string(), arguments };
            match self.carry_out(&call, false, &env).await {
                Ok(output) => {
                    notes.push(output.content);
                    overlay.apply(&output.products);
                    let compared = comparison::after_cut(&overlay, ctx, &output.products).await?;
                    products.extend(output.products.into_iter().chain(compared));
                }
                Err(ToolError::Workspace(error)) => return Err(error.into()),
                Err(ToolError::Unreadable { reason, document }) => {
                    notes.push(reason);
                    products.extend(unread_pages::of_unreadable(*document, overlay.passages()));
                    break;
                }
                Err(
                    ToolError::Refused(reason)
                    | ToolError::RefusedOnce(reason)
                    | ToolError::Transient(reason)
                    | ToolError::Unavailable { reason, .. },
                ) => {
                    notes.push(reason);
                    break;
                }
            }
        }
        Ok(Prepared { document: document.to_string(), note: notes.join("\n").replace('\0', "\u{fffd}"), products })
    }
}
