//! The effects of a query plan, operator by operator.

use super::tokens::tokens;
use super::{Forbidden, assignments, functions};
use crate::graph::plan::Operator;
use serde_json::Value;

/// Operators that read, without the parentheses after them and without the prefix `Partitioned`: those of Neo4j 5.26
/// (`LogicalPlan2PlanDescription`). A new operator of a server is refused by name until it is added here.
#[rustfmt::skip]
const READING: &[&str] = &[
    // Sources of rows.
    "AllNodesScan", "Argument", "EmptyRow", "NodeByElementIdSeek", "NodeByIdSeek", "NodeByLabelScan",
    "NodeCountFromCountStore", "NodeIndexContainsScan", "NodeIndexEndsWithScan", "NodeIndexScan", "NodeIndexSeek",
    "NodeIndexSeekByRange", "NodeUniqueIndexSeek", "NodeUniqueIndexSeekByRange", "MultiNodeIndexSeek",
    "AssertingMultiNodeIndexSeek", "AssertingMultiRelationshipIndexSeek", "IntersectionNodeByLabelsScan",
    "SubtractionNodeByLabelsScan", "UnionNodeByLabelsScan", "RelationshipCountFromCountStore", "Unwind", "SingleRow",
    "DirectedAllRelationshipsScan", "DirectedRelationshipByElementIdSeek", "DirectedRelationshipByIdSeek",
    "DirectedRelationshipIndexContainsScan", "DirectedRelationshipIndexEndsWithScan", "DirectedRelationshipIndexScan",
    "DirectedRelationshipIndexSeek", "DirectedRelationshipIndexSeekByRange", "DirectedRelationshipTypeScan",
    "DirectedRelationshipUniqueIndexSeek", "DirectedRelationshipUniqueIndexSeekByRange",
    "DirectedUnionRelationshipTypesScan", "UndirectedAllRelationshipsScan", "UndirectedRelationshipByElementIdSeek",
    "UndirectedRelationshipByIdSeek", "UndirectedRelationshipIndexContainsScan",
    "UndirectedRelationshipIndexEndsWithScan", "UndirectedRelationshipIndexScan", "UndirectedRelationshipIndexSeek",
    "UndirectedRelationshipIndexSeekByRange", "UndirectedRelationshipTypeScan",
    "UndirectedRelationshipUniqueIndexSeek", "UndirectedRelationshipUniqueIndexSeekByRange",
    "UndirectedUnionRelationshipTypesScan",
    // Along relationships.
    "BidirectionalRepeat", "Expand", "OptionalExpand", "PathPropagatingBFS", "ProjectEndpoints", "Repeat",
    "RepeatOptions", "ShortestPath", "StatefulShortestPath", "VarLengthExpand",
    // Of several branches.
    "Anti", "AntiConditionalApply", "AntiSemiApply", "Apply", "AssertSameNode", "AssertSameRelationship",
    "CartesianProduct", "ConditionalApply", "LetAntiSemiApply", "LetSelectOrAntiSemiApply", "LetSelectOrSemiApply",
    "LetSemiApply", "NodeHashJoin", "NodeLeftOuterHashJoin", "NodeRightOuterHashJoin", "OrderedUnion", "RollUpApply",
    "SelectOrAntiSemiApply", "SelectOrSemiApply", "SemiApply", "TriadicBuild", "TriadicFilter", "TriadicSelection",
    "Union", "ValueHashJoin",
    // On rows.
    "ArgumentTracker", "CacheProperties", "Distinct", "Eager", "EagerAggregation", "EmptyResult", "Error",
    "ExhaustiveLimit", "Filter", "Limit", "NonFuseable", "NullifyMetadata", "Optional", "OrderedAggregation",
    "OrderedDistinct", "PartialSort", "PartialTop", "PreserveOrder", "ProduceResults", "Projection",
    "RemoteBatchProperties", "Skip", "Sort", "Top", "Top1WithTies",
];

/// Checks the server's plan of a query with these parameters; returns whether it writes.
///
/// # Errors
/// [`Forbidden`]: the forbidden operator, procedure, function or value.
pub fn check(plan: &[Operator], allow_write: bool, parameters: &Value) -> Result<bool, Forbidden> {
    let mut writes = false;
    for Operator { name, details } in plan {
        let tokens = tokens(details);
        let full = name.split('@').next().unwrap_or_default();
        let kind = full.split('(').next().unwrap_or_default();
        let kind = kind.strip_prefix("Partitioned").unwrap_or(kind);
        match kind {
            "ProcedureCall" => {
                functions::procedure(details.split('(').next().unwrap_or_default().trim())?;
                continue;
            }
            "Create" | "Merge" | "LockingMerge" | "SetProperty" | "SetProperties" | "SetLabels" => {
                if !allow_write {
                    return Err(Forbidden::Writes(full.to_owned()));
                }
                writes = true;
                match kind {
                    "Merge" | "LockingMerge" => assignments::of_merge(&tokens, parameters)?,
                    "SetProperty" | "SetProperties" => assignments::of_set(&tokens, parameters)?,
                    _ => {}
                }
            }
            _ if READING.contains(&kind) => {}
            _ => return Err(Forbidden::Operator(full.to_owned())),
        }
        functions::of_plan(&tokens)?;
    }
    Ok(writes)
}
