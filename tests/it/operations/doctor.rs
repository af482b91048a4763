//! Common mistakes, one by one: `plumbline doctor` reports each, with the remedy.

use plumbline_system_tests::{Answer, Ended, PgPool, World, cluster::Cluster, pgbouncer::PgBouncer};
use serde_json::Value;
use sqlx::ConnectOptions as _;
use std::{fs, net::SocketAddr};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task::JoinHandle,
};

/// The doctor's word in a world where these variables are set otherwise; an empty value unsets.
async fn doctor(world: &World, variables: &[(&str, &str)]) -> Ended {
    let mut command = world.command(&["doctor"]);
    for (name, value) in variables {
        command.env(name, value);
    }
    world.start(command).ended().await
}

/// Asserts that one line begins with the verdict and has the words, and that the exit code fits the verdict.
fn assert_line(ended: &Ended, begins: &str, words: &[&str]) {
    assert_eq!(ended.code, Some(i32::from(begins.starts_with("FAIL"))), "{}", ended.stdout);
    let line = ended.stdout.lines().find(|line| line.starts_with(begins)).unwrap_or_default();
    assert!(words.iter().all(|word| line.contains(word)), "no line `{begins}… {words:?}` in:\n{}", ended.stdout);
}

/// A server that refuses every start-up with a SQLSTATE, as Postgres words it on the wire.
async fn refusing(code: &'static str, message: &'static str) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
    let address = listener.local_addr().expect("a bound socket has an address");
    let task = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // An SSL request of eight bytes is answered with no; then comes the start-up message itself.
            let mut message_in = [0; 1024];
            let Ok(count) = stream.read(&mut message_in).await else { continue };
            if count == 8 {
                let _ = stream.write_all(b"N").await;
                let _ = stream.read(&mut message_in).await;
            }
            let mut fields = Vec::new();
            for (kind, text) in [(b'S', "FATAL"), (b'V', "FATAL"), (b'C', code), (b'M', message)] {
                fields.push(kind);
                fields.extend_from_slice(text.as_bytes());
                fields.push(0);
            }
            fields.push(0);
            let mut answer = vec![b'E'];
            answer.extend_from_slice(&(fields.len() as u32 + 4).to_be_bytes());
            answer.extend_from_slice(&fields);
            let _ = stream.write_all(&answer).await;
        }
    });
    (address, task)
}

#[sqlx::test(migrations = false)]
async fn a_database_that_cannot_be_had(pool: PgPool) {
    let world = World::with_empty_database(pool).await;
    assert_line(&doctor(&world, &[("DATABASE_URL", "")]).await, "FAIL  database: ", &["DATABASE_URL is not set"]);
    assert_line(
        &doctor(&world, &[("DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing")]).await,
        "FAIL  database: ",
        &["check host and port in DATABASE_URL"],
    );
    let elsewhere = world.pool.connect_options().as_ref().clone().database("not_there").to_url_lossy().to_string();
    assert_line(&doctor(&world, &[("DATABASE_URL", &elsewhere)]).await, "FAIL  database: ", &["not_there", "createdb"]);
    let (address, task) = refusing("28P01", "password authentication failed for user \"worker\"").await;
    let url = format!("postgres://worker:wrong@{address}/plumbline?sslmode=disable");
    assert_line(&doctor(&world, &[("DATABASE_URL", &url)]).await, "FAIL  database: ", &["the password is wrong"]);
    task.abort();

    assert_line(&doctor(&world, &[]).await, "FAIL  schema: ", &["missing", "plumbline migrate"]);
    assert_eq!(world.run(&["migrate"]).await.code, Some(0));
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                 VALUES (29990101000000, 'of a later release', true, '', 0)";
    sqlx::query(newer).execute(&world.pool).await.expect("a row can be added");
    assert_line(&doctor(&world, &[]).await, "FAIL  schema: ", &["newer", "use a newer plumbline"]);
    sqlx::query("DELETE FROM _sqlx_migrations WHERE version = 29990101000000")
        .execute(&world.pool)
        .await
        .expect("the row can be taken away");
    world.finish().await;
}

