//! The engine's settings with all tools and the model's token counter.

use super::{ConfigError, Resolved, token_cache::TokenCache};
use plumbline_engine::{Settings, ToolSpec};
use std::sync::Arc;

/// All tools: the engine's own and the external ones.
pub fn catalog() -> Vec<ToolSpec> {
    let mut catalog = plumbline_engine::tools::specs();
    catalog.extend(plumbline_tools::catalog());
    catalog
}

impl Resolved {
    /// Checks that a job can start with it: its tools exist, its prompts render, and its inspection can be built.
    ///
    /// # Errors
    /// The reason, if it cannot.
    pub fn is_usable(&self) -> Result<(), ConfigError> {
        self.settings(catalog(), Arc::new(|_| 0))?;
        let parts = [self.inspection().map(drop), self.scan().map(drop), self.record_defaults().map(drop)];
        parts.into_iter().collect()
    }

    /// The engine's settings. The tokens of `shared` texts, which all jobs of the configuration have, are counted once.
    ///
    /// # Errors
    /// A sentence, if a prompt does not render.
    pub fn engine_settings(&self, shared: &[&str]) -> Result<Settings, String> {
        let encoder = plumbline_tokens::encoder_for(self.config.llm.model.as_deref().unwrap_or_default());
        let settings = self.settings(catalog(), Arc::new(move |text| encoder.count(text)));
        let mut settings = settings.map_err(|error| error.to_string())?;
        let known = TokenCache::of(encoder, &settings.prompts, shared);
        settings.count_tokens = Arc::new(move |text| known.count(text));
        Ok(settings)
    }
}
