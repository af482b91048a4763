//! Carries out what calls of the engine's own tools lead to.

use super::{close_todo::complete_todo, fate::Answered, phases::obsolete_list};
use crate::{
    FileWrite, JobExit, NextPhase, Product, Run, StagedPhase, Todo, TodoStatus,
    phase::archive,
    run::AnswerCall,
    tools::{self, Deed, coverage::close_passages},
};

/// The consequence of a call beyond its result.
pub(super) enum Consequence {
    /// The phase continues.
    None,
    /// The phase ends and this one begins.
    NextPhase(NextPhase),
    /// The job leaves.
    Exit(JobExit),
}

pub(super) fn answer(run: &mut Run, AnswerCall { call, parsed }: &AnswerCall) -> (Answered, Consequence) {
    let before = run.conversation_mut().1.len();
    match tools::decide(run, &call.name, &parsed.fields).and_then(|deed| carry_out(run, deed)) {
        Ok((content, consequence)) => {
            let progress = run.conversation_mut().1.len() > before;
            (Answered { content, failed: false, progress, looked: !progress }, consequence)
        }
        Err(why) => (Answered::failed(&why), Consequence::None),
    }
}

/// Returns the answer to the call, and what follows after it.
fn carry_out(run: &mut Run, deed: Deed) -> Result<(String, Consequence), String> {
    let said = match deed {
        Deed::Answer(said) => said,
        Deed::Write(file, said) => {
            run.record_product(Product::WriteFile(file));
            said
        }
        Deed::Plan(plan, said) => {
            run.record_product(Product::WriteFile(FileWrite::text("todos.yaml", archive::todo_plan(&plan))));
            let (todos, step) = run.todos_mut();
            todos.stage(step, plan.list());
            run.state_mut().staged = Some(StagedPhase { phase: plan.phase, description: plan.description });
            said
        }
        Deed::Load(mut names, said) => {
            run.state_mut().stage.calls_mut().loading.append(&mut names);
            said
        }
        Deed::ClosePassages(entries) => {
            let (ledger, step) = run.ledger_mut();
            close_passages(ledger, &entries, step)?
        }
        Deed::CompleteTodo { wanted, notes } => {
            let (said, next) = complete_todo(run, wanted, notes)?;
            return Ok((said, next.map_or(Consequence::None, Consequence::NextPhase)));
        }
        Deed::RefuseOnce(told, why) => {
            let answer = run.state().answer_at_hand();
            told(&mut run.state_mut().guards).get_or_insert(answer);
            return Err(why);
        }
        Deed::EndPhase(next, said) => return Ok((said, Consequence::NextPhase(next))),
        Deed::Exit(exit, said) => {
            end_todos(run);
            return Ok((said, Consequence::Exit(exit)));
        }
    };
    Ok((said, Consequence::None))
}

/// The current todo is closed if it is the last or requests this call; skipped todos stay open.
fn end_todos(run: &mut Run) {
    let last = run.todos().last().map(|todo| todo.position);
    let led_here = |todo: &&Todo| Some(todo.position) == last || todo.content.contains(tools::JOB_COMPLETE);
    let closed = run.todos().current().filter(led_here).map(|todo| todo.position);
    let is_staged = run.state_mut().staged.take().is_some();
    let (todos, step) = run.todos_mut();
    if let Some(position) = closed {
        todos.set(step, position, TodoStatus::Completed, None);
    }
    todos.abandon_open(step);
    if is_staged {
        todos.stage(step, Vec::new());
        obsolete_list(run.workspace()).into_iter().for_each(|product| run.record_product(product));
    }
}
