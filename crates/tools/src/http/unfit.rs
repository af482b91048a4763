//! Why an entry of `connections.http_tools` is not a tool.

/// Why an entry is not a tool, in half a sentence after its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The job continues without it.
    LeftOut(String),
    /// The entry must be corrected.
    Broken(String),
}