#[tokio::test]
async fn a_pooler_that_loses_statements() {
    if !PgBouncer::is_installed() {
        plumbline_system_tests::skipped("pgbouncer is not installed", ".ci/prepare programs");
        return;
    }
    let cluster = Cluster::start();
    let bouncer = PgBouncer::start(&cluster, "transaction").await;
    let world = World::new(cluster.database().await).await;
    let address = world.pool.connect_options().as_ref().clone().port(bouncer.port()).to_url_lossy().to_string();
    assert_line(&doctor(&world, &[("DATABASE_URL", &address)]).await, "FAIL  database: ", &["pooler", "pool_mode"]);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_model_that_cannot_be_used(pool: PgPool) {
    let mut world = World::new(pool).await;
    let well = doctor(&world, &[]).await;
    assert_line(&well, "ok    model: ", &[plumbline_rehearsal::MODEL, "(profile: none)"]);
    assert_line(
        &doctor(&world, &[("OPENAI_BASE_URL", ""), ("PLUMBLINE_MODEL", "")]).await,
        "FAIL  job type: creator",
        &["OPENAI_BASE_URL", "PLUMBLINE_MODEL"],
    );
    // A server of one model takes any name for it.
    let any = doctor(&world, &[("PLUMBLINE_MODEL", "plumbline-rehersal")]).await;
    assert_line(&any, "ok    model: ", &["does not list", "plumbline-rehersal"]);
    let models = axum::Json(serde_json::json!({"data": [{"id": "mistral-large"}]}));
    let router = axum::Router::new().route("/v1/models", axum::routing::get(async || models));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
    let choosy = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let task = tokio::spawn(async move { axum::serve(listener, router).await });
    assert_line(
        &doctor(&world, &[("OPENAI_BASE_URL", &choosy), ("PLUMBLINE_MODEL", "mistral-lrage")]).await,
        "FAIL  model: ",
        &["does not have the model mistral-lrage", "mistral-large", "PLUMBLINE_MODEL"],
    );
    task.abort();
    let router = axum::Router::new().fallback(async || axum::http::StatusCode::UNAUTHORIZED);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
    let strict = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let task = tokio::spawn(async move { axum::serve(listener, router).await });
    assert_line(
        &doctor(&world, &[("OPENAI_BASE_URL", &strict)]).await,
        "FAIL  model: ",
        &["refuses the key in OPENAI_API_KEY"],
    );
    assert_line(
        &doctor(&world, &[("OPENAI_BASE_URL", &strict), ("OPENAI_API_KEY", "")]).await,
        "FAIL  model: ",
        &["requires a key", "OPENAI_API_KEY is not set"],
    );
    task.abort();
    let base_url = world.model.base_url();
    world.model.close().await;
    assert_line(&doctor(&world, &[]).await, "FAIL  model: ", &[&base_url, "does not answer"]);
    world.model.open().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_model_is_asked_to_call_a_tool(pool: PgPool) {
    let world = World::new(pool).await;
    world.model.answers(Answer::Fail(400, None));
    let asked = world.run(&["doctor", "--call"]).await;
    assert_eq!(asked.code, Some(1));
    assert_line(&asked, "FAIL  call: ", &[plumbline_rehearsal::MODEL, "answered 400"]);
    let unasked = world.run(&["doctor"]).await;
    assert!(!unasked.stdout.contains("call: "), "{}", unasked.stdout);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn what_is_known_of_models_is_listed_with_the_operators_own(pool: PgPool) {
    let world = World::new(pool).await;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let prices = r#"{"input": 1, "cached_input": 0.1, "output": 2}"#;
    let own = format!(
        r#"{{"profiles": [{{"name": "ours", "match": {{"model": "our-"}}, "api": "responses",
        "context_window": 99000, "prices": {prices}}}]}}"#
    );
    std::fs::write(folder.path().join("providers.json"), own).expect("the folder can be written");
    let listed = async |arguments: &[&str]| {
        let mut command = world.command(arguments);
        command.env("PLUMBLINE_CONFIG_DIR", folder.path());
        world.start(command).ended().await.stdout
    };
    let models: serde_json::Value = serde_json::from_str(&listed(&["models", "--json"]).await).expect("it is JSON");
    let entry = |name: &str| models.as_array().into_iter().flatten().find(|entry| entry["name"] == name).cloned();
    let ours = entry("ours").expect("the operator's");
    assert_eq!((&ours["match"]["model"], &ours["api"]), (&"our-".into(), &"responses".into()));
    assert_eq!((&ours["window"], &ours["prices"]["output"]), (&99_000.into(), &2.0.into()));
    assert_eq!(entry("anthropic").expect("a built-in one")["api"], "messages");
    let table = listed(&["models"]).await;
    assert!(table.lines().any(|line| line.contains("ours") && line.contains("99000")), "{table}");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_machine_that_is_not_set_up(pool: PgPool) {
    let world = World::new(pool).await;
    let file = world.folder().join("a-file");
    fs::write(&file, "in the way").expect("a file can be written");
    let path = file.join("workspace").display().to_string();
    assert_line(
        &doctor(&world, &[("PLUMBLINE_WORKSPACE_DIR", &path)]).await,
        "note  workspace: ",
        &[&path, "PLUMBLINE_WORKSPACE_DIR"],
    );

    let taken = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
    let address = taken.local_addr().expect("an address").to_string();
    assert_line(&doctor(&world, &[("PLUMBLINE_HTTP_ADDR", &address)]).await, "note  http: ", &[&address, "in use"]);
    assert_line(
        &doctor(&world, &[("PLUMBLINE_HTTP_ADDR", "0.0.0.0:0")]).await,
        "FAIL  http: ",
        &["PLUMBLINE_HTTP_TOKEN"],
    );
    assert_line(
        &doctor(&world, &[("PLUMBLINE_LEASE_SECS", "1")]).await,
        "FAIL  timing: ",
        &["PLUMBLINE_HEARTBEAT_SECS"],
    );
    assert_line(&doctor(&world, &[("PLUMBLINE_CONFIG_DIR", "nowhere")]).await, "FAIL  configuration: ", &["nowhere"]);

    let configs = world.folder().join("configs/searching");
    fs::create_dir_all(&configs).expect("a folder can be made");
    let config = r#"{"$extends": "defaults", "job_type": "searching",
        "connections": {"web_search": {"provider": "tavily", "api_key_env": "NOT_SET_ANYWHERE"}}}"#;
    fs::write(configs.join("config.json"), config).expect("a file can be written");
    fs::write(configs.join("instructions.md"), "Search.").expect("a file can be written");
    let defaults = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/defaults.json");
    fs::copy(defaults, world.folder().join("configs/defaults.json")).expect("the defaults can be copied");
    assert_line(
        &doctor(&world, &[("PLUMBLINE_CONFIG_DIR", "configs")]).await,
        "note  secrets: ",
        &["NOT_SET_ANYWHERE", "searching"],
    );

    sqlx::query("INSERT INTO jobs (prompt) VALUES ('Say what records are')")
        .execute(&world.pool)
        .await
        .expect("insert");
    assert_line(&doctor(&world, &[]).await, "note  queue: 1 runnable", &["plumbline worker"]);
    let lines = world.run(&["doctor", "--json"]).await.stdout;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    let queue = lines.iter().find(|line| line["check"] == "queue").expect("the queue is looked at");
    assert_eq!(queue["verdict"], "note");
    world.finish().await;
}
