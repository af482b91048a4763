//! The output without a graph: statements for a person to run.

use crate::error::ToolError;
use crate::graph::{self, Link, RequirementNode};
use plumbline_engine::Product;
use std::collections::BTreeMap;

/// The first part.
const PATH: &str = "output/insert.cypher";
/// Size at which a part is full and a new one begins: each append to a file stores the whole file again.
const FULL_BYTES: u64 = 256 * 1024;

/// The size of a file, if it exists.
type SizeOf<'a> = dyn Fn(&str) -> Option<u64> + Send + Sync + 'a;

/// The parts of the script, including what one call or the system has added. Each part is self-contained and may be run
/// again; a relation to a requirement of a later part is created by the second run.
pub(crate) struct Script<'a> {
    size: Box<SizeOf<'a>>,
    added: BTreeMap<String, String>,
}

impl<'a> Script<'a> {
    /// The script among files of known sizes.
    pub(crate) fn over(size: impl Fn(&str) -> Option<u64> + Send + Sync + 'a) -> Self {
        Self { size: Box::new(size), added: BTreeMap::new() }
    }

    /// Adds a requirement; returns the part that contains it.
    pub(crate) fn add(&mut self, node: &RequirementNode, links: &[Link]) -> Result<String, ToolError> {
        let statements = graph::script_of(node, links).map_err(|error| ToolError::refused(error.to_string()))?;
        let path = self.part();
        let head = if (self.size)(&path).is_none() && !self.added.contains_key(&path) {
            graph::script_head()
        } else {
            String::new()
        };
        self.added.entry(path.clone()).or_default().push_str(&(head + &statements));
        Ok(path)
    }

    /// The part that has room.
    fn part(&self) -> String {
        let mut path = PATH.to_string();
        let mut part = 1;
        while (self.size)(&path).unwrap_or(0) + self.added.get(&path).map_or(0, |text| text.len() as u64) >= FULL_BYTES
        {
            part += 1;
            path = format!("output/insert_part_{part:03}.cypher");
        }
        path
    }

    /// The files to write.
    pub(crate) fn into_products(self) -> Vec<Product> {
        self.added.into_iter().map(|(path, text)| Product::AppendFile { path, text }).collect()
    }
}
