//! Random walks that compare the ledger with the reference model of its rules.

use super::model::{Account as ModelAccount, Model, ModelCandidate, ModelPassage, Standing};
use crate::{RequirementChange, ledger::*};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// A step of a walk.
#[derive(Clone, Debug)]
enum Step {
    Show(i32),
    Record(Vec<(i32, i32, i32)>),
    Update(usize, Vec<(i32, i32, i32)>),
    Withdraw(usize),
    Decide(i32, Vec<(i32, Option<usize>)>, bool),
    CloseTodo(i32),
    Reload,
}

const PASSAGES: i32 = 3;
const SENTENCES: i32 = 7;

fn quotes() -> impl Strategy<Value = Vec<(i32, i32, i32)>> {
    prop::collection::vec((1..=PASSAGES, 1..=SENTENCES, 0..3), 0..4)
        .prop_map(|quotes| quotes.into_iter().map(|(passage, from, more)| (passage, from, from + more)).collect())
}

fn step() -> impl Strategy<Value = Step> {
    let accounts = prop::collection::vec((1..=SENTENCES, prop::option::of(0usize..4)), 0..5);
    prop_oneof![
        (1..=PASSAGES).prop_map(Step::Show),
        quotes().prop_map(Step::Record),
        (0usize..4, quotes()).prop_map(|(row, quotes)| Step::Update(row, quotes)),
        (0usize..4).prop_map(Step::Withdraw),
        (1..=PASSAGES, accounts, any::<bool>()).prop_map(|(passage, by, whole)| Step::Decide(passage, by, whole)),
        (1..=PASSAGES).prop_map(Step::CloseTodo),
        Just(Step::Reload),
    ]
}

/// Passages: the candidates of each, some with a lead before them; a list may continue from the previous passage.
fn documents() -> impl Strategy<Value = Vec<ModelPassage>> {
    let candidates = prop::collection::btree_set(1..=SENTENCES, 0..6);
    let passage = (candidates, any::<bool>(), 0usize..3, 0usize..3);
    prop::collection::vec(passage, PASSAGES as usize).prop_map(|passages| {
        let mut lead_before = None;
        let passages = (1..).zip(passages).map(|(number, (sentences, judged, under, goes_on))| {
            let lead = sentences.first().map(|sentence| (number, *sentence));
            let candidate = |(at, sentence): (usize, i32)| ModelCandidate {
                sentence,
                leads: [lead.filter(|_| at > 0 && at <= under), lead_before.filter(|_| at < goes_on)]
                    .into_iter()
                    .flatten()
                    .collect(),
            };
            let candidates = sentences.into_iter().enumerate().map(candidate).collect();
            lead_before = lead;
            ModelPassage { candidates, judged, ..ModelPassage::default() }
        });
        passages.collect()
    })
}

fn passage_of(number: i32, model: &ModelPassage) -> Passage {
    let text = format!("The words of passage {number} are its own");
    let in_passage =
        |leads: &[(i32, i32)], passage: i32| leads.iter().filter(|lead| lead.0 == passage).map(|lead| lead.1).collect();
    let candidate = |candidate: &ModelCandidate| Candidate {
        sentence: candidate.sentence,
        text: format!("Rule {number}.{} must be kept.", candidate.sentence),
        leads: in_passage(&candidate.leads, number),
        leads_before: in_passage(&candidate.leads, number - 1),
        ..Candidate::default()
    };
    Passage {
        chunk_path: Some(format!("chunks/chunk_{number:03}.md")),
        sha256: [u8::try_from(number).expect("a small number"); 32],
        blocks: blocks(&text),
        unseen: blocks(&text),
        n_sentences: SENTENCES,
        candidates: model.candidates.iter().map(candidate).collect(),
        judged: model.judged,
        ..Passage::unread(number, "input/policy.pdf", number)
    }
}

fn requirement(id: usize, quotes: &[(i32, i32, i32)]) -> Requirement {
    let cited = |(passage, from, to): &(i32, i32, i32)| json!({"source": "input/policy.pdf", "quote": "", "verified": true, "passage": passage, "from": from, "to": to});
    Requirement { citations: quotes.iter().map(cited).collect(), ..unquoted(format!("req_{id}")) }
}

/// A requirement without a quote.
pub(crate) fn unquoted(candidate_id: String) -> Requirement {
    Requirement {
        number: None,
        candidate_id,
        content_key: Vec::new(),
        text: String::new(),
        name: String::new(),
        r#type: String::new(),
        priority: String::new(),
        source_document: None,
        source_location: Value::Null,
        gobd_relevant: false,
        gdpr_relevant: false,
        citations: Value::Array(Vec::new()),
        mentioned_objects: Vec::new(),
        mentioned_messages: Vec::new(),
        reasoning: None,
        research_notes: None,
        confidence: 0.5,
        tags: Vec::new(),
    }
}

fn number(row: usize) -> i32 {
    i32::try_from(row).expect("a small number") + 1
}

struct Walk {
    model: Model,
    ledger: Ledger,
    recorded: usize,
    step: i64,
}

impl Walk {
    fn new(documents: &[ModelPassage]) -> Self {
        let mut ledger = Ledger::load(Vec::new(), Vec::new(), 0, true, 1);
        let passages = (1..).zip(documents).map(|(number, passage)| passage_of(number, passage)).collect();
        ledger.cut(CutDocument { document: "input/policy.pdf".into(), passages }, 1);
        let passages = (1..).zip(documents.iter().cloned()).collect();
        Self { model: Model { passages, ..Model::default() }, ledger, recorded: 0, step: 1 }
    }

