//! More than a hundred ways to write the address of a machine that is not public: fetched directly, and as the target
//! of a public server's redirect.

use crate::server::Server;
use plumbline_tools::web::{FetchError, Fetcher, FetcherOptions};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::time::Duration;

/// Machines that must not be reached: loopback, private networks, carrier-grade NAT, link-local and the clouds'
/// metadata services.
const HIDDEN: [Ipv4Addr; 9] = [
    Ipv4Addr::new(127, 0, 0, 1),
    Ipv4Addr::new(127, 8, 8, 8),
    Ipv4Addr::new(10, 0, 0, 1),
    Ipv4Addr::new(172, 31, 255, 254),
    Ipv4Addr::new(192, 168, 1, 1),
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(0, 0, 0, 0),
];

/// The notations of one address in programs.
fn hosts(address: Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = address.octets();
    let number = u32::from(address);
    let wide = |text: String| text.chars().map(|c| if c == '.' { '\u{3002}' } else { c }).collect::<String>();
    vec![
        format!("{a}.{b}.{c}.{d}"),
        format!("{a}.{b}.{c}.{d}."),
        format!("{number}"),
        format!("0x{number:x}"),
        format!("0{number:o}"),
        format!("0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("{a}.{}", number & 0x00ff_ffff),
        format!("{a}.{b}.{}", number & 0xffff),
        format!("%{:02x}{}.{b}.{c}.{d}", a.to_string().as_bytes()[0], &a.to_string()[1..]),
        wide(format!("{a}.{b}.{c}.{d}")),
        format!("[::ffff:{a}.{b}.{c}.{d}]"),
        format!("[::ffff:{:x}:{:x}]", number >> 16, number & 0xffff),
        format!("[0:0:0:0:0:ffff:{:x}:{:x}]", number >> 16, number & 0xffff),
        format!("[::{a}.{b}.{c}.{d}]"),
        format!("[64:ff9b::{a}.{b}.{c}.{d}]"),
        format!("[2002:{:x}:{:x}::]", number >> 16, number & 0xffff),
    ]
}

/// Other hidden addresses, and some that are refused for a reason other than their host. Names of this machine are
/// fetched without exceptions in `pages.rs`: here they would lead to the excepted server.
const OTHERS: [&str; 20] = [
    "http://[::1]/",
    "http://[::]/",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://[ff02::1]/",
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    "ftp://8.8.8.8/",
    "gopher://127.0.0.1:70/_",
    "dict://127.0.0.1:11211/stats",
    "unix:///var/run/docker.sock",
    "data:text/html,hello",
    "javascript:alert(1)",
    "jar:http://127.0.0.1!/",
    "http://user@8.8.8.8/",
    "http://8.8.8.8@127.0.0.1/",
    "http://8.8.8.8:22/",
    "http://8.8.8.8:6379/",
    "http://8.8.8.8:65536/",
    "//127.0.0.1/",
];

fn forms() -> BTreeSet<String> {
    let hidden = HIDDEN.into_iter().flat_map(hosts);
    let schemes = hidden.flat_map(|host| [format!("http://{host}/"), format!("https://{host}/x?y=1")]);
    schemes.chain(OTHERS.into_iter().map(str::to_owned)).collect()
}

fn fetcher(server: &Server) -> Fetcher {
    let options = FetcherOptions {
        total: Duration::from_secs(60),
        also_allowed: vec![server.address],
        ..FetcherOptions::default()
    };
    Fetcher::new(options).unwrap()
}

#[tokio::test]
async fn no_form_of_an_address_leads_to_a_hidden_machine() {
    let server = Server::start(None).await;
    let (fetcher, forms) = (fetcher(&server), forms());
    assert!(forms.len() >= 100, "{} forms", forms.len());
    for form in &forms {
        let error = fetcher.fetch(form).await.expect_err(form);
        assert!(matches!(error, FetchError::Forbidden { .. } | FetchError::Address { .. }), "{form}: {error}");
    }
    assert_eq!(server.hits(), 0, "nothing was asked of anybody");
    println!("{} forms of addresses were refused", forms.len());
}

#[tokio::test]
async fn no_redirect_leads_to_a_hidden_machine() {
    let server = Server::start(None).await;
    let (fetcher, forms) = (fetcher(&server), forms());
    // A value that no header can contain cannot be a redirect's target.
    let headers: Vec<&String> = forms.iter().filter(|form| form.is_ascii()).collect();
    for form in &headers {
        let from = reqwest::Url::parse_with_params(&server.url("/to"), [("address", form.as_str())]).unwrap();
        let error = fetcher.fetch(from.as_str()).await.expect_err(form);
        assert!(matches!(error, FetchError::Forbidden { .. } | FetchError::Address { .. }), "{form}: {error}");
    }
    assert_eq!(server.hits(), headers.len(), "each redirect was asked for, and nothing behind it");
}

#[tokio::test]
async fn a_page_on_a_host_that_a_job_may_reach_leads_to_no_other_host() {
    let server = Server::start(None).await;
    let (fetcher, hosts) = (fetcher(&server), ["127.0.0.1".to_owned()]);
    let to = |goal: &str| reqwest::Url::parse_with_params(&server.url("/to"), [("address", goal)]).unwrap();
    let elsewhere = fetcher.fetch_within(to("https://example.org/?found=1").as_str(), Some(&hosts)).await;
    assert!(matches!(elsewhere, Err(FetchError::Redirects { .. })), "{elsewhere:?}");
    assert_eq!(server.hits(), 1);
    let page = fetcher.fetch_within(to(&server.url("/page")).as_str(), Some(&hosts)).await;
    assert!(page.is_ok(), "{page:?}");
}
