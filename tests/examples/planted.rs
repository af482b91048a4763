//! `make planted`: a document with planted obligations, and jobs that have to find them.

use plumbline_rehearsal::misbehave::{Kind, find, kinds};
use plumbline_system_tests::planted::{self, NAME, Options, Planted, trial};
use std::{path::Path, path::PathBuf, process::ExitCode};

const USAGE: &str = "the arguments are [--seed N] [--pages N] [--sentences N] [--lists N] [--jobs N] [--kinds healthy,all] [--kills N] [--honest N], \
                     and --generate-only DIR";

/// The arguments.
struct Arguments {
    trial: trial::Trial,
    generate_only: Option<PathBuf>,
    /// How many honest jobs of each kind are run as well.
    honest: u32,
}

#[tokio::main]
async fn main() -> ExitCode {
    match read(std::env::args().skip(1)) {
        Ok(arguments) => carry_out(arguments).await,
        Err(said) => refused(&said),
    }
}

async fn carry_out(Arguments { trial, generate_only, honest: honest_jobs }: Arguments) -> ExitCode {
    let planted = match planted::make(trial.options) {
        Ok(planted) => planted,
        Err(said) => return refused(&said),
    };
    if let Some(dir) = generate_only {
        return match write(&planted, trial.options, &dir) {
            Ok(said) => {
                println!("{said}");
                ExitCode::SUCCESS
            }
            Err(said) => refused(&said),
        };
    }
    let outcome = trial::run(&trial, &planted).await;
    let Options { seed, pages, .. } = trial.options;
    let trial::Outcome { whole, honest, .. } = outcome;
    println!(
        "seed {seed}: {} jobs over {pages} pages, {} kinds, {} kills; {whole} answered for every passage, {honest} said what is \
         missing or stopped with a reason",
        trial.jobs,
        trial.kinds.len(),
        trial.kills
    );
    let honest_hold = honest_jobs == 0 || honest_jobs_hold(trial.options, honest_jobs).await;
    println!("{}", outcome.line());
    if outcome.holds() && honest_hold { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs the honest jobs, and reports each that did not end well, and each kind.
async fn honest_jobs_hold(options: Options, of_each: u32) -> bool {
    match planted::honest::run(options, of_each).await {
        Ok(ended) => {
            let wrong = ended.iter().filter(|ended| !ended.holds());
            wrong.for_each(|ended| println!("honest: {}", ended.line()));
            planted::honest::table(&ended).iter().for_each(|line| println!("honest: {line}"));
            planted::honest::each_kind_holds(&ended)
        }
        Err(said) => {
            eprintln!("planted: {said}");
            false
        }
    }
}

fn refused(said: &str) -> ExitCode {
    eprintln!("planted: {said}");
    ExitCode::from(2)
}

fn read(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let (mut options, mut generate_only) = (Options::default(), None);
    let (mut jobs, mut kinds, mut kills, mut honest) = (None, named_kinds("healthy")?, 0, 0);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} has no value; {USAGE}"))?;
        let number = || value.parse::<u32>().map_err(|_| format!("{name} is `{value}`; name a whole number"));
        match name.as_str() {
            "--generate-only" => generate_only = Some(PathBuf::from(&value)),
            "--seed" => options.seed = number()?.into(),
            "--pages" => options.pages = number()?,
            "--sentences" => options.sentences = number()?,
            "--lists" => options.lists = number()?,
            "--jobs" => jobs = Some(number()?),
            "--kinds" => kinds = named_kinds(&value)?,
            "--kills" => kills = number()?,
            "--honest" => honest = number()?,
            _ => return Err(format!("{name} is no argument; {USAGE}")),
        }
    }
    let jobs = jobs.unwrap_or(u32::try_from(kinds.len()).unwrap_or(1)).max(1);
    Ok(Arguments { trial: trial::Trial { options, jobs, kinds, kills }, generate_only, honest })
}

/// `healthy`, the names of kinds, `all` for each of them.
fn named_kinds(named: &str) -> Result<Vec<&'static Kind>, String> {
    let mut found = Vec::new();
    for name in named.split(',') {
        match (name, find(name)) {
            ("all", _) => found.extend(kinds()),
            (_, Some(kind)) => found.push(kind),
            (_, None) => {
                return Err(format!("there is no kind `{name}`; name healthy, all or kinds of crates/rehearsal"));
            }
        }
    }
    Ok(found)
}

fn write(planted: &Planted, options: Options, dir: &Path) -> Result<String, String> {
    let put = |name: &str, content: &[u8]| {
        std::fs::create_dir_all(dir).and_then(|()| std::fs::write(dir.join(name), content)).map_err(|error| {
            format!("{} could not be written ({error}); name another folder", dir.join(name).display())
        })
    };
    put(NAME, &planted.pdf)?;
    put("gold.jsonl", planted.gold_lines().as_bytes())?;
    let Options { seed, pages, .. } = options;
    let obligations = planted.gold.len();
    Ok(format!("{}: {pages} pages with {obligations} obligations, seed {seed}", dir.join(NAME).display()))
}
