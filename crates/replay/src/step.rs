//! Replays one step: the step loop's *next → perform → apply*, with the recording instead of external calls.

use super::{
    Difference, ReplayContext, RequestDigest, carried,
    memory_job::MemoryJob,
    replayed::{ReplayedStep, Stop},
    tools,
};
use plumbline_engine::{
    Change, Effect, Failure, FailureClass, FileWrite, FinishReason, Intake, Message, MessageKind, ModelRequest,
    Outcome, Product, Reply, RequestRecord, Run, Source, Stage, Suspicion, WAITING,
};
use plumbline_report::Rendering;
use plumbline_store::RecordedStep;
use serde_json::Map;
use std::borrow::Cow;

/// The text that the engine adds before and after a summary; see the engine's `compaction`.
const SUMMARY_HEAD: &str = "Summary of earlier work";
const SUMMARY_TAIL: &str = "\n\n### Documents";

impl ReplayContext<'_> {
    /// Replays a step up to its commit.
    pub(crate) async fn redo_step(&self, rows: &MemoryJob, step: &RecordedStep) -> Result<ReplayedStep, Stop> {
        let mut run =
            rows.load(self.settings.of(step.step), step).map_err(|corrupt| Stop::Broken(corrupt.to_string()))?;
        let mut changes = Vec::new();
        let mut request = None;
        let mut placed = self.placed(step, &run);
        loop {
            if run.feedback_waiting() {
                changes.extend(apply(&mut run, Outcome::FeedbackReceived(Vec::new()), step)?);
            }
            if run.exit().is_some() || run.commits_next(!changes.is_empty()) {
                break;
            }
            let is_first = changes.is_empty() && placed.is_none();
            if let (true, None, Effect::CallModel(now)) = (is_first, &request, run.next()) {
                self.compare_with_what_it_had(rows, step, &now)?;
            }
            let outcome = match placed.take() {
                Some(placed) => Outcome::FilesPlaced(placed),
                None => self.perform(&uncommitted(rows, &changes), step, &run, &mut request).await?,
            };
            changes.extend(apply(&mut run, outcome, step)?);
        }
        let no_sources = self.resolved.config.no_sources.as_deref().unwrap_or_default();
        let rendering = Rendering::of(&run, &changes, rows, no_sources).await;
        let rendering = rendering.map_err(|error| Stop::Broken(error.to_string()))?;
        rendering.add(&mut run, &mut changes);
        let mut state = run.state().clone();
        if step.step > 1 {
            // The next claim counts it in its checkpoint.
            let more = step.abandoned();
            state.totals.requests += more.requests;
            state.totals.tokens += more.tokens;
            state.totals.cost_microusd += more.cost_microusd;
        }
        Ok(ReplayedStep {
            step: step.step,
            lease_epoch: step.lease_epoch,
            changes,
            state,
            left: run.exit().cloned(),
            request,
        })
    }

    async fn perform(
        &self,
        rows: &MemoryJob,
        step: &RecordedStep,
        run: &Run,
        asked: &mut Option<RequestDigest>,
    ) -> Result<Outcome, Stop> {
        Ok(match run.next() {
            Effect::Intake => {
                let mut intake = self.intake(step, is_first_file);
                intake.sources.extend(self.without_files());
                let by_rule = self.judged_by_rule(step);
                let waiting = waiting(step).or(by_rule.is_some().then_some(0));
                Outcome::IntakeDone(Intake { waiting, by_rule, previous: carried::previous(step), ..intake })
            }
            Effect::Carry { .. } => Outcome::Carried(carried::recorded(step).map_err(Stop::Broken)?),
            Effect::Prepare { document } => Outcome::Prepared(self.prepare(rows, document).await?),
            Effect::CallModel(request) => {
                let record = self.check_request(step, &request, asked)?;
                answer(step, run, record, request.max_output_tokens)?
            }
            Effect::RunTools { calls, .. } => Outcome::ToolsReturned(self.run_tools(rows, run, step, &calls).await?),
            Effect::Wait { .. } => Outcome::Woken,
            Effect::Exit(leave) => return Err(Stop::Broken(format!("a run went on after it left: {leave:?}"))),
        })
    }

    /// Requirements judged by rule: as many as in the script of the first step.
    fn judged_by_rule(&self, step: &RecordedStep) -> Option<Vec<Product>> {
        let config = &self.resolved.config;
        if !self.settings.of(step.step).judges_requirements()
            || !config.accept_by_rule
            || config.connections.neo4j.is_some()
        {
            return None;
        }
        let scripts = step.files.iter().filter(|(path, _)| path.starts_with("output/insert"));
        let texts = scripts.filter_map(|(path, content)| Some((path, String::from_utf8_lossy(content.as_deref()?))));
        let mut products = Vec::new();
        for (path, text) in texts {
            let count = text.matches("\nMERGE (r:Requirement {").count();
            products.push(Product::AppendFile { path: path.clone(), text: text.into_owned() });
            products.extend((0..count).map(|_| tools::judged_by_rule()));
        }
        Some(products)
    }

    /// With another configuration: compares the request from these rows with the one of the job's configuration.
    fn compare_with_what_it_had(
        &self,
        rows: &MemoryJob,
        step: &RecordedStep,
        now: &ModelRequest<'_>,
    ) -> Result<(), Stop> {
        let Some(had) = &self.had else { return Ok(()) };
        let run = rows.load(had.settings.of(step.step), step).map_err(|error| Stop::Broken(error.to_string()))?;
        let Effect::CallModel(before) = run.next() else { return Ok(()) };
        let before = RequestDigest::text(&had.resolved.llm(before.purpose), &before);
        let now = RequestDigest::text(&self.resolved.llm(now.purpose), now);
        match before == now {
            true => Ok(()),
            false => Err(Stop::Differs(Difference::new(step.step, "the request", &before, &now))),
        }
    }

    /// The recorded request, if the run makes the same one now.
    fn check_request<'s>(
        &self,
        step: &'s RecordedStep,
        request: &ModelRequest<'_>,
        asked: &mut Option<RequestDigest>,
    ) -> Result<&'s RequestRecord, Stop> {
        let differs = |what: &str, recorded: &str, now: &str| {
            Err(Stop::Differs(Difference::new(step.step, what.to_owned(), recorded, now)))
        };
        let digest = RequestDigest::of(&self.resolved.llm(request.purpose), request);
        let purpose = request.purpose.as_str();
        let Some(record) = step.ended_requests().next().filter(|_| asked.is_none()) else {
            return differs("what is done", "no further request to the model", &format!("a {purpose} request"));
        };
        if record.purpose != request.purpose {
            return differs("the request's purpose", record.purpose.as_str(), purpose);
        }
        if record.attempt != request.attempt {
            return differs("the request's attempt", &record.attempt.to_string(), &request.attempt.to_string());
        }
        if let Some(before) = self.recording.requests.get(&step.step)
            && let Some(part) = before.part_that_differs(&digest)
        {
            return differs(&format!("the request ({part})"), &before.body, &digest.body);
        }
        *asked = Some(digest);
        Ok(record)
    }

    /// What a person put into `input/` before this step.
    fn placed(&self, step: &RecordedStep, run: &Run) -> Option<Intake> {
        let state = run.state();
        let asks_next = matches!(state.stage, Stage::Model) && state.phase.number > 0;
        let placed = self.intake(step, |path| path.starts_with("input/"));
        (asks_next && step.ended_requests().next().is_none() && !placed.files.is_empty()).then_some(placed)
    }

    /// Files of a step that came from the user, with their document properties.
    fn intake(&self, step: &RecordedStep, from_the_user: impl Fn(&str) -> bool) -> Intake {
        let mut intake = Intake::default();
        for (path, content) in step.files.iter().filter(|(path, _)| from_the_user(path)) {
            let Some(content) = content else { continue };
            intake.files.push(FileWrite { path: path.clone(), content: content.clone() });
            let known = self.recording.job.sources.iter().find(|source| source.path == *path);
            intake.sources.extend(known.map(|source| Source {
                size: i64::try_from(content.len()).unwrap_or(i64::MAX),
                text_path: None,
                extraction: None,
                warnings: Vec::new(),
                unread_pages: Vec::new(),
                ..source.clone()
            }));
        }
        intake
    }

    /// The unreadable documents, which have no files.
    fn without_files(&self) -> impl Iterator<Item = Source> {
        let has_file =
            |path: &str| self.recording.job.steps.iter().any(|step| step.files.iter().any(|(known, _)| known == path));
        let sources = self.recording.job.sources.iter();
        sources.filter(move |source| !source.warnings.is_empty() && !has_file(&source.path)).cloned()
    }
}

