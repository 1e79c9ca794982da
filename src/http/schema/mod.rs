//! Types of the `OpenAPI` document. Limits and choices are defined in the code once, and the document is generated from
//! them: lengths and formats from the constants of [`super::fields`], choices from the enums of the domain.

mod choice;
mod choices;
mod text;

pub(super) use choices::{
    AbstainReasonSchema, AnswerFormSchema, AuditOutcomeSchema, ClaimVerdictSchema, ContradictionKindSchema,
    GradeSchema, IndexingSchema, IngestStageSchema, ItemStateSchema, JobKindSchema, JobStateSchema, KeyStateSchema,
    OnContextFailureSchema, OnInsufficientSchema, OriginSchema, PassageReasonSchema, ScopeSchema, SizeUnitSchema,
    SpeculationSchema, SplitterKindSchema, ValidationLevelSchema,
};
pub(super) use text::{
    Bytes, CheckedText, CollectionName, CollectionNames, DocumentSource, GivenName, PlainText, PrincipalName, Question,
    ShortText, WebUrl,
};
