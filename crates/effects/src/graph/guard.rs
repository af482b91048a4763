//! What a query of the model may do: read, or, where it is allowed, add. It never deletes, changes the schema, reads
//! files or calls procedures of its choice.
//!
//! The server refuses a reader's writes as well; this guard speaks before it does, in words that help, and covers
//! what a server allows to a writer. It looks at words outside of strings, comments and quoted names. A word that is a
//! key or a label there by chance is refused too; in backticks it passes.

/// Words that add.
const ADDING: [&str; 3] = ["create", "merge", "set"];
/// Words that no query of the model may contain.
const NEVER: [&str; 20] = [
    "delete",
    "detach",
    "remove",
    "drop",
    "load",
    "foreach",
    "use",
    "alter",
    "rename",
    "grant",
    "deny",
    "revoke",
    "terminate",
    "start",
    "stop",
    "enable",
    "disable",
    "reallocate",
    "deallocate",
    "dryrun",
];
/// Procedures that tell about the schema.
const PROCEDURES: [&str; 6] = [
    "db.labels",
    "db.relationshiptypes",
    "db.propertykeys",
    "db.schema.visualization",
    "db.schema.nodetypeproperties",
    "db.schema.reltypeproperties",
];

/// Why a query is not run.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Forbidden {
    /// It would write, and may not.
    #[error("`{0}` writes, and this graph is read only for queries; integrate_requirement writes requirements")]
    Writes(String),
    /// It would do what no query may.
    #[error(
        "`{0}` is not allowed in a query; reading is, and where writing is allowed MERGE, CREATE and SET are (a name that reads like it goes into backticks)"
    )]
    Word(String),
    /// It calls a procedure.
    #[error(
        "the procedure `{0}` may not be called; allowed are db.labels, db.relationshipTypes, db.propertyKeys and db.schema.*"
    )]
    Procedure(String),
}

/// Looks at a query; the answer is whether it writes.
///
/// # Errors
/// [`Forbidden`]: what in it is not allowed.
pub fn check(query: &str, allow_write: bool) -> Result<bool, Forbidden> {
    let tokens = tokens(query);
    let mut writes = false;
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        let after_dot = at > 0 && matches!(tokens[at - 1], Token::Sign('.' | '$' | ':'));
        if after_dot {
            continue;
        }
        let lower = word.to_lowercase();
        if NEVER.contains(&lower.as_str()) || (lower == "create" && !creates_nodes(&tokens[at + 1..])) {
            return Err(Forbidden::Word(word.clone()));
        }
        if lower == "call" {
            called(&tokens[at + 1..])?;
        }
        if ADDING.contains(&lower.as_str()) {
            if !allow_write {
                return Err(Forbidden::Writes(word.clone()));
            }
            writes = true;
        }
    }
    Ok(writes)
}

/// A pattern follows, `(…)` or `name = (…)`, or `SET` after `ON CREATE`; not an index, a constraint, a user.
fn creates_nodes(rest: &[Token]) -> bool {
    match rest {
        [Token::Sign('('), ..] | [Token::Word(_), Token::Sign('='), ..] => true,
        [Token::Word(word), ..] => word.eq_ignore_ascii_case("set"),
        _ => false,
    }
}

/// A subquery in braces is looked at like the rest; a procedure must be a known one.
fn called(rest: &[Token]) -> Result<(), Forbidden> {
    if matches!(rest, [Token::Sign('{' | '('), ..]) {
        return Ok(());
    }
    let mut name = String::new();
    for token in rest {
        match token {
            Token::Word(word) => name.push_str(word),
            Token::Sign('.') => name.push('.'),
            Token::Sign(_) => break,
        }
    }
    match PROCEDURES.contains(&name.to_lowercase().as_str()) {
        true => Ok(()),
        false => Err(Forbidden::Procedure(name)),
    }
}

#[derive(Debug)]
enum Token {
    Word(String),
    Sign(char),
}

/// Words and signs, without what stands in strings, comments and backticks. A quoted name becomes a sign, so that it is
/// neither a word nor nothing.
fn tokens(query: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = query;
    while let Some(first) = rest.chars().next() {
        let used = match first {
            '\'' | '"' => quoted(rest, first, true),
            '`' => {
                tokens.push(Token::Sign('`'));
                quoted(rest, '`', false)
            }
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ if first.is_alphanumeric() || first == '_' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                tokens.push(Token::Word(rest[..end].to_string()));
                end
            }
            _ => {
                if !first.is_whitespace() {
                    tokens.push(Token::Sign(first));
                }
                first.len_utf8()
            }
        };
        rest = &rest[used..];
    }
    tokens
}

/// The length of a quoted piece, both quotes included; to the end where it is not closed.
fn quoted(text: &str, quote: char, escapes: bool) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' if escapes => escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_passes() {
        for query in [
            "MATCH (r:Requirement) WHERE r.set = 'delete' RETURN r.create LIMIT 5 // drop it",
            "MATCH (n) WHERE n.name CONTAINS \"it's \\\" a DROP\" RETURN n",
            "CALL db.labels() YIELD label RETURN label",
            "CALL { MATCH (n:Message) RETURN n } RETURN count(n)",
            "MATCH (n:`DELETE`) /* remove */ RETURN n.`set`",
            "MATCH (a)-[:USE]->(b) RETURN b, $delete",
        ] {
            assert_eq!(check(query, false), Ok(false), "{query}");
        }
    }

    #[test]
    fn writing_needs_leave_and_only_adds() {
        for query in [
            "CREATE (n:Message {mid: 'MSG-1'})",
            "MERGE (n:Message {mid: 'MSG-1'}) ON CREATE SET n.name = 'a' ON MATCH SET n.name = 'b'",
            "CREATE p = (a)-[:REFINES]->(b) RETURN p",
            "match (n) set n.name = 'x'",
        ] {
            assert!(matches!(check(query, false), Err(Forbidden::Writes(_))), "{query}");
            assert_eq!(check(query, true), Ok(true), "{query}");
        }
    }

    #[test]
    fn nothing_else_is_ever_allowed() {
        for query in [
            "MATCH (n) DETACH DELETE n",
            "MATCH (n) REMOVE n.name",
            "MATCH (n) /* x */ delete n",
            "CREATE CONSTRAINT c FOR (n:A) REQUIRE n.b IS UNIQUE",
            "CREATE USER eve SET PASSWORD 'x'",
            "CREATE OR REPLACE DATABASE neo4j",
            "DROP INDEX i",
            "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
            "CALL apoc.cypher.runWrite('x', {})",
            "CALL dbms.security.listUsers()",
            "CALL `apoc`.`cypher`.`doIt`('x')",
            "USE system SHOW USERS",
            "MATCH (n) CALL { WITH n DELETE n } RETURN 1",
            "FOREACH (n IN [1] | CREATE (:A))",
        ] {
            assert!(check(query, true).is_err(), "{query}");
        }
    }
}