    fn take(&mut self, step: &Step) {
        self.step += 1;
        let at = self.step;
        match step {
            Step::Show(passage) => {
                self.ledger.shown(&format!("The words of passage {passage} are its own"), at);
                self.model.passages.get_mut(passage).expect("it is there").read = true;
            }
            Step::Record(quotes) => {
                self.ledger.record(&mut requirement(self.recorded, quotes), at);
                let row = number(self.recorded);
                self.model.change(|model| _ = model.rows.insert(row, quotes.clone()));
                self.recorded += 1;
            }
            Step::Update(row, quotes) if *row < self.recorded && self.model.rows.contains_key(&number(*row)) => {
                let becomes = Some(Box::new(requirement(*row, quotes)));
                let fields = Map::from_iter([("citations".to_owned(), Value::Null)]);
                let change =
                    RequirementChange { candidate_id: format!("req_{row}"), reason: String::new(), becomes, fields };
                self.ledger.change(&change, at);
                self.model.change(|model| _ = model.rows.insert(number(*row), quotes.clone()));
            }
            Step::Update(..) => {}
            Step::Withdraw(row) => {
                let change = RequirementChange {
                    candidate_id: format!("req_{row}"),
                    reason: String::new(),
                    becomes: None,
                    fields: Map::new(),
                };
                self.ledger.change(&change, at);
                self.model.change(|model| _ = model.rows.remove(&number(*row)));
            }
            Step::Decide(passage, by_number, whole) => self.decide(*passage, by_number, *whole),
            Step::CloseTodo(passage) => {
                self.ledger.decide_by_todo(&[*passage], at);
                self.model.close_todo(*passage, at);
            }
            Step::Reload => {
                let standing = self.ledger.standing().cloned().collect();
                let passages = self.ledger.all().cloned().collect();
                self.ledger = Ledger::load(passages, standing, self.ledger.last_number, true, at);
                assert_eq!(self.ledger.take_changes().0, [], "a run that is loaded is the run that was left");
            }
        }
        let _ = self.ledger.take_changes();
    }

    fn decide(&mut self, passage: i32, by_number: &[(i32, Option<usize>)], whole: bool) {
        let account = |row: &Option<usize>| row.map_or(Account::Why("a note".into()), |row| Account::In(number(row)));
        let decision = PassageDecision {
            passage,
            by_number: by_number.iter().map(|(sentence, row)| (*sentence, account(row))).collect(),
            why: whole.then(|| "nothing of it obliges anybody".to_owned()),
            decides: true,
        };
        let taken = self.ledger.decide(&decision, self.step).is_taken;
        let account = |row: &Option<usize>| row.map_or(ModelAccount::Why, |row| ModelAccount::In(number(row)));
        let by_number: Vec<(i32, ModelAccount)> =
            by_number.iter().map(|(sentence, row)| (*sentence, account(row))).collect();
        assert_eq!(self.model.decide(passage, &by_number, whole, self.step), taken, "{decision:?}");
    }

    fn check(&self) {
        let covered = self.ledger.all().flat_map(|passage| {
            let of = passage.candidates.iter().filter(|candidate| candidate.cited_step.is_some());
            of.map(|candidate| (passage.number, candidate.sentence))
        });
        assert_eq!(covered.collect::<BTreeSet<_>>(), self.model.covered());
        assert_eq!(self.ledger.merged(), self.model.merged().len());
        for passage in self.ledger.all() {
            let open: Vec<i32> = passage.open_candidates().map(|candidate| candidate.sentence).collect();
            assert_eq!(open, self.model.open(passage.number), "passage {}", passage.number);
            let standing = match (passage.state, passage.answered_by) {
                (PassageState::Unread, None) => Standing::Unread,
                (PassageState::Read, None) => Standing::Read,
                (PassageState::Answered, Some(AnsweredPassage::Recorded)) => Standing::Recorded,
                (PassageState::Answered, Some(AnsweredPassage::Empty)) => Standing::Empty,
                (PassageState::Answered, Some(AnsweredPassage::Closed)) => Standing::Closed,
                other => panic!("{other:?}"),
            };
            assert_eq!(standing, self.model.standing(passage.number), "passage {}", passage.number);
        }
        for row in self.model.rows.keys() {
            let further: Vec<(i32, i32)> =
                self.ledger.further(*row).iter().map(|(passage, candidate)| (*passage, candidate.sentence)).collect();
            let open = |place: &(i32, i32)| self.model.open(place.0).contains(&place.1);
            let expected: Vec<(i32, i32)> = self.model.further(*row).into_iter().filter(open).collect();
            assert_eq!(further, expected, "r{row}");
        }
    }
}

/// A decision that names a sentence twice, or a lead behind its entry: the first account decides what is still open.
#[test]
fn the_first_account_of_a_sentence_holds() {
    let candidate = |sentence, leads: &[(i32, i32)]| ModelCandidate { sentence, leads: leads.to_vec() };
    let passage = |candidates| ModelPassage { candidates, ..ModelPassage::default() };
    let documents = [
        passage(Vec::new()),
        passage(vec![candidate(5, &[]), candidate(6, &[(2, 5)])]),
        passage(vec![candidate(5, &[(2, 6)]), candidate(6, &[(3, 5)])]),
    ];
    for again in [6, 5] {
        let mut walk = Walk::new(&documents);
        for step in [
            Step::Show(2),
            Step::Record(vec![(2, 5, 6), (3, 5, 6)]),
            Step::Decide(2, vec![(6, Some(0)), (again, None)], false),
            Step::Withdraw(0),
        ] {
            walk.take(&step);
            walk.check();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn the_ledger_does_as_the_model(documents in documents(), steps in prop::collection::vec(step(), 1..40)) {
        let mut walk = Walk::new(&documents);
        for step in &steps {
            walk.take(step);
            walk.check();
        }
    }
}
