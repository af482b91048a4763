//! The communication of the server and the model client.

use crate::Outcome;
use crate::server::{Program, Server};
use crate::talk::{APIS, Talk, tools};
use jsonschema::error::ValidationErrorKind;
use plumbline_engine::{Failure, FailureClass, Reply, ToolSpec};
use plumbline_llm::{Api, ModelConfig, Streaming, ToolChoice};
use plumbline_system_tests::port;
use serde_json::{Value, value::RawValue};
use std::time::{Duration, Instant};

/// Tokens of the window; a token is a byte or two.
const WINDOW: u32 = 1 << 17;
/// The most of an answer that is to end by itself.
const MOST: u32 = 30_000;
/// Makes a model generate until its cap.
const ENDLESS: [&str; 1] = ["--ignore-eos"];

fn words(failure: Box<Failure>) -> String {
    format!("{}: {}", failure.class.as_str(), failure.message)
}

fn must_call(server: &Server, api: Api) -> ModelConfig {
    let mut config = server.config(api);
    config.tool_choice = ToolChoice::Required;
    config
}

/// Every call of an answer names one of the tools and holds to its schema; how many there are. The grammar says nothing of
/// how large a number with a fraction may be: that is refused when the call is carried out.
#[allow(clippy::disallowed_methods, reason = "a schema of the program or of a provider")]
fn check_calls(reply: &Reply, tools: &[ToolSpec]) -> Result<usize, String> {
    for call in &reply.tool_calls {
        let name = &call.name;
        let tool = tools.iter().find(|tool| tool.name == *name).ok_or_else(|| format!("`{name}` was not offered"))?;
        serde_json::from_str::<&RawValue>(&call.arguments).map_err(|error| format!("{name}: {error}"))?;
        // It is JSON; the only error is a number that is too large.
        let Ok(arguments) = serde_json::from_str::<Value>(&call.arguments) else { continue };
        let schema = jsonschema::validator_for(&tool.parameters).map_err(|error| format!("{name}: {error}"))?;
        if let Some(fault) = schema.iter_errors(&arguments).find(|fault| !is_of_size(fault.kind())) {
            return Err(format!("{name} of {arguments}: {fault}"));
        }
    }
    match reply.tool_calls.len() {
        0 => Err(format!("no call in {:?} ({:?})", reply.content, reply.finish)),
        calls => Ok(calls),
    }
}

fn is_of_size(fault: &ValidationErrorKind) -> bool {
    matches!(fault, ValidationErrorKind::Minimum { .. } | ValidationErrorKind::Maximum { .. })
}

/// The server's grammar builder accepts each of our schemas, and every text that the grammar allows satisfies the
/// schema.
pub(crate) async fn schemas(program: &Program) -> Outcome {
    let server = Server::start(program, WINDOW, &[]).await;
    let (tools, mut calls) = (tools(), 0);
    for api in APIS {
        for tool in &tools {
            let talk = Talk::new(must_call(&server, api), vec![tool.clone()], MOST);
            let reply = talk.ask().await.map_err(|failure| format!("{api:?} {}: {}", tool.name, words(failure)))?;
            calls += check_calls(&reply, &tools).map_err(|fault| format!("{api:?} {}: {fault}", tool.name))?;
        }
    }
    Ok(format!("{} tools, each in {} protocols: {calls} calls, all within their schemas", tools.len(), APIS.len()))
}

/// All tools at once, and the model has to call one.
pub(crate) async fn required(program: &Program) -> Outcome {
    const ANSWERS: usize = 3;
    let server = Server::start(program, WINDOW, &[]).await;
    let (tools, mut calls) = (tools(), 0);
    for api in APIS {
        let talk = Talk::new(must_call(&server, api), tools.clone(), MOST);
        for _ in 0..ANSWERS {
            let reply = talk.ask().await.map_err(words)?;
            calls += check_calls(&reply, &tools).map_err(|fault| format!("{api:?}: {fault}"))?;
        }
    }
    Ok(format!("{calls} calls in {} answers to {} tools at once", ANSWERS * APIS.len(), tools.len()))
}

