//! Who is answered.

use crate::client::{ask, get, serving, worker};
use plumbline_system_tests::{PgPool, World};
use std::net::SocketAddr;

const TOKEN: &str = "a-token-that-is-long-enough";

#[sqlx::test(migrations = "../migrations")]
async fn an_address_that_others_reach_is_refused_without_a_token(pool: PgPool) {
    let world = World::new(pool).await;
    let ended = world.run(&["worker", "--http", "0.0.0.0:0", "--until-idle"]).await;
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("PLUMBLINE_HTTP_TOKEN"), "{}", ended.stderr);
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_worker_whose_address_is_taken_leaves_no_row(pool: PgPool) {
    let world = World::new(pool).await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = taken.local_addr().expect("it is bound").to_string();
    let ended = world.start(world.command(&["worker", "--http", &address])).ended().await;
    assert!(ended.code == Some(1) && ended.stderr.contains(&address), "{ended:?}");
    let live: i64 = sqlx::query_scalar("SELECT count(*) FROM workers").fetch_one(&world.pool).await.expect("a count");
    assert_eq!(live, 0, "others would take it for a live worker until its lease ends");
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn with_a_token_only_who_shows_it_sees_jobs(pool: PgPool) {
    let world = World::new(pool).await;
    let mut command = world.command(&["worker", "--http", "0.0.0.0:0"]);
    command.env("PLUMBLINE_HTTP_TOKEN", TOKEN);
    let (program, bound) = serving(world.start(command)).await;
    let address = SocketAddr::from(([127, 0, 0, 1], bound.port()));
    for path in ["/", "/metrics", "/api/jobs", "/assets/style.css", "/?token=wrong-and-long-enough"] {
        assert_eq!(get(address, path).await.status, 401, "{path}");
    }
    for probe in ["/healthz", "/readyz"] {
        assert_eq!(get(address, probe).await.status, 200, "{probe}");
    }
    let bearer = |token: &str| format!("Authorization: Bearer {token}\r\n");
    assert_eq!(ask(address, "GET", "/api/jobs", &bearer(TOKEN)).await.status, 200);
    let other_case = bearer(TOKEN).replace("Bearer", "bearer");
    assert_eq!(ask(address, "GET", "/api/jobs", &other_case).await.status, 200, "a scheme has no case");
    assert_eq!(ask(address, "GET", "/api/jobs", &bearer("something else, as long")).await.status, 401);

    let entered = get(address, &format!("/?token={TOKEN}")).await;
    assert_eq!((entered.status, entered.header("location")), (303, Some("/")));
    let cookie = entered.header("set-cookie").expect("a cookie for the session");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains(TOKEN), "{cookie}");
    let session = format!("Cookie: other=1; {}\r\n", cookie.split(';').next().expect("a pair"));
    assert_eq!(ask(address, "GET", "/", &session).await.status, 200);
    assert!(!program.stderr().contains(TOKEN), "the token is in the log");
    program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn another_sites_name_for_this_machine_is_not_answered(pool: PgPool) {
    let world = World::new(pool).await;
    let (program, address) = worker(&world).await;
    let named = async |host: &str| ask(address, "GET", "/api/jobs", &format!("Host: {host}\r\n")).await.status;
    assert_eq!(named("attacker.example").await, 403);
    assert_eq!(named("attacker.example:8080").await, 403);
    assert_eq!(named("localhost:1234").await, 200);
    assert_eq!(named("[::1]:8080").await, 200);
    let page = get(address, "/").await;
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    program.stop().await;
    world.finish().await;
}
