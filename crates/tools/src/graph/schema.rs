//! The labels, relations and constraints that integration knows (the same as those of the graphs it joins).

/// The target of a requirement's relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// `(:BusinessObject {boid})`
    Object,
    /// `(:Message {mid})`
    Message,
    /// `(:Requirement {rid})`
    Requirement,
}

impl End {
    /// The label of these nodes.
    pub fn label(self) -> &'static str {
        match self {
            Self::Object => "BusinessObject",
            Self::Message => "Message",
            Self::Requirement => "Requirement",
        }
    }

    /// The property that identifies them.
    pub fn id(self) -> &'static str {
        match self {
            Self::Object => "boid",
            Self::Message => "mid",
            Self::Requirement => "rid",
        }
    }
}

/// A relation from a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RelationKind {
    /// Its type.
    pub name: &'static str,
    /// Its target.
    pub end: End,
    /// Its meaning.
    pub meaning: &'static str,
}

const fn kind(name: &'static str, end: End, meaning: &'static str) -> RelationKind {
    RelationKind { name, end, meaning }
}

/// All relations from a requirement.
pub const RELATIONS: [RelationKind; 12] = [
    kind("RELATES_TO_OBJECT", End::Object, "mentions the object"),
    kind("IMPACTS_OBJECT", End::Object, "changes how the object has to be treated"),
    kind("FULFILLED_BY_OBJECT", End::Object, "the object fulfils it (confidence, evidence)"),
    kind("NOT_FULFILLED_BY_OBJECT", End::Object, "a gap (gapDescription, severity, remediation)"),
    kind("RELATES_TO_MESSAGE", End::Message, "mentions the message"),
    kind("IMPACTS_MESSAGE", End::Message, "changes how the message has to be treated"),
    kind("FULFILLED_BY_MESSAGE", End::Message, "the message fulfils it (confidence, evidence)"),
    kind("NOT_FULFILLED_BY_MESSAGE", End::Message, "a gap (gapDescription, severity, remediation)"),
    kind("REFINES", End::Requirement, "says another requirement more precisely"),
    kind("DEPENDS_ON", End::Requirement, "presupposes another requirement"),
    kind("TRACES_TO", End::Requirement, "comes from another requirement"),
    kind("SUPERSEDES", End::Requirement, "replaces another requirement (reason, effectiveDate)"),
];

/// The relation with this name.
pub fn relation(name: &str) -> Option<RelationKind> {
    RELATIONS.into_iter().find(|kind| kind.name == name)
}

/// The properties that a relation may have.
pub const PROPERTIES: [&str; 17] = [
    "rationale",
    "confidence",
    "evidence",
    "gapDescription",
    "severity",
    "remediation",
    "reason",
    "effectiveDate",
    "description",
    "note",
    "notes",
    "comment",
    "source",
    "page",
    "section",
    "quote",
    "status",
];

/// Ids are unique, each cached requirement has one node, and there is one counter. One statement each, because some
/// servers accept no more.
pub const CONSTRAINTS: [&str; 5] = [
    "CREATE CONSTRAINT requirement_rid IF NOT EXISTS FOR (n:Requirement) REQUIRE n.rid IS UNIQUE",
    "CREATE CONSTRAINT requirement_source IF NOT EXISTS FOR (n:Requirement) REQUIRE n.sourceRequirementId IS UNIQUE",
    "CREATE CONSTRAINT business_object_boid IF NOT EXISTS FOR (n:BusinessObject) REQUIRE n.boid IS UNIQUE",
    "CREATE CONSTRAINT message_mid IF NOT EXISTS FOR (n:Message) REQUIRE n.mid IS UNIQUE",
    "CREATE CONSTRAINT plumbline_counter IF NOT EXISTS FOR (n:PlumblineCounter) REQUIRE n.name IS UNIQUE",
];
