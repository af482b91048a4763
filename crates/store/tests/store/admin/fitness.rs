//! Unsuitable databases: one sentence says what they lack, before anything is created or missed.

use crate::support::{empty, execute, store, value};
use plumbline_store::{ConnectOptions, Error, Store};
use sqlx::{ConnectOptions as _, PgPool};
use uuid::Uuid;

/// A second role of the server, for one test.
struct Login {
    name: String,
    url: String,
}

/// Creates a login with these options of CREATE ROLE.
async fn login(pool: &PgPool, words: &str) -> Login {
    let name = format!("login_{}", Uuid::new_v4().simple());
    execute(pool, &format!("CREATE ROLE {name} LOGIN PASSWORD 'secret' {words}")).await.unwrap();
    let options = pool.connect_options().as_ref().clone().username(&name).password("secret");
    let url = options.to_url_lossy().to_string();
    Login { name, url }
}

async fn connect(url: &str) -> Store {
    Store::connect(url, ConnectOptions { max_connections: 3, ..ConnectOptions::default() }).await.unwrap()
}

#[sqlx::test(migrations = false)]
async fn a_database_of_another_encoding_is_refused_before_the_first_migration(pool: PgPool) {
    let name = format!("latin_{}", Uuid::new_v4().simple());
    let made = format!("CREATE DATABASE {name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    execute(&pool, &made).await.unwrap();
    let url = pool.connect_options().as_ref().clone().database(&name).to_url_lossy().to_string();
    let latin = connect(&url).await;
    let refused = latin.migrate().await.unwrap_err().to_string();
    assert!(refused.contains("encoding is LATIN1") && refused.contains("ENCODING 'UTF8'"), "{refused}");
    assert_eq!(latin.schema_version().await.unwrap(), None, "something was migrated");
    latin.close().await;
    execute(&pool, &format!("DROP DATABASE {name}")).await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_login_that_may_not_create_tables_is_refused_before_the_first_migration(pool: PgPool) {
    empty(&pool).await;
    let login = login(&pool, "").await;
    let weak = connect(&login.url).await;
    let refused = weak.migrate().await.unwrap_err().to_string();
    assert!(refused.contains("GRANT CREATE ON SCHEMA public") && refused.contains(&login.name), "{refused}");
    assert_eq!(weak.schema_version().await.unwrap(), None);
    weak.close().await;
    execute(&pool, &format!("DROP ROLE {}", login.name)).await.unwrap();
}

#[sqlx::test(migrations = "../../migrations")]
async fn hidden_rows_are_named_and_those_that_our_roles_show_are_not(pool: PgPool) {
    store(&pool).check_row_security().await.unwrap();
    let login = login(&pool, "").await;
    let all = format!("GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA public TO {}", login.name);
    execute(&pool, &all).await.unwrap();
    let theirs = connect(&login.url).await;
    theirs.check_row_security().await.unwrap();

    for table in ["jobs", "messages"] {
        execute(&pool, &format!("ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")).await.unwrap();
    }
    let refused = theirs.check_row_security().await.unwrap_err().to_string();
    assert!(refused.contains("rows of jobs, messages from the login") && refused.contains(&login.name), "{refused}");
    store(&pool).check_row_security().await.unwrap();

    for (table, policy) in [("jobs", "every_job"), ("messages", "every_row")] {
        let shown = format!("CREATE POLICY {policy} ON {table} TO {} USING (true)", login.name);
        execute(&pool, &shown).await.unwrap();
    }
    theirs.check_row_security().await.unwrap();
    execute(&pool, "CREATE POLICY fewer ON jobs AS RESTRICTIVE TO PUBLIC USING (priority = 0)").await.unwrap();
    assert!(theirs.check_row_security().await.is_err(), "a restrictive policy hides rows too");
    theirs.close().await;
    for statement in ["DROP OWNED BY", "DROP ROLE"] {
        execute(&pool, &format!("{statement} {}", login.name)).await.unwrap();
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn too_few_connections_are_counted(pool: PgPool) {
    let login = login(&pool, "CONNECTION LIMIT 2").await;
    let few = connect(&login.url).await;
    let refused = few.check_connections().await.unwrap_err();
    assert!(matches!(refused, Error::TooFewConnections { had: 2, needed: 3 }) && refused.is_outage(), "{refused}");
    assert!(refused.to_string().contains("CONNECTION LIMIT"), "{refused}");
    execute(&pool, &format!("ALTER ROLE {} CONNECTION LIMIT 3", login.name)).await.unwrap();
    few.check_connections().await.unwrap();
    few.close().await;
    execute(&pool, &format!("DROP ROLE {}", login.name)).await.unwrap();
}

/// After a switchover by replication, sequences start again, and their next values are already taken.
#[sqlx::test(migrations = "../../migrations")]
async fn no_key_comes_from_a_sequence(pool: PgPool) {
    let found =
        "SELECT string_agg(relname, ' ') FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace";
    assert_eq!(value(&pool, found).await, None);
}
