//! Restricts queries of the model: they may read or, if allowed, add. They never delete or clear data, change the
//! schema, read files or call arbitrary procedures.
//!
//! The server parses: it returns its plan of the query, in a read session, and the query runs only if each operator of
//! the plan is on a list of reading or adding ones. An unlisted operator is refused by name. Before that, an ambiguous
//! text is refused.
//!
//! | question | file |
//! |---|---|
//! | what may the text not contain | `text`, `tokens` |
//! | which operators may be in the plan | `operators` |
//! | which functions and procedures | `functions` |
//! | may an assignment remove something | `assignments` |

mod assignments;
mod functions;
mod operators;
mod text;
mod tokens;

pub use operators::check as check_plan;
pub use text::check as check_text;

/// Why a query is not run.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Forbidden {
    /// It would write, which is not allowed.
    #[error(
        "the query writes (`{0}`), and this graph is read only for queries; integrate_requirement writes requirements"
    )]
    Writes(String),
    /// Its plan has an operator that is not on the lists.
    #[error(
        "`{0}` is not allowed in a query: the graph's plan of it may have operators that read, and where writing is \
         allowed Create, Merge, SetProperty and SetLabels"
    )]
    Operator(String),
    /// It could remove properties that it does not name, or set a property to null.
    #[error(
        "`SET {0}` may remove what is there: set one property at a time, to a value that cannot be null, as with \
         coalesce(…, '')"
    )]
    Empties(String),
    /// It calls a procedure.
    #[error(
        "the procedure `{0}` may not be called; allowed are db.labels, db.relationshipTypes, db.propertyKeys and db.schema.*"
    )]
    Procedure(String),
    /// It calls a function.
    #[error(
        "the function `{0}` may not be called; allowed are the language's own functions of strings, lists, numbers, times, nodes and paths"
    )]
    Function(String),
    /// It names another graph.
    #[error(
        "`USE` is not allowed in a query: it runs in the configured database (a name that reads like it goes into backticks)"
    )]
    Elsewhere,
    /// It has a comment.
    #[error("a comment may not stand in a query; leave `//…` and `/*…*/` out")]
    Comment,
    /// It has a semicolon.
    #[error("`;` may not stand in a query, at its end neither: it is one statement")]
    Several,
    /// A string or name is not terminated.
    #[error("a quote {0} is opened and not closed")]
    Open(char),
    /// A character that a server may parse differently.
    #[error("the character {0} may not stand in a query; write the text itself, or pass it in `params`")]
    Character(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::plan::Operator;
    use serde_json::json;

    #[test]
    fn plain_texts_pass() {
        for query in [
            "MATCH (r:Requirement) WHERE r.set = 'delete; // it' RETURN r.create LIMIT 5",
            "MATCH (n) WHERE n.name CONTAINS \"it's \\\" a /* DROP\" RETURN n",
            "CALL db.labels() YIELD label RETURN label",
            "CALL { MATCH (n:Message) RETURN n } RETURN count(n)",
            "MATCH (n:`DELETE // x`) RETURN n.`set`, n.`a``b`",
            "MATCH (a)-[:USE]->(b) RETURN b, $use, b.use",
            "MATCH (n) WHERE n.name = '\\u00a7 5 \\u0041' RETURN n",
            "MATCH p = shortestPath((a:A {id: 1})-[*..4]->(b:B)) RETURN length(p), [x IN nodes(p) WHERE x.name <> '' | x.name]",
            "MATCH p = SHORTEST 1 (a:A) ((x)-[:R]->(y)){1,3} (b:B) RETURN p",
            "MATCH (n) WHERE any(x IN labels(n) WHERE x STARTS WITH 'Req') AND (n.a = 1 OR n.b IN ['x', 'y']) RETURN n",
            "WITH date('2024-01-01') AS d RETURN date.truncate('year', d), duration.between(d, date())",
            "MATCH (n) WHERE EXISTS { (n)-[:REFINES]->() } OPTIONAL MATCH (m:Größe) RETURN CASE WHEN (n.x) THEN 1 ELSE (2) END",
            "UNWIND range(1, 3) AS i RETURN reduce(s = 0, y IN [1, i] | s + y) AS total ORDER BY (i) SKIP 1 LIMIT (5)",
            "MATCH (n) RETURN n.name\r\nLIMIT 3",
            "MERGE (n:A {id: 1}) ON CREATE SET n.v = 1",
        ] {
            assert_eq!(check_text(query), Ok(()), "{query}");
        }
    }

    /// Texts that two parsers may read differently.
    #[test]
    fn texts_that_can_be_read_in_two_ways_are_refused() {
        for query in ["RETURN 1 // x", "RETURN 1 /* x */", "/*/ ' */ MATCH (n) RETURN n //'", "RETURN 6 /*"] {
            assert_eq!(check_text(query), Err(Forbidden::Comment), "{query}");
        }
        for query in ["RETURN 1;", "RETURN 1; MATCH (n) DETACH DELETE n", "WITH ';' AS a;RETURN a"] {
            assert_eq!(check_text(query), Err(Forbidden::Several), "{query}");
        }
        for query in [
            "RETURN \\u0031",
            "MATCH (n:`a\\u0060`) RETURN n",
            "RETURN '\\u0027 + 1'",
            "RETURN '\\U00000027'",
            "RETURN '\\uuuu0027'",
            "RETURN '\\\\u0027'",
            "RETURN '\\u005c'",
            "RETURN '\\u00'",
            "RETURN 1 \\ 2",
        ] {
            assert!(matches!(check_text(query), Err(Forbidden::Character(_))), "{query}");
        }
        for query in ["RETURN 'a", "RETURN \"a", "MATCH (n:`a) RETURN n", "MATCH (n:`a``) RETURN n", "RETURN 'a\\'"] {
            assert!(matches!(check_text(query), Err(Forbidden::Open(_))), "{query}");
        }
        for odd in (0..0x20).filter(|c| !matches!(c, 9 | 10)).chain([0x7f, 0x85, 0xa0, 0x2003, 0x2028, 0x3000, 0xfeff])
        {
            let odd = char::from_u32(odd).expect("a character");
            assert!(matches!(check_text(&format!("RETURN{odd}1")), Err(Forbidden::Character(_))), "{odd:?}");
        }
        assert_eq!(check_text("USE system MATCH (n) RETURN n"), Err(Forbidden::Elsewhere));
    }

    #[test]
    fn only_known_functions_and_procedures_are_called() {
        for query in [
            "RETURN apoc.load.json('http://a/')",
            "RETURN `apoc`.`load`.`json`('http://a/')",
            "RETURN apoc.`load`.json('http://a/')",
            "RETURN apoc . load . json ('http://a/')",
            "MATCH (n) RETURN n LIMIT apoc.x()",
            "RETURN genai.vector.encode('x', 'OpenAI', {token: 'y'})",
            "RETURN `file`()",
            "RETURN linenumber()",
            "WITH 1 AS a CALL (a) { RETURN apoc.x(a) AS b } RETURN b",
        ] {
            assert!(matches!(check_text(query), Err(Forbidden::Function(_))), "{query}: {:?}", check_text(query));
        }
        for query in ["CALL dbms.listConfig() YIELD name RETURN name", "call apoc.cypher.doIt('x', {})"] {
            assert!(matches!(check_text(query), Err(Forbidden::Procedure(_))), "{query}");
        }
    }

    fn plan(operators: &[(&str, &str)]) -> Vec<Operator> {
        let of = |(name, details): &(&str, &str)| Operator { name: (*name).into(), details: (*details).into() };
        operators.iter().map(of).collect()
    }

    #[test]
    fn operators_that_read_pass_and_unknown_ones_are_named() {
        let reading = plan(&[
            ("ProduceResults@neo4j", "n"),
            ("Expand(All)@neo4j", "(n)-[r]->(m)"),
            ("PartitionedNodeByLabelScan@neo4j", "n:A"),
            ("ProcedureCall@neo4j", "db.labels() :: (label :: STRING)"),
            ("Filter@neo4j", "date.truncate($autostring_1, cache[n.x]) = $d AND 'a.b(' IN n.y"),
        ]);
        assert_eq!(check_plan(&reading, false, &json!({})), Ok(false));
        for name in [
            "LoadCSV",
            "DetachDelete",
            "RemoveLabels",
            "SetNodePropertiesFromMap",
            "AdministrationCommand",
            "ShowSettings",
            "Foreach",
            "TransactionApply",
            "RunQueryAt",
            "SetDynamicProperty",
            "BrandNew(All)",
        ] {
            let found =
                check_plan(&plan(&[("ProduceResults@neo4j", ""), (&format!("{name}@neo4j"), "")]), true, &json!({}));
            assert_eq!(found, Err(Forbidden::Operator(name.into())));
        }
        let called = plan(&[("ProcedureCall@neo4j", "apoc.load.json($autostring_0) :: (value :: MAP)")]);
        assert_eq!(check_plan(&called, true, &json!({})), Err(Forbidden::Procedure("apoc.load.json".into())));
        let function = plan(&[("Projection@neo4j", "apoc.text.join(x, $autostring_0) AS y")]);
        assert_eq!(check_plan(&function, true, &json!({})), Err(Forbidden::Function("apoc.text.join".into())));
    }

    #[test]
    fn adding_needs_leave_and_takes_nothing_away() {
        let check = |name: &str, details: &str, parameters| check_plan(&plan(&[(name, details)]), true, &parameters);
        for (name, details) in [
            ("Create@neo4j", "(n:A {v: NULL, w: $autostring_0})"),
            ("SetLabels@neo4j", "n:Label"),
            ("SetProperty@neo4j", "n.v = $autoint_0"),
            ("SetProperty@neo4j", "n.`odd = name` = -1.5"),
            (
                "SetProperties@neo4j",
                "n.v = coalesce(row.v, $autostring_0), n.w = cache[n.w] + $autoint_1, n.d = datetime()",
            ),
            ("SetProperty@neo4j", "n.v = toUpper($x) || 'a' || [1, 2]"),
            ("Merge@neo4j", "CREATE (n:A {id: $autoint_0}), ON MATCH SET n:B, SET n.x = coalesce(n.y, $autostring_1)"),
            ("LockingMerge@neo4j", "CREATE (a)-[r:R {x: $autoint_0}]->(b), ON CREATE SET r.v = $x, LOCK(a, b)"),
        ] {
            assert_eq!(check(name, details, json!({"x": "y"})), Ok(true), "{details}");
            let refused = check_plan(&plan(&[(name, details)]), false, &json!({"x": "y"}));
            assert!(matches!(refused, Err(Forbidden::Writes(_))), "{details}");
        }
        for (name, details) in [
            ("SetProperty@neo4j", "n.v = NULL"),
            ("SetProperty@neo4j", "n.v = $nothing"),
            ("SetProperty@neo4j", "n.v = $missing"),
            ("SetProperty@neo4j", "n.v = $x.y"),
            ("SetProperty@neo4j", "n.v = $autolist_0[$autoint_1]"),
            ("SetProperty@neo4j", "n.v = row.v"),
            ("SetProperty@neo4j", "n.v = n.w + $autoint_0"),
            ("SetProperty@neo4j", "n.v = n.v.w"),
            ("SetProperty@neo4j", "n.v = nullIf($autoint_0, $autoint_1)"),
            ("SetProperty@neo4j", "n.v = coalesce(NULL, n.w)"),
            ("SetProperty@neo4j", "n.v = CASE WHEN n.a = 1 THEN $autoint_1 END"),
            ("SetProperties@neo4j", "n.a = $autoint_0, n.b = head([])"),
            ("Merge@neo4j", "CREATE (n:A {id: $autoint_0}), ON MATCH SET n = {}"),
            ("Merge@neo4j", "CREATE (n:A {id: $autoint_0}), ON MATCH SET n:B, SET n += $x"),
            ("Merge@neo4j", "CREATE (n:A), ON CREATE SET m.v = NULL, n.w = $autostring_1"),
        ] {
            let found = check(name, details, json!({"x": "y", "nothing": null}));
            assert!(matches!(found, Err(Forbidden::Empties(_))), "{details}: {found:?}");
        }
    }
}
