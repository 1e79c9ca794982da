-- The audit: one row per ask, however it ended, written before the answer leaves.

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
    is_cache_hit        boolean     NOT NULL,
    answer_sha256       bytea,                   -- of the answer's text; null without an answer
    answer              text,                    -- only where the deployment keeps answers
    timings_ms          jsonb       NOT NULL,    -- by stage, and total
    PRIMARY KEY (tenant_id, ask_id)
);
-- For the sweep. Rows arrive in the order of time, so block ranges are enough and cost writers nothing.
CREATE INDEX ask_audit_age ON ask_audit USING brin (asked_at) WITH (autosummarize = on);

GRANT SELECT, INSERT, DELETE ON ask_audit TO cited_app;
ALTER TABLE ask_audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE ask_audit FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON ask_audit TO cited_app
    USING (tenant_id = (SELECT NULLIF(current_setting('cited.tenant', true), '')::uuid));
-- Maintenance forgets old rows of every tenant.
CREATE POLICY queue_worker ON ask_audit TO cited_app
    USING ((SELECT current_setting('cited.queue_worker', true)) = 'on');

-- Writes a row given as an object with the columns as members. Sets the tenant itself: an ask waits for
-- this, and it is one round trip. A second row of the same ask is left out.
CREATE FUNCTION write_ask_audit(in_tenant uuid, in_row jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM set_config('cited.tenant', in_tenant::text, true);
    INSERT INTO ask_audit SELECT * FROM jsonb_populate_record(NULL::ask_audit, in_row)
    ON CONFLICT (tenant_id, ask_id) DO NOTHING;
END $$;

REVOKE EXECUTE ON FUNCTION write_ask_audit FROM PUBLIC;
GRANT EXECUTE ON FUNCTION write_ask_audit TO cited_app;
