//! Functions and procedures by name.

use super::Forbidden;
use super::tokens::Token;

/// Procedures that describe the schema.
const PROCEDURES: [&str; 6] = [
    "db.labels",
    "db.relationshiptypes",
    "db.propertykeys",
    "db.schema.visualization",
    "db.schema.nodetypeproperties",
    "db.schema.reltypeproperties",
];

/// Keywords that may precede a parenthesis. The plan shows what the clauses among them do.
const BEFORE_PARENTHESES: &[&str] = &[
    "match",
    "optional",
    "where",
    "with",
    "return",
    "unwind",
    "as",
    "by",
    "and",
    "or",
    "xor",
    "not",
    "in",
    "is",
    "case",
    "when",
    "then",
    "else",
    "distinct",
    "skip",
    "limit",
    "offset",
    "contains",
    "starts",
    "ends",
    "create",
    "insert",
    "merge",
    "on",
    "set",
    "union",
    "call",
    "yield",
    "shortest",
    "any",
    "all",
    "path",
    "paths",
    "group",
    "groups",
    "exists",
    "asc",
    "desc",
    "from",
    "foreach",
    "delete",
    "remove",
    "transactions",
    "acyclic",
    "trail",
];
/// Functions without a side effect, as the language defines them.
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    // Predicates and conditions.
    "all", "any", "exists", "isempty", "none", "single", "coalesce", "nullif",
    // On nodes, relationships and paths.
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
    // Times and points.
    "date", "date.truncate", "datetime", "datetime.fromepoch", "datetime.fromepochmillis", "datetime.truncate",
    "duration", "duration.between", "duration.indays", "duration.inmonths", "duration.inseconds", "localdatetime",
    "localdatetime.truncate", "localtime", "localtime.truncate", "time", "time.truncate", "point", "point.distance",
    "point.withinbbox", "distance", "vector.similarity.cosine", "vector.similarity.euclidean",
    // Times of a transaction, a statement or the clock.
    "date.transaction", "date.statement", "date.realtime", "datetime.transaction", "datetime.statement",
    "datetime.realtime", "localdatetime.transaction", "localdatetime.statement", "localdatetime.realtime",
    "localtime.transaction", "localtime.statement", "localtime.realtime", "time.transaction", "time.statement",
    "time.realtime",
];

/// Checks that each function and procedure that a query's text calls is a known one.
pub(super) fn of_text(tokens: &[Token<'_>]) -> Result<(), Forbidden> {
    for at in before_parentheses(tokens) {
        let (name, begin) = dotted(&tokens[..=at]);
        let lower = name.to_lowercase();
        let is_procedure =
            matches!(tokens[..begin].last(), Some(Token::Word(word)) if word.eq_ignore_ascii_case("call"));
        let is_number = name.starts_with(|c: char| c.is_ascii_digit());
        let is_known = name.is_empty()
            || is_number
            || BEFORE_PARENTHESES.contains(&lower.as_str())
            || FUNCTIONS.contains(&lower.as_str());
        match (is_procedure, is_known) {
            (true, _) => procedure(&name)?,
            (false, true) => {}
            (false, false) => return Err(Forbidden::Function(name)),
        }
    }
    Ok(())
}

/// Checks the functions in a plan operator. A function of an extension has a namespace: a server accepts none without.
/// Names without one belong to the language, or the planner substitutes them.
pub(super) fn of_plan(tokens: &[Token<'_>]) -> Result<(), Forbidden> {
    for at in before_parentheses(tokens) {
        let (name, _) = dotted(&tokens[..=at]);
        if name.contains('.') && !FUNCTIONS.contains(&name.to_lowercase().as_str()) {
            return Err(Forbidden::Function(name));
        }
    }
    Ok(())
}

/// Checks that a procedure is on the list.
pub(super) fn procedure(name: &str) -> Result<(), Forbidden> {
    match PROCEDURES.contains(&name.to_lowercase().as_str()) {
        true => Ok(()),
        false => Err(Forbidden::Procedure(name.to_owned())),
    }
}

fn before_parentheses<'t>(tokens: &'t [Token<'_>]) -> impl Iterator<Item = usize> + 't {
    (1..tokens.len()).filter(|at| tokens[*at] == Token::Sign('(')).map(|at| at - 1)
}

/// The dotted name at the end of these tokens, and its start; empty after a sign.
fn dotted(tokens: &[Token<'_>]) -> (String, usize) {
    let mut name = String::new();
    let mut begin = tokens.len();
    for token in tokens.iter().rev() {
        match token {
            Token::Word(part) | Token::Name(part) if name.is_empty() || name.starts_with('.') => {
                name.insert_str(0, part);
            }
            Token::Sign('.') if !name.is_empty() && !name.starts_with('.') => name.insert(0, '.'),
            _ => break,
        }
        begin -= 1;
    }
    (name, begin)
}