/// The rows as the calls of an answer see them: with the products of earlier calls.
fn uncommitted<'r>(rows: &'r MemoryJob, changes: &[Change]) -> Cow<'r, MemoryJob> {
    let mut rows = Cow::Borrowed(rows);
    let products: Vec<Product> = changes.iter().filter_map(Change::product).cloned().collect();
    if !products.is_empty() {
        rows.to_mut().job.apply_products(&products);
    }
    rows
}

/// How many requirements were waiting, according to the first opening.
fn waiting(step: &RecordedStep) -> Option<u64> {
    let (_, rest) = of_kind(step, MessageKind::Opening)?.content.split_once(WAITING)?;
    rest.lines().next()?.parse().ok()
}

/// The files of intake; the engine writes the others of the first step.
fn is_first_file(path: &str) -> bool {
    matches!(path, "instructions.md" | "workspace.md") || path.starts_with("input/") || path.starts_with("tools/")
}

fn apply(run: &mut Run, outcome: Outcome, step: &RecordedStep) -> Result<Vec<Change>, Stop> {
    run.apply(outcome, step.created_at).map_err(|illegal| Stop::Broken(illegal.to_string()))
}

/// The recorded outcome of the request.
fn answer(step: &RecordedStep, run: &Run, record: &RequestRecord, max_output_tokens: u32) -> Result<Outcome, Stop> {
    let record = record.clone();
    if let Some(message) = record.error.clone() {
        let unknown = "a request failed, and the recording does not contain the class of the failure: record the job \
                       again";
        let class = record.failure_class.ok_or_else(|| Stop::Broken(unknown.to_owned()))?;
        let passed = (class == FailureClass::Permanent && !gives_up(step)).then_some(Suspicion::Passing);
        let suspicion = plumbline_llm::suspicion(class, &message).or(passed);
        let learnt = plumbline_llm::has_taught(&message);
        let failure =
            Failure { class, message, retry_after_s: None, hint: None, suspicion, learnt, jitter: 0.0, record };
        return Ok(Outcome::ModelFailed(failure));
    }
    let finish = plumbline_llm::finish(&record, max_output_tokens);
    let reply = match &run.state().stage {
        Stage::Summary { .. } => summary(step, record, finish),
        Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
            let Some(message) = of_kind(step, MessageKind::Reply) else {
                let now = "a turn of the conversation";
                return Err(Stop::Differs(Difference::new(step.step, "what is asked", "another request", now)));
            };
            Reply {
                content: message.content.clone(),
                tool_calls: message.tool_calls.clone(),
                finish,
                extra: message.extra.clone(),
                record,
            }
        }
    };
    Ok(Outcome::ModelReplied(reply))
}

/// Whether the recorded step did without the answer: the job failed, or it made the summary itself. The status of a
/// refusal, by which the client suspects that it may pass, is not in the rows.
fn gives_up(step: &RecordedStep) -> bool {
    step.files.contains_key("error.md") || of_kind(step, MessageKind::Summary).is_some()
}

/// The summary without the engine's additions. If it was not usable, the previous one is there.
fn summary(step: &RecordedStep, record: RequestRecord, finish: FinishReason) -> Reply {
    let text = of_kind(step, MessageKind::Summary).map(|message| message.content.as_str()).unwrap_or_default();
    let text = text.strip_prefix(SUMMARY_HEAD).unwrap_or(text);
    let text = text.split(SUMMARY_TAIL).next().unwrap_or(text).trim();
    Reply { content: text.to_owned(), tool_calls: Vec::new(), finish, extra: Map::new(), record }
}

fn of_kind(step: &RecordedStep, kind: MessageKind) -> Option<&Message> {
    step.messages.iter().find(|message| message.kind == kind)
}
