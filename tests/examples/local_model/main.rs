//! `make local-model`: the model client and a worker against a real inference server, llama.cpp's, with a model of
//! random weights. Its answers are nonsense; the scenes test the protocol.

mod job;
mod scenes;
mod server;
mod talk;

use server::Program;
use std::{future::Future, path::PathBuf, pin::Pin, process::ExitCode, time::Instant};

/// The result of a scene, or its error.
type Outcome = Result<String, String>;
type Scene = fn(&Program) -> Pin<Box<dyn Future<Output = Outcome> + '_>>;

const SCENES: [(&str, Scene); 8] = [
    ("schemas", |program| Box::pin(scenes::schemas(program))),
    ("required", |program| Box::pin(scenes::required(program))),
    ("streaming", |program| Box::pin(scenes::streaming(program))),
    ("overflow", |program| Box::pin(scenes::overflow(program))),
    ("loading", |program| Box::pin(scenes::loading(program))),
    ("killed", |program| Box::pin(scenes::killed(program))),
    ("cache", |program| Box::pin(scenes::cache(program))),
    ("job", |program| Box::pin(job::job(program))),
];

const USAGE: &str = "the arguments are --server PROGRAM --model FILE [SCENE…], or --skip REASON";

/// The arguments.
enum Arguments {
    Play { program: Program, names: Vec<String> },
    Skip(String),
}

#[tokio::main]
async fn main() -> ExitCode {
    match read(std::env::args().skip(1)) {
        Ok(Arguments::Play { program, names }) => play(&program, &names).await,
        Ok(Arguments::Skip(reason)) => skip(&reason),
        Err(said) => {
            eprintln!("local_model: {said}");
            ExitCode::from(2)
        }
    }
}

fn read(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let (mut server, mut model, mut names) = (None, None, Vec::new());
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} has no value; {USAGE}"));
        match argument.as_str() {
            "--server" => server = Some(PathBuf::from(value()?)),
            "--model" => model = Some(PathBuf::from(value()?)),
            "--skip" => return Ok(Arguments::Skip(value()?)),
            name if SCENES.iter().any(|(known, _)| *known == name) => names.push(argument),
            _ => return Err(format!("{argument} is no scene and no argument; {USAGE}")),
        }
    }
    let (server, model) = server.zip(model).ok_or_else(|| format!("a program or a model is missing; {USAGE}"))?;
    Ok(Arguments::Play { program: Program { server, model }, names })
}

async fn play(program: &Program, names: &[String]) -> ExitCode {
    let chosen = |name: &str| names.is_empty() || names.iter().any(|chosen| chosen == name);
    let (mut ok, mut failed) = (0, 0);
    for (name, scene) in SCENES.into_iter().filter(|(name, _)| chosen(name)) {
        let begun = Instant::now();
        let (word, said) = match scene(program).await {
            Ok(said) => {
                ok += 1;
                ("ok", said)
            }
            Err(said) => {
                failed += 1;
                ("failed", said)
            }
        };
        println!("{word:7} {name} ({:.0} s): {said}", begun.elapsed().as_secs_f64());
    }
    println!("{ok} ok, {failed} failed, {} skipped", SCENES.len() - ok - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Where there is no server nothing is shown, which is no failure.
fn skip(reason: &str) -> ExitCode {
    for (name, _) in SCENES {
        println!("skipped {name}: {reason}");
    }
    println!("0 ok, 0 failed, {} skipped", SCENES.len());
    ExitCode::SUCCESS
}