/// An answer that takes longer than any idle timeout arrives only if it is streamed.
pub(crate) async fn streaming(program: &Program) -> Outcome {
    const SILENCE: Duration = Duration::from_secs(1);
    let mut longest = Duration::ZERO;
    for api in APIS {
        for stream in [Streaming::On, Streaming::Off] {
            // A separate server each, because it continues to generate for the previous client for a while.
            let server = Server::start(program, WINDOW, &ENDLESS).await;
            let mut config = server.config(api);
            (config.stream, config.timeouts.first_byte, config.timeouts.idle) = (stream, SILENCE, SILENCE);
            let begun = Instant::now();
            match (stream, Talk::new(config, Vec::new(), 20_000).ask().await) {
                (Streaming::On, Ok(reply)) => {
                    let usage = reply.record.usage();
                    if reply.record.estimated || usage.completion_tokens == 0 || reply.content.is_empty() {
                        return Err(format!("{api:?}: a part of the answer is missing: {usage:?}"));
                    }
                    longest = longest.max(begun.elapsed());
                }
                (Streaming::Off, Err(failure)) if failure.message.contains("did not begin to answer") => {}
                (stream, Ok(_)) => {
                    return Err(format!("{api:?} {stream:?}: the answer came too soon to show anything"));
                }
                (stream, Err(failure)) => return Err(format!("{api:?} {stream:?}: {}", words(failure))),
            }
        }
    }
    match longest > 2 * SILENCE {
        true => Ok(format!("an answer of {:.1} s under a limit of 1 s; unstreamed, it fails", longest.as_secs_f64())),
        false => Err(format!("the longest answer took {longest:?}, which shows nothing")),
    }
}

/// More than the window is read as that.
pub(crate) async fn overflow(program: &Program) -> Outcome {
    let server = Server::start(program, 4_096, &[]).await;
    let mut said = String::new();
    for api in APIS {
        let mut talk = Talk::new(server.config(api), Vec::new(), 100);
        talk.say(&"too much ".repeat(1_000));
        match talk.ask().await {
            Err(failure) if failure.class == FailureClass::ContextTooLong => said = words(failure),
            Err(failure) => return Err(format!("{api:?}: {}", words(failure))),
            Ok(_) => return Err(format!("{api:?}: it was answered")),
        }
    }
    Ok(format!("in {} protocols; {said}", APIS.len()))
}

/// A server that loads its model is waited for: its failures are of a kind that the engine tries again.
pub(crate) async fn loading(program: &Program) -> Outcome {
    // So small a model is loaded within a blink: it may take a few servers to meet one that loads.
    for _ in 0..20 {
        let mut met = None;
        for api in APIS {
            let server = Server::launch(program, port::free(), WINDOW, &[]);
            server.listens().await;
            let talk = Talk::new(server.config(api), Vec::new(), 10);
            loop {
                match talk.ask_at_once().await {
                    Ok(_) => break,
                    Err(failure) if matches!(failure.class, FailureClass::Transient | FailureClass::Overloaded) => {
                        met = Some(words(failure)).filter(|said| said.contains("503")).or(met);
                    }
                    Err(failure) => return Err(format!("{api:?}: {}", words(failure))),
                }
            }
        }
        if let Some(met) = met {
            return Ok(met);
        }
    }
    Err("the model was always loaded before it could be asked for".into())
}

/// Of a server that dies in the middle of an answer nothing is kept, and its successor is asked again.
pub(crate) async fn killed(program: &Program) -> Outcome {
    let mut met = String::new();
    for api in APIS {
        let server = Server::start(program, WINDOW, &ENDLESS).await;
        let talk = Talk::new(server.config(api), Vec::new(), 100_000);
        let (answer, port) = tokio::join!(talk.ask(), async {
            server.is_answering().await;
            server.kill().await
        });
        match answer {
            Err(failure) if failure.class == FailureClass::Transient => met = words(failure),
            Err(failure) => return Err(format!("{api:?}: {}", words(failure))),
            Ok(_) => return Err(format!("{api:?}: the answer was there before the server was killed")),
        }
        let next = Server::launch(program, port, WINDOW, &[]);
        next.answers().await;
        talk.ask().await.map_err(|failure| format!("{api:?}, asked again: {}", words(failure)))?;
    }
    Ok(format!("in {} protocols, and answered by the next; {met}", APIS.len()))
}

/// From the second turn on the server reads only new tokens, and reports it.
pub(crate) async fn cache(program: &Program) -> Outcome {
    const TURNS: usize = 8;
    let server = Server::start(program, WINDOW, &[]).await;
    let (tools, mut table) = (tools(), Vec::new());
    for api in APIS {
        let mut talk = Talk::new(must_call(&server, api), tools.clone(), MOST);
        let mut before = 0;
        let mut shares = Vec::new();
        for turn in 0..TURNS {
            let usage = talk.turn().await.map_err(words)?.record.usage();
            // Besides the todo list and the template's text around the last results.
            if turn > 0 && usage.cached_tokens < before / 10 * 9 {
                return Err(format!("{api:?}, turn {turn}: {} of {before} tokens are cached", usage.cached_tokens));
            }
            before = usage.prompt_tokens;
            shares.push(format!("{}", 100 * usage.cached_tokens / usage.prompt_tokens.max(1)));
        }
        table.push(format!("{} {} %", api.as_str(), shares.join(" ")));
    }
    Ok(format!("cached of each turn's prompt: {}", table.join("; ")))
}
