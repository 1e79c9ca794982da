//! The enums of the domain that have a named schema in the document.

use super::choice::{Choice, Choices};
use crate::domain::{
    access::{KeyState, Scope},
    answer_form::AnswerForm,
    answering::PassageReason,
    audit::AuditOutcome,
    citation::{ClaimVerdict, ContradictionKind, Level},
    contextual::OnFailure,
    corrective::{AbstainReason, Grade, OnInsufficient},
    job::{Indexing, ItemState, JobKind, JobState, Stage},
    origin::Origin,
    speculation::Speculation,
    split::{SizeUnit, SplitterKind},
};

pub(in crate::http) type AnswerFormSchema = Choice<AnswerForm>;

impl Choices for AnswerForm {
    const NAME: &'static str = "AnswerForm";
    const ABOUT: &'static str = "Form of an answer: `markdown`, as it was written; `safe_markdown`, without images and HTML, and with \
        links to the URIs of cited sources only; `plain`, also without links, emphasis and headings.";
}

pub(in crate::http) type ScopeSchema = Choice<Scope>;

impl Choices for Scope {
    const NAME: &'static str = "Scope";
    const ABOUT: &'static str = "What a key is for.";
}

pub(in crate::http) type KeyStateSchema = Choice<KeyState>;

impl Choices for KeyState {
    const NAME: &'static str = "KeyState";
    const ABOUT: &'static str =
        "Whether a key opens: `valid`; `in_grace`, it does and so does its former secret; `expired`; `revoked`.";
}

pub(in crate::http) type AuditOutcomeSchema = Choice<AuditOutcome>;

impl Choices for AuditOutcome {
    const NAME: &'static str = "AuditOutcome";
    const ABOUT: &'static str = "How an ask ended.";
}

pub(in crate::http) type ValidationLevelSchema = Choice<Level>;

impl Choices for Level {
    const NAME: &'static str = "ValidationLevel";
    const ABOUT: &'static str = "How strictly an answer is checked.";
}

pub(in crate::http) type ClaimVerdictSchema = Choice<ClaimVerdict>;

impl Choices for ClaimVerdict {
    const NAME: &'static str = "ClaimVerdict";
    const ABOUT: &'static str = "What sources are to a claim: `supported`, they say it; `contradicted`, they say something else \
        about the same; `unsupported`, they do not say it.";
}

pub(in crate::http) type ContradictionKindSchema = Choice<ContradictionKind>;

impl Choices for ContradictionKind {
    const NAME: &'static str = "ContradictionKind";
    const ABOUT: &'static str = "In what a source differs from a claim about the same.";
}

pub(in crate::http) type OnContextFailureSchema = Choice<OnFailure>;

impl Choices for OnFailure {
    const NAME: &'static str = "OnContextFailure";
    const ABOUT: &'static str = "What becomes of a chunk whose sentence cannot be had: `keep_original` indexes it without one, `skip` \
        leaves it out, `abort` fails its document.";
}

pub(in crate::http) type AbstainReasonSchema = Choice<AbstainReason>;

impl Choices for AbstainReason {
    const NAME: &'static str = "AbstainReason";
    const ABOUT: &'static str = "Why nothing was answered.";
}

pub(in crate::http) type PassageReasonSchema = Choice<PassageReason>;

impl Choices for PassageReason {
    const NAME: &'static str = "PassageReason";
    const ABOUT: &'static str = "Why a passage is given: `steps`, its section tells what to do; `compared`, it is about one of the \
        things compared; `overview`, it is a part of the document to be summarised; `list`, it holds the list or table asked \
        for; `explanation`, it comes nearest to explaining it; `figures`, it holds figures that what is asked for is calculated from; \
        `closest`, it comes nearest to the question, which no sentence surely answers.";
}

pub(in crate::http) type GradeSchema = Choice<Grade>;

impl Choices for Grade {
    const NAME: &'static str = "Grade";
    const ABOUT: &'static str = "Grade of a passage.";
}

pub(in crate::http) type OnInsufficientSchema = Choice<OnInsufficient>;

impl Choices for OnInsufficient {
    const NAME: &'static str = "OnInsufficient";
    const ABOUT: &'static str = "What to do when only doubtful passages are found.";
}

pub(in crate::http) type IndexingSchema = Choice<Indexing>;

impl Choices for Indexing {
    const NAME: &'static str = "Indexing";
    const ABOUT: &'static str = "When documents can be found.";
}

pub(in crate::http) type ItemStateSchema = Choice<ItemState>;

impl Choices for ItemState {
    const NAME: &'static str = "ItemState";
    const ABOUT: &'static str = "State of a document of a job.";
}

pub(in crate::http) type JobKindSchema = Choice<JobKind>;

impl Choices for JobKind {
    const NAME: &'static str = "JobKind";
    const ABOUT: &'static str = "What a job does.";
}

pub(in crate::http) type JobStateSchema = Choice<JobState>;

impl Choices for JobState {
    const NAME: &'static str = "JobState";
    const ABOUT: &'static str = "State of a job.";
}

pub(in crate::http) type IngestStageSchema = Choice<Stage>;

impl Choices for Stage {
    const NAME: &'static str = "IngestStage";
    const ABOUT: &'static str = "A step of ingest.";
}

pub(in crate::http) type OriginSchema = Choice<Origin>;

impl Choices for Origin {
    const NAME: &'static str = "Origin";
    const ABOUT: &'static str = "Where a passage comes from.";
}

pub(in crate::http) type SpeculationSchema = Choice<Speculation>;

impl Choices for Speculation {
    const NAME: &'static str = "Speculation";
    const ABOUT: &'static str = "Whether an answer is begun while a model still grades.";
}

pub(in crate::http) type SizeUnitSchema = Choice<SizeUnit>;

impl Choices for SizeUnit {
    const NAME: &'static str = "SizeUnit";
    const ABOUT: &'static str = "What sizes count: `tokens` of the embedding model, or `characters`.";
}

pub(in crate::http) type SplitterKindSchema = Choice<SplitterKind>;

impl Choices for SplitterKind {
    const NAME: &'static str = "SplitterKind";
    const ABOUT: &'static str = "Where a splitter cuts: `auto` (Markdown at its headings, source code at its definitions, other \
        documents at the headings that they have), `recursive` (paragraphs, else lines, else sentences, else \
        words), `markdown`, `code`, or `tokens` (wherever a chunk is full). A heading that the format marks opens a \
        chunk in any case, and a row of a table is cut only if it fits in no chunk.";
}
