-- Requests that may be repeated, and jobs whose documents arrive as a stream.

ALTER TABLE job ADD COLUMN is_incomplete boolean NOT NULL DEFAULT false; -- its sender broke off: more was to come

-- The first answer to a request that a client named with an Idempotency-Key. Written in the transaction
-- that accepts the request: of two at once the second waits for the first, and a key without a job does
-- not exist. Kept for a day.
CREATE TABLE idempotency_key (
    tenant_id     uuid        NOT NULL,
    key           text        NOT NULL CONSTRAINT idempotency_key_length CHECK (length(key) BETWEEN 1 AND 255), -- as the client chose it
    request_hash  bytea,                         -- SHA-256 of what was asked; null while it still arrives
    job_id        uuid        NOT NULL,          -- the job that it was accepted as
    status        smallint,                      -- of the first answer; null until it was given
    body          bytea,                         -- of the first answer
    created_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, key)
);
CREATE INDEX idempotency_key_age ON idempotency_key (created_at);
CREATE INDEX idempotency_key_arriving ON idempotency_key (tenant_id, job_id) WHERE request_hash IS NULL;

GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_key TO cited_app;
ALTER TABLE idempotency_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_key FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON idempotency_key TO cited_app
    USING (tenant_id = (SELECT NULLIF(current_setting('cited.tenant', true), '')::uuid));
-- Maintenance forgets old keys of every tenant.
CREATE POLICY queue_worker ON idempotency_key TO cited_app
    USING ((SELECT current_setting('cited.queue_worker', true)) = 'on');
