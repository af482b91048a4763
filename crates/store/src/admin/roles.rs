//! The roles of deploy/roles.sql, applied to the existing part of the schema.

use crate::{Error, Store, error::During};
use sqlx::{AssertSqlSafe, Executor as _};

/// The statements that create the roles and grant their rights.
pub const ROLES: &str = include_str!("../../../../deploy/roles.sql");

/// SQLSTATEs of statements on a missing table, column or function.
const MISSING: [&str; 3] = ["42P01", "42703", "42883"];

impl Store {
    /// Creates the roles and grants their rights, in one transaction; returns how many statements were skipped because
    /// their objects do not exist: before `migrate` nearly all, and always those for tables of a later release.
    ///
    /// # Errors
    /// [`Error::Database`]: nothing was changed.
    pub async fn apply_roles(&self) -> Result<usize, Error> {
        let doing = "create the roles (the user needs CREATEROLE, and must own the tables)";
        let mut transaction = self.pool.begin().await.during(doing)?;
        let mut left_out = 0;
        for statement in statements(ROLES).into_iter().filter(|text| !["BEGIN", "COMMIT"].contains(text)) {
            transaction.execute("SAVEPOINT statement").await.during(doing)?;
            match transaction.execute(AssertSqlSafe(statement.to_owned())).await {
                Ok(_) => {}
                Err(error) if is_missing(&error) => {
                    left_out += 1;
                    transaction.execute("ROLLBACK TO SAVEPOINT statement").await.during(doing)?;
                }
                Err(error) => return Err(error).during(doing),
            }
        }
        transaction.commit().await.during(doing)?;
        Ok(left_out)
    }
}

fn is_missing(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|said| said.code()).is_some_and(|code| MISSING.contains(&code.as_ref()))
}

/// The statements of a file, without the semicolons between them and the comments before them.
fn statements(text: &str) -> Vec<&str> {
    let (mut found, mut begin, mut at) = (Vec::new(), 0, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        // Quoted text and comments: a semicolon within them does not end the statement.
        let whole = [("$$", "$$"), ("'", "'"), ("--", "\n")].iter().find(|(opens, _)| rest.starts_with(opens));
        if let Some((opens, closes)) = whole {
            let length = rest[opens.len()..].find(closes).map_or(rest.len(), |end| opens.len() + end + closes.len());
            // A comment before a statement is not part of it.
            begin = if *opens == "--" && text[begin..at].trim().is_empty() { at + length } else { begin };
            at += length;
            continue;
        }
        if rest.starts_with(';') {
            found.push(text[begin..at].trim());
            begin = at + 1;
        }
        at += rest.chars().next().map_or(1, char::len_utf8);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{ROLES, statements};

    #[test]
    fn semicolons_within_texts_bodies_and_comments_end_no_statement() {
        let text = "-- one; two\nSELECT ';' -- no; end\n;\n\nDO $$ BEGIN; END $$;\n-- the end;\n";
        assert_eq!(statements(text), ["SELECT ';' -- no; end", "DO $$ BEGIN; END $$"]);
        let of_the_file = statements(ROLES);
        assert_eq!((of_the_file.first(), of_the_file.last()), (Some(&"BEGIN"), Some(&"COMMIT")));
        assert!(of_the_file.iter().all(|statement| !statement.is_empty() && !statement.starts_with("--")));
    }
}
