//! What a query of the model may do: read, or, where it is allowed, add. It never deletes, changes the schema, reads
//! files or calls procedures of its choice.
//!
//! The server refuses a reader's writes as well; this guard speaks before it does, in words that help, and covers
//! what a server allows to a writer. It looks at words outside of strings, comments and quoted names. A word that is a
//! key or a label there by chance is refused too; in backticks it passes.

/// Words that add.
const ADDING: [&str; 4] = ["create", "insert", "merge", "set"];
/// Words that no query of the model may contain.
const NEVER: [&str; 26] = [
    "show",
    "csv",
    "nodetach",
    "periodic",
    "transactions",
    "cypher",
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

/// Words of the language behind which a parenthesis may stand.
const BEFORE_PARENTHESES: &[&str] = &[
    "match", "optional", "where", "with", "return", "unwind", "as", "by", "and", "or", "xor", "not", "in", "is",
    "case", "when", "then", "else", "distinct", "skip", "limit", "offset", "contains", "starts", "ends", "create",
    "insert", "merge", "on", "set", "union", "call", "yield", "shortest", "any", "all", "paths", "exists", "asc",
    "desc", "from",
];
/// Functions without a side effect, as the language defines them.
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    // Predicates and conditions.
    "all", "any", "exists", "isempty", "none", "single", "coalesce", "nullif",
    // Of nodes, relationships and paths.
    "elementid", "endnode", "id", "keys", "labels", "length", "nodes", "properties", "relationships", "shortestpath",
    "allshortestpaths", "startnode", "type", "degree",
    // Counting.
    "avg", "collect", "count", "max", "min", "percentilecont", "percentiledisc", "stdev", "stdevp", "sum",
    // Lists.
    "head", "last", "range", "reduce", "reverse", "size", "tail", "tobooleanlist", "tofloatlist", "tointegerlist",
    "tostringlist", "extract", "filter",
    // Strings.
    "btrim", "char_length", "character_length", "left", "lower", "ltrim", "normalize", "replace", "right", "rtrim",
    "split", "substring", "tolower", "tostring", "tostringornull", "toupper", "trim", "upper",
    // Numbers.
    "abs", "ceil", "ceiling", "floor", "isnan", "rand", "round", "sign", "e", "exp", "ln", "log", "log10", "sqrt",
    "power", "acos", "asin", "atan", "atan2", "cos", "cot", "coth", "cosh", "degrees", "haversin", "pi", "radians",
    "sin", "sinh", "tan", "tanh", "toboolean", "tobooleanornull", "tofloat", "tofloatornull", "tointeger",
    "tointegerornull", "valuetype", "randomuuid", "timestamp",
    // Times and places.
    "date", "date.truncate", "datetime", "datetime.fromepoch", "datetime.fromepochmillis", "datetime.truncate",
    "duration", "duration.between", "duration.indays", "duration.inmonths", "duration.inseconds", "localdatetime",
    "localdatetime.truncate", "localtime", "localtime.truncate", "time", "time.truncate", "point", "point.distance",
    "point.withinbbox", "distance", "vector.similarity.cosine", "vector.similarity.euclidean",
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
    /// It calls a function.
    #[error(
        "the function `{0}` may not be called; allowed are the language's own functions of strings, lists, numbers, times, nodes and paths"
    )]
    Function(String),
    /// A character that a server may read as something else.
    #[error("the character {0} may not stand in a query; write the text itself, or pass it in `params`")]
    Character(String),
}

