//! Possible failures, and the expected outcome of the job.

use plumbline_system_tests::seed::Seed;
use std::fmt;

/// A code of each class of the manual's appendix except success, and each code that is classified by more than its
/// class. The classes warning and "no data" are not those of errors, and the meaning of one that is raised as an error
/// is unknown. <https://www.postgresql.org/docs/current/errcodes-appendix.html>
const SQLSTATES: [&str; 58] = [
    "01000", "02000", "03000", "08000", "08006", "08P01", "09000", "0A000", "0B000", "0F000", "0L000", "0P000",
    "0Z000", "10608", "20000", "21000", "22000", "22021", "23000", "23505", "24000", "25000", "25006", "25P02",
    "25P04", "26000", "27000", "28000", "28P01", "2B000", "2D000", "2F000", "34000", "38000", "39000", "3B000",
    "3D000", "3F000", "40001", "40003", "40P01", "42P01", "42501", "44000", "53100", "53400", "54000", "55000",
    "55P03", "57014", "57P01", "57P05", "58030", "58P01", "F0000", "HV000", "P0001", "XX000",
];

/// Statuses that are always drawn: one per outcome.
const TELLING: [u16; 9] = [302, 308, 400, 401, 402, 404, 422, 503, 429];

/// How servers count a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    Whole,
    CachedInDetails,
    CacheReadBeside,
    CacheHitBeside,
    TotalAlone,
    NothingOfTheCache,
    OnlyWhatWasNewlyRead,
    TextsAlone,
    HalfOfIt,
    EachSecondAThird,
    ToolsLeftOut,
    CacheReadNothing,
    WritesInAnObject,
}

/// The protocols that report usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Chat,
    Responses,
    Messages,
}

pub(crate) const APIS: [Api; 3] = [Api::Chat, Api::Responses, Api::Messages];

impl Api {
    /// As the configuration names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
        }
    }
}

const USAGES: [Usage; 13] = [
    Usage::Whole,
    Usage::CachedInDetails,
    Usage::CacheReadBeside,
    Usage::CacheHitBeside,
    Usage::TotalAlone,
    Usage::NothingOfTheCache,
    Usage::OnlyWhatWasNewlyRead,
    Usage::TextsAlone,
    Usage::HalfOfIt,
    Usage::EachSecondAThird,
    Usage::ToolsLeftOut,
    Usage::CacheReadNothing,
    Usage::WritesInAnObject,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaseKind {
    Sql(&'static str),
    Status(u16),
    Usage(Usage, Api),
}

/// CaseKind, once or for a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) kind: CaseKind,
    pub(crate) lasts: bool,
}

/// The expected outcome of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    Completed,
    Paused,
    /// Waits until a worker has another key.
    Waiting,
    FailedAtOnce,
    /// Waiting does not help.
    FailedAfterTries,
    FailedAfterADay,
}

impl Case {
    pub(crate) fn ends(self) -> Ends {
        match (self.kind, self.lasts) {
            (CaseKind::Usage(..), _) => Ends::Completed,
            // Errors of the row itself, and what our triggers refuse.
            (CaseKind::Sql(code), _) if matches!(&code[..2], "22" | "23" | "54") || code == "P0001" => {
                Ends::FailedAtOnce
            }
            (CaseKind::Sql(_), false) => Ends::Completed,
            (CaseKind::Sql(_), true) => Ends::FailedAfterADay,
            // A request that is wrong now is wrong the next time.
            (CaseKind::Status(400 | 422), _) => Ends::FailedAtOnce,
            (CaseKind::Status(402), _) => Ends::Paused,
            (CaseKind::Status(_), false) => Ends::Completed,
            (CaseKind::Status(401 | 403), true) => Ends::Waiting,
            (CaseKind::Status(408 | 409 | 425 | 429 | 500..), true) => Ends::FailedAfterADay,
            (CaseKind::Status(_), true) => Ends::FailedAfterTries,
        }
    }

    /// Whether the worker learns a limit from it that other jobs observe.
    pub(crate) fn is_limit(&self) -> bool {
        self.kind == CaseKind::Status(429)
    }

    /// Its name in the job's prompt.
    pub(crate) fn key(self) -> String {
        format!("weather-{}", self.to_string().replace(' ', "-"))
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lasts = if self.lasts { "always" } else { "once" };
        match self.kind {
            CaseKind::Sql(code) => write!(f, "sql {code} {lasts}"),
            CaseKind::Status(status) => write!(f, "status {status} {lasts}"),
            CaseKind::Usage(usage, api) => write!(f, "usage {usage:?} {}", api.name()),
        }
    }
}

/// All of them.
pub(crate) fn all() -> Vec<Case> {
    let sql = SQLSTATES.into_iter().map(CaseKind::Sql);
    let statuses = (300..600).map(CaseKind::Status);
    let twice = sql.chain(statuses).flat_map(|kind| [false, true].map(|lasts| Case { kind, lasts }));
    let usages = USAGES.into_iter().flat_map(|usage| APIS.map(|api| CaseKind::Usage(usage, api)));
    twice.chain(usages.map(|kind| Case { kind, lasts: false })).collect()
}

/// Some of each kind.
pub(crate) fn drawn(seed: &mut Seed) -> Vec<Case> {
    let telling = |case: &Case| matches!(case.kind, CaseKind::Status(status) if TELLING.contains(&status));
    let (mut cases, others): (Vec<Case>, Vec<Case>) = all().into_iter().partition(telling);
    for kind in [
        |case: &Case| matches!(case.kind, CaseKind::Sql(_)),
        |case: &Case| matches!(case.kind, CaseKind::Status(_)),
        |case: &Case| matches!(case.kind, CaseKind::Usage(..)),
    ] {
        let mut of_kind: Vec<Case> = others.iter().copied().filter(kind).collect();
        for _ in 0..6 {
            cases.push(of_kind.remove(seed.below(of_kind.len() as u64) as usize));
        }
    }
    cases
}
