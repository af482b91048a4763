//! What a file still lacks, said in the result of the call that wrote it: the model corrects it sooner than at the end.

use super::{Inspection, LookedUp, Texts, and_more, look_up, owed::MAX_NAMED, quotes_of, unfound};
use crate::error::{Output, ToolError};
use crate::tool::ToolEnv;
use plumbline_bounds::run_costly;
use plumbline_engine::Product;
use std::time::Duration;

/// Of a file with more quotes none is looked up at once: it may be written in many calls.
const MOST_QUOTES: usize = 60;

impl Inspection {
    /// The result of a call that wrote an owed file, with a remark if the file is not yet as required. A check that
    /// takes longer than a call may is left to the end.
    pub(crate) async fn remarked(&self, env: &ToolEnv<'_>, mut done: Output, limit: Duration) -> Output {
        let mut remarks = Vec::new();
        for product in &done.products {
            let looked = async {
                let mut wrong: Vec<String> = self.wrong_at_once(product).await.into_iter().collect();
                wrong.extend(self.unfound_at_once(env, product).await.unwrap_or_default());
                wrong
            };
            remarks.extend(tokio::time::timeout(limit, looked).await.unwrap_or_default());
        }
        if !remarks.is_empty() {
            done.content.push_str(&format!("\n\nNot yet what the job owes: {}.", remarks.join("; ")));
        }
        done
    }

    async fn wrong_at_once(&self, product: &Product) -> Option<String> {
        let Product::WriteFile(written) = product else { return None };
        let is_owed = |file: &&super::OwedContent| file.path == written.path && file.is_looked_into();
        let file = self.files.iter().find(is_owed)?.clone();
        let content = written.content.clone();
        run_costly(move |_| file.wrong(&content)).await
    }

    /// The quotes of what was written that are in no document, or at another place than the file says. While a text is
    /// missing, nothing is: they may be in it.
    async fn unfound_at_once(&self, env: &ToolEnv<'_>, product: &Product) -> Result<Vec<String>, ToolError> {
        let (path, content) = match product {
            Product::WriteFile(written) => (&written.path, written.content.clone()),
            Product::AppendFile { path, text } => (path, text.clone().into_bytes()),
            _ => return Ok(Vec::new()),
        };
        let texts = Texts::of(env);
        if !self.quoting.contains(path) || texts.remedy.is_some() {
            return Ok(Vec::new());
        }
        let quotes = quotes_of(env, path, content).await?;
        let mut wrong = Vec::new();
        for quote in quotes.iter().filter(|_| quotes.len() <= MOST_QUOTES) {
            match look_up(env, path, quote).await? {
                LookedUp::Found(_) => {}
                LookedUp::Elsewhere(said) => wrong.push(said),
                LookedUp::Nowhere => wrong.push(unfound(env, path, &quote.text, &texts).await?),
            }
        }
        let more = and_more(wrong.len().saturating_sub(MAX_NAMED));
        wrong.truncate(MAX_NAMED);
        wrong.extend(more);
        Ok(wrong)
    }
}
