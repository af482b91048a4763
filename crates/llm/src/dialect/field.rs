//! The fields of a request that an endpoint may not support.

/// A field of a request that is sent only if it is configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Temperature,
    ParallelToolCalls,
    ToolChoice,
    ServiceTier,
}

impl Field {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [Self::Temperature, Self::ParallelToolCalls, Self::ToolChoice, Self::ServiceTier];

    /// Its name on the wire, in all protocols.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Temperature => "temperature",
            Self::ParallelToolCalls => "parallel_tool_calls",
            Self::ToolChoice => "tool_choice",
            Self::ServiceTier => "service_tier",
        }
    }
}