/// Looks at a query; the answer is whether it writes.
///
/// # Errors
/// [`Forbidden`]: what in it is not allowed.
pub fn check(query: &str, allow_write: bool) -> Result<bool, Forbidden> {
    characters(query)?;
    let tokens = tokens(query);
    let mut writes = false;
    for (at, token) in tokens.iter().enumerate() {
        if let Token::Odd(character) = token {
            return Err(Forbidden::Character(shown(*character)));
        }
        if matches!(tokens.get(at + 1), Some(Token::Sign('('))) {
            function(&tokens[..=at])?;
        }
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

/// A server turns `\\u` and four digits into a character before it looks for strings and comments, and takes a carriage
/// return for the end of a line.
fn characters(query: &str) -> Result<(), Forbidden> {
    let mut before = ' ';
    for (at, character) in query.char_indices() {
        let line_end = character == '\r' && query[at..].starts_with("\r\n");
        let odd = (character.is_control() && !matches!(character, '\n' | '\t') && !line_end)
            || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}');
        if odd {
            return Err(Forbidden::Character(shown(character)));
        }
        if before == '\\' && matches!(character, 'u' | 'U') {
            return Err(Forbidden::Character(format!("`\\{character}…`")));
        }
        before = character;
    }
    Ok(())
}

fn shown(character: char) -> String {
    format!("U+{:04X}", u32::from(character))
}

/// What stands before a parenthesis: a sign, a word of the language, or the name of a function on the list. Names in
/// backticks are labels, keys and variables, none of which a parenthesis follows.
fn function(before: &[Token]) -> Result<(), Forbidden> {
    let mut name = String::new();
    let mut begin = before.len();
    for token in before.iter().rev() {
        match token {
            Token::Word(word) if name.is_empty() || name.starts_with('.') => name.insert_str(0, word),
            Token::Sign('.') if !name.is_empty() && !name.starts_with('.') => name.insert(0, '.'),
            Token::Sign('`') => return Err(Forbidden::Function(format!("`…`{name}"))),
            _ => break,
        }
        begin -= 1;
    }
    let lower = name.to_lowercase();
    let is_procedure = matches!(before[..begin].last(), Some(Token::Word(word)) if word.eq_ignore_ascii_case("call"));
    let known = name.is_empty()
        || is_procedure
        || BEFORE_PARENTHESES.contains(&lower.as_str())
        || FUNCTIONS.contains(&lower.as_str());
    known.then_some(()).ok_or(Forbidden::Function(name))
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
            Token::Sign(_) | Token::Odd(_) => break,
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
    /// Neither ASCII nor a letter or a digit: white space and quotes of other scripts, which a server may know.
    Odd(char),
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
                if !first.is_ascii() {
                    tokens.push(Token::Odd(first));
                } else if !first.is_whitespace() {
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
    fn functions_of_the_language_pass() {
        for query in [
            "MATCH (n:Requirement) WHERE toLower(n.name) CONTAINS 'vat' RETURN count(DISTINCT n), collect(n.mid)[0..5]",
            "MATCH p = shortestPath((a:A {id: 1})-[*..4]->(b:B)) RETURN length(p), [x IN nodes(p) WHERE x.name <> '' | x.name]",
            "MATCH (n) WHERE any(x IN labels(n) WHERE x STARTS WITH 'Req') AND (n.a = 1 OR n.b IN ['x', 'y']) RETURN n",
            "WITH date('2024-01-01') AS d RETURN date.truncate('year', d), duration.between(d, date())",
            "MATCH (n) WHERE EXISTS { (n)-[:REFINES]->() } OPTIONAL MATCH (m:Größe) RETURN CASE WHEN (n.x) THEN 1 ELSE (2) END",
            "UNWIND range(1, 3) AS i RETURN reduce(s = 0, y IN [1, i] | s + y) AS total ORDER BY (i) SKIP 1 LIMIT (5)",
            "MATCH (n) RETURN n.name // a line of a file from Windows\r\nLIMIT 3",
        ] {
            assert_eq!(check(query, false), Ok(false), "{query}");
        }
    }

    /// Whatever character ends a comment or a string for a server, what hides behind it is refused.
    #[test]
    fn nothing_hides_behind_a_character() {
        for hidden in [
            "LOAD CSV FROM 'http://a/' AS l RETURN l",
            "MATCH (n) DETACH DELETE n",
            "CALL apoc.cypher.runMany('x', {})",
        ] {
            for odd in
                (0..=0x1f).chain([0x7f, 0x85, 0xa0, 0x1680, 0x180e, 0x2003, 0x2028, 0x2029, 0x202e, 0x3000, 0xfeff])
            {
                let odd = char::from_u32(odd).expect("a character");
                for query in [
                    format!("RETURN 1 // x{odd}{hidden}"),
                    format!("RETURN 1{odd}{hidden}"),
                    format!("RETURN 1 /* x */{odd}{hidden}"),
                ] {
                    // A comment that goes on to the end of the query hides what is never run.
                    let comment = query.contains("//")
                        && !matches!(odd, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
                    assert!(check(&query, true).is_err() || comment, "{query:?}");
                }
            }
            for escape in ["\\u0027", "\\u000a", "\\U0027", "\\uuuu0027", "\\\\u0027"] {
                assert!(check(&format!("RETURN '{escape} {hidden} //'"), true).is_err(), "{escape}");
            }
            assert!(check(&hidden.replacen('A', "\\u0041", 1), true).is_err());
        }
    }

    #[test]
    fn only_known_functions_are_called() {
        for query in [
            "RETURN apoc.load.json('http://a/')",
            "RETURN `apoc`.`load`.`json`('http://a/')",
            "RETURN apoc.`load`.json('http://a/')",
            "RETURN apoc . load . json ('http://a/')",
            "RETURN genai.vector.encode('x', 'OpenAI', {token: 'y'})",
            "RETURN file()",
            "RETURN `file`()",
            "RETURN linenumber()",
            "WITH 1 AS a CALL (a) { RETURN apoc.x(a) AS b } RETURN b",
            "MATCH (n) WHERE n.name = gds.util.NaN() RETURN n",
        ] {
            assert!(matches!(check(query, true), Err(Forbidden::Function(_))), "{query}: {:?}", check(query, true));
        }
        for query in ["SHOW USERS", "SHOW SETTINGS", "show functions", "CYPHER 25 RETURN 1", "INSERT (n:A)"] {
            assert!(check(query, false).is_err(), "{query}");
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
