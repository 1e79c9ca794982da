-- The tables of jobs, of asks and of the record of what is security relevant.

-- Jobs ---------------------------------------------------------------------------------------------
--
-- The queue (job, job_item and the tables that belong to a job) stays on one node when the rest is distributed, so it
-- has no foreign keys into other tables.

-- One accepted request for work: an upload, or an index that is built from stored documents.
CREATE TABLE job (
    tenant_id        uuid        NOT NULL,
    job_id           uuid        NOT NULL,
    collection_id    uuid        NOT NULL,
    collection_name  text        NOT NULL,       -- as requested; survives the collection
    kind             text        NOT NULL DEFAULT 'ingest' -- ingest: what was handed in. index: an item without content for each stored document
        CONSTRAINT job_kind CHECK (kind IN ('ingest', 'index')),
    indexing         text        NOT NULL DEFAULT 'complete' -- of its documents, as in collection
        CONSTRAINT job_indexing CHECK (indexing IN ('complete', 'progressive')),
    state            text        NOT NULL CONSTRAINT job_state CHECK (state IN ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled')),
    items            integer     NOT NULL,
    bytes            bigint      NOT NULL DEFAULT 0, -- content of its items as handed in
    created_by       text,                       -- name of the key that made it, as in ask_audit; null where no key is needed
    created_at       timestamptz NOT NULL,
    started_at       timestamptz,                -- first claim
    finished_at      timestamptz,                -- set with a terminal state
    receiving_until  timestamptz,                -- items still arrive; given up when this passes without another. Null: all are there
    is_incomplete    boolean     NOT NULL DEFAULT false, -- its sender broke off: more was to come
    cancelled_at     timestamptz,                -- asked to stop; nothing of it is claimed from then on
    heartbeat_at     timestamptz,                -- last sign of life of a worker on it
    bytes_before     bigint      NOT NULL DEFAULT 0, -- settled before it was last started: a retry starts it again
    items_before     bigint      NOT NULL DEFAULT 0, -- likewise; the pace of a job whose documents have no size of their own (URLs, stored documents)
    revision         bigint      NOT NULL DEFAULT 0, -- plus one with each change of this row, for those who follow it
    PRIMARY KEY (tenant_id, job_id),
    CONSTRAINT job_items CHECK (items > 0 OR (items = 0 AND kind = 'index')) -- an empty collection has none
);
CREATE INDEX job_unfinished ON job (tenant_id, created_at) WHERE finished_at IS NULL;

-- Order of the queue and fencing tokens; both only grow.
CREATE SEQUENCE job_item_position;
CREATE SEQUENCE job_item_fence;

-- One document of a job: the unit of work, of failure and of retry. It has one or two phases: up to the stored document
-- (fetch if it is to be fetched first, else store), and where that lacks vectors, those. Failed items keep payload and content for a retry, for as long as maintenance lets
-- them.
CREATE TABLE job_item (
    tenant_id        uuid        NOT NULL,
    job_id           uuid        NOT NULL,
    ordinal          integer     NOT NULL,       -- place in the request, from 0; attachments that were found in its documents are numbered
                                                 -- from 1,000,000,000
    position         bigint      NOT NULL DEFAULT nextval('job_item_position'), -- first in, first out
    source           text        NOT NULL,
    payload          jsonb,                      -- versioned description of the document; null once settled
    has_acl          boolean     NOT NULL DEFAULT false, -- whether it brings an access control list, which its document then has
    allowed          integer[],                  -- that list, as in document
    denied           integer[]   NOT NULL DEFAULT '{}',
    content          bytea,                      -- its bytes as handed in; null once settled; empty in the second phase
    content_bytes    bigint      NOT NULL,       -- size of content, kept
    state            text        NOT NULL CONSTRAINT job_item_state CHECK (state IN ('queued', 'running', 'succeeded', 'unchanged', 'failed', 'cancelled')),
    phase            text        NOT NULL DEFAULT 'store' -- store: the document is to be stored. fetch: likewise, and to be fetched by its URL
                                                 -- before. embed: it is stored and found by its words, its vectors are to be made; stays when
                                                 -- the item ends
        CONSTRAINT job_item_phase CHECK (phase IN ('fetch', 'store', 'embed')),
    stored_version   integer,                    -- in phase embed, version of the document whose vectors are to be made
    available_at     timestamptz NOT NULL,       -- not before; moves forward when a transient failure waits
    attempts         integer     NOT NULL DEFAULT 0, -- claims so far
    failures         integer     NOT NULL DEFAULT 0, -- claims that ended in a failure of its own that may pass: model busy, server away
    lost             bigint[]    NOT NULL DEFAULT '{}', -- fencing tokens of claims whose worker fell silent. A worker that lives after all
                                                 -- takes its own token out. From the second on the document is claimed alone
    at_risk          boolean     NOT NULL DEFAULT false, -- it is alone in its claim, and read, cut or embedded at this moment: a worker
                                                 -- that is lost now may be lost by it. Only that counts from the second loss on
    fence            bigint,                     -- fencing token of the latest claim; a settlement must present it
    lease_until      timestamptz,                -- claim is void after this unless the heartbeat moves it
    stage            text,                       -- where it failed: load, extract, split, chunk, embed, store
    cause            text,                       -- typed cause of a failure
    message          text,                       -- what to do about it, in words
    document_id      uuid,                       -- the document it became
    chunks           integer     NOT NULL DEFAULT 0,
    embedding_calls  integer     NOT NULL DEFAULT 0, -- chunk texts that were sent to the model
    contexts         jsonb,                      -- sentences written so far, by context_key in hexadecimal: a worker that is lost, or a model
                                                 -- that is busy, costs none of them twice. Goes with the content
    context_gaps     jsonb,                      -- {"without", "left_out", "cause", "message"}: chunks that have no sentence, and why. Null: none
    reading          jsonb,                      -- {"repaired_characters", "dropped_characters", "pages_without_text", "unread_attachments"}:
                                                 -- what was conspicuous when the document was read. Null: nothing
    finished_at      timestamptz,
    PRIMARY KEY (tenant_id, job_id, ordinal)
) WITH (fillfactor = 70);
-- The phases are claimed apart: hosts that hang delay no upload, and vectors wait until there is nothing to store, or have a
-- worker of their own. Each tenant's items are claimed in their order.
CREATE INDEX job_item_queued ON job_item (phase, tenant_id, position) WHERE state = 'queued';
CREATE INDEX job_item_running ON job_item (lease_until) WHERE state = 'running';
CREATE INDEX job_item_claims ON job_item (phase, tenant_id, fence) WHERE state = 'running';
-- Failed items, for retries and for the causes in a report.
CREATE INDEX job_item_failed ON job_item (tenant_id, job_id, ordinal) WHERE state = 'failed';
CREATE INDEX job_item_context_gaps ON job_item (tenant_id, job_id) WHERE context_gaps IS NOT NULL;

-- Sums over the settled items of a job, so that looking at a job, and ending it, do not read a million
-- items. Apart from job, whose row every claim locks. Kept by a trigger.
CREATE TABLE job_tally (
    tenant_id         uuid   NOT NULL,
    job_id            uuid   NOT NULL,
    succeeded         bigint NOT NULL DEFAULT 0,
    unchanged         bigint NOT NULL DEFAULT 0,
    failed            bigint NOT NULL DEFAULT 0,
    cancelled         bigint NOT NULL DEFAULT 0,
    bytes             bigint NOT NULL DEFAULT 0, -- content_bytes of the settled items
    chunks            bigint NOT NULL DEFAULT 0, -- of the succeeded
    embedding_calls   bigint NOT NULL DEFAULT 0, -- chunk texts that were sent to the model
    reused_vectors    bigint NOT NULL DEFAULT 0, -- chunks of the succeeded whose vector was there already
    searchable        bigint NOT NULL DEFAULT 0, -- items that have only the first phase behind them, failed and cancelled ones included
    searchable_bytes  bigint NOT NULL DEFAULT 0, -- of those that wait or run, content_bytes: content that is not kept any more
    PRIMARY KEY (tenant_id, job_id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES job ON DELETE CASCADE
) WITH (fillfactor = 50);

-- Work of the workers for a job, by stage. Work that was done twice counts twice.
CREATE TABLE job_stage (
    tenant_id  uuid             NOT NULL,
    job_id     uuid             NOT NULL,
    stage      text             NOT NULL CONSTRAINT job_stage_name CHECK (stage IN ('load', 'extract', 'split', 'chunk', 'embed', 'store')),
    documents  bigint           NOT NULL,        -- that passed it
    seconds    double precision NOT NULL,        -- workers were busy with it; of workers side by side the sum
    PRIMARY KEY (tenant_id, job_id, stage),
    FOREIGN KEY (tenant_id, job_id) REFERENCES job ON DELETE CASCADE
) WITH (fillfactor = 50);

-- Model calls for the context sentences of a job. Calls that were made twice count twice.
CREATE TABLE job_context (
    tenant_id          uuid    NOT NULL,
    job_id             uuid    NOT NULL,
    calls              bigint  NOT NULL,         -- to chat models, those that nobody answered included
    written            bigint  NOT NULL,         -- sentences that came of them
    reused             bigint  NOT NULL,         -- sentences that were there already
    prompt_tokens      bigint  NOT NULL,
    completion_tokens  bigint  NOT NULL,
    cost_nano_usd      bigint  NOT NULL,         -- billionths of a US dollar; 0 for models without a price
    has_estimates      boolean NOT NULL,         -- whether some tokens were counted here because a provider did not say
    PRIMARY KEY (tenant_id, job_id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES job ON DELETE CASCADE
) WITH (fillfactor = 50);

-- Model calls for the embeddings of a job. Calls that were made twice count twice; the built-in model takes nothing.
CREATE TABLE job_embedding (
    tenant_id      uuid    NOT NULL,
    job_id         uuid    NOT NULL,
    tokens         bigint  NOT NULL,             -- read by models behind a server
    cost_nano_usd  bigint  NOT NULL,             -- billionths of a US dollar; 0 for models without a price
    has_estimates  boolean NOT NULL,             -- whether some tokens were counted here because a server did not say
    PRIMARY KEY (tenant_id, job_id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES job ON DELETE CASCADE
) WITH (fillfactor = 50);

-- The first answer to a request that a client named with an Idempotency-Key. Written in the transaction
-- that accepts the request: of two at once the second waits for the first, and a key without a job does
-- not exist. Kept for a day.
CREATE TABLE idempotency_key (
    tenant_id     uuid        NOT NULL,
    key           text        NOT NULL CONSTRAINT idempotency_key_length CHECK (length(key) BETWEEN 1 AND 255), -- as the client chose it
    request_hash  bytea,                         -- SHA-256 of the request; null while it still arrives
    job_id        uuid        NOT NULL,          -- the job that it was accepted as
    status        smallint,                      -- of the first answer; null until it was given
    body          bytea,                         -- of the first answer
    created_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, key)
);
CREATE INDEX idempotency_key_age ON idempotency_key (created_at);
CREATE INDEX idempotency_key_arriving ON idempotency_key (tenant_id, job_id) WHERE request_hash IS NULL;

-- Where the end of a job is announced. Part of the queue, so that a notice survives the process that was to send it.
CREATE TABLE webhook (
    tenant_id     uuid        NOT NULL,
    job_id        uuid        NOT NULL,
    url           text        NOT NULL,          -- where to; may hold a secret of the receiver's, never shown
    run           integer     NOT NULL DEFAULT 1, -- which end of the job is announced: a retried job ends again. Part of the message's identity
    state         text        NOT NULL DEFAULT 'waiting' CONSTRAINT webhook_state CHECK (state IN ('waiting', 'delivered', 'failed')),
    due_at        timestamptz NOT NULL DEFAULT 'infinity', -- not before; set when the job ends, moved by attempts
    attempts      integer     NOT NULL DEFAULT 0, -- to announce this end
    last_error    text,                          -- of the latest attempt
    delivered_at  timestamptz,
    PRIMARY KEY (tenant_id, job_id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES job ON DELETE CASCADE
);
CREATE INDEX webhook_due ON webhook (due_at) WHERE state = 'waiting';

-- Asks ---------------------------------------------------------------------------------------------

-- One row per ask, however it ended, written before the answer leaves.
CREATE TABLE ask_audit (
    tenant_id           uuid        NOT NULL,
    ask_id              uuid        NOT NULL,    -- as in the answer; version 7, so that it sorts by time
    asked_at            timestamptz NOT NULL,
    request_id          text,                    -- as in the x-request-id header and the logs
    key_id              text,                    -- which key asked: the first hexadecimal digits of its SHA-256; null where the service is open
    outcome             text        NOT NULL,    -- answered, abstained, rejected, …: see domain/audit.rs
    reason              text,                    -- why it ended so: of an abstention, the limit, the stage at the deadline, the cause of a failure
    question            text,                    -- null where the deployment does not keep questions
    question_sha256     bytea       NOT NULL,
    collections         text[]      NOT NULL,    -- as asked
    is_stream           boolean     NOT NULL,    -- whether the answer went out piece by piece
    level               text        NOT NULL,    -- validation level asked for
    effective_level     text        NOT NULL,    -- validation level applied
    drafts              smallint    NOT NULL,    -- drafts made: one more than retries; 0 without generation
    errors              jsonb       NOT NULL,    -- what was wrong with the last draft: array of {kind, detail, marker, span}
    warnings            text[]      NOT NULL,    -- kinds of warnings that the answer carried
    provider            text,                    -- who wrote the answer or the last draft
    model               text,
    instructions_sha256 bytea,                   -- of the deployment's instructions to models; null without any
    providers           text[]      NOT NULL,    -- all that were asked, or left alone after an earlier failure, for whatever role
    calls               jsonb       NOT NULL,    -- array of model calls: role, model, tokens, cost, what was sent, failed attempts
    temperature         real,                    -- as sent with the last draft; null if none was
    seed                numeric(20),             -- likewise; unsigned 64 bits
    llm_calls           integer     NOT NULL,
    prompt_tokens       bigint      NOT NULL,
    completion_tokens   bigint      NOT NULL,
    is_estimated        boolean     NOT NULL,    -- whether some tokens were counted here because a provider did not
    cost_nano_usd       bigint      NOT NULL,    -- billionths of a US dollar
    queries             text[]      NOT NULL,    -- what was searched, the question first; empty where questions are not kept
    sources             text[]      NOT NULL,    -- URNs of what the answer was written from, in marker order
    citations           jsonb       NOT NULL,    -- array of {marker, urn, support}
    grades              jsonb       NOT NULL,    -- of the passages that were found: array of {urn, grade, by}
    is_cache_hit        boolean     NOT NULL,
    answer_sha256       bytea,                   -- of the answer's text; null without an answer
    answer              text,                    -- only where the deployment keeps answers
    timings_ms          jsonb       NOT NULL,    -- by stage, and total
    PRIMARY KEY (tenant_id, ask_id)
);
-- For the sweep. Rows arrive in the order of time, so block ranges are enough and cost writers nothing.
CREATE INDEX ask_audit_age ON ask_audit USING brin (asked_at) WITH (autosummarize = on);

-- Cost of a tenant's model calls on a day, where the deployment limits that.
CREATE TABLE usage_daily (
    tenant_id      uuid    NOT NULL,
    day            date    NOT NULL,             -- in UTC; an ask counts for the day on which it came in
    cost_nano_usd  bigint  NOT NULL CONSTRAINT usage_daily_cost CHECK (cost_nano_usd >= 0), -- settled calls as they cost, others as reserved; billionths of a US dollar
    calls          bigint  NOT NULL,             -- model calls that were let through
    PRIMARY KEY (tenant_id, day)
) WITH (fillfactor = 50);

-- Answers that may be given again. An entry is good only while every document that it was written from has the
-- version that it was written from.
CREATE TABLE answer_cache (
    tenant_id   uuid        NOT NULL,
    key         bytea       NOT NULL,            -- SHA-256 of all that decides the answer, the retrieved passages included
    answer      jsonb,                           -- the draft with its sources, validated anew when it is read; null while an ask writes it
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,            -- of an entry without an answer: when others no longer wait for it
    claimed_by  uuid,                            -- the ask that writes the answer; of no meaning once it is there
    PRIMARY KEY (tenant_id, key)
);
CREATE INDEX answer_cache_age ON answer_cache (tenant_id, created_at);
CREATE INDEX answer_cache_expiry ON answer_cache (expires_at);

-- The documents that a cached answer was written from.
CREATE TABLE answer_source (
    tenant_id    uuid    NOT NULL,
    document_id  uuid    NOT NULL,
    key          bytea   NOT NULL,
    version      integer NOT NULL,               -- of the document
    PRIMARY KEY (tenant_id, document_id, key),
    FOREIGN KEY (tenant_id, key) REFERENCES answer_cache ON DELETE CASCADE
);
CREATE INDEX answer_source_key ON answer_source (tenant_id, key);

-- Receipts of erasures: ids and numbers, and no names that callers gave.
CREATE TABLE erasure (
    tenant_id   uuid        NOT NULL REFERENCES tenant,
    erasure_id  uuid        NOT NULL,            -- version 7, so that it sorts by time
    erased_at   timestamptz NOT NULL,
    key_id      text,                            -- as in ask_audit
    subject     text[]      NOT NULL,            -- what was erased, as kind:id
    erased      jsonb       NOT NULL,            -- rows that are gone, by kind
    remains     jsonb       NOT NULL,            -- array of {place, holds, until}: what could not be erased
    PRIMARY KEY (tenant_id, erasure_id)
);

-- The record of changes and refusals -----------------------------------------------------------------
--
-- Rows are written once. The tenant of what concerns the deployment (tenants, requests without a valid key) is the nil UUID.

-- A change that was made, or a request that was refused.
CREATE TABLE security_event (
    tenant_id    uuid        NOT NULL,
    event_id     uuid        NOT NULL,           -- version 7, so that it sorts by time
    occurred_at  timestamptz NOT NULL,
    action       text        NOT NULL,           -- operation of the API, or forget_security_events
    refusal      text,                           -- code of the problem that it was refused with; null for a change
    key_id       text,                           -- as in ask_audit
    address      text,                           -- of the client
    request_id   text,
    things       text[]      NOT NULL,           -- affected by a change, as kind:name
    number       bigint      NOT NULL,           -- things changed; refusals that this row stands for
    PRIMARY KEY (tenant_id, event_id)
);

-- Events without a seal yet.
CREATE TABLE security_event_waiting (
    tenant_id  uuid NOT NULL,
    event_id   uuid NOT NULL,
    PRIMARY KEY (tenant_id, event_id)
);

-- A link of the chain that proves the record of a tenant whole: an authentication code over its events, its number and the
-- code of the link before it.
CREATE TABLE security_seal (
    tenant_id  uuid        NOT NULL,
    number     bigint      NOT NULL,             -- from 1, without gaps
    sealed_at  timestamptz NOT NULL,
    events     uuid[]      NOT NULL,             -- in the order that the code is over
    previous   bytea       NOT NULL,             -- code of the seal before; empty in the first
    code       bytea       NOT NULL,             -- HMAC-SHA-256
    is_keyed   boolean     NOT NULL,             -- under a secret of the deployment; else anybody can make the code
    PRIMARY KEY (tenant_id, number)
);
