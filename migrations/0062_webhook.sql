-- Webhooks: whoever sent a job can be told when it ends. Part of the queue, so that a notice survives
-- whoever was to send it.

CREATE TABLE webhook (
    tenant_id     uuid        NOT NULL,
    job_id        uuid        NOT NULL,
    url           text        NOT NULL,          -- where to; may hold a secret of the receiver's, never shown
    run           integer     NOT NULL DEFAULT 1, -- which end of the job is told: a retried job ends again. Part of the message's identity
    state         text        NOT NULL DEFAULT 'waiting' CONSTRAINT webhook_state CHECK (state IN ('waiting', 'delivered', 'failed')),
    due_at        timestamptz NOT NULL DEFAULT 'infinity', -- not before; set when the job ends, moved by attempts
    attempts      integer     NOT NULL DEFAULT 0, -- to tell this end
    last_error    text,                          -- of the latest attempt
    delivered_at  timestamptz,
    PRIMARY KEY (tenant_id, job_id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES job ON DELETE CASCADE
);
CREATE INDEX webhook_due ON webhook (due_at) WHERE state = 'waiting';

GRANT SELECT, INSERT, UPDATE, DELETE ON webhook TO cited_app;
ALTER TABLE webhook ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON webhook TO cited_app
    USING (tenant_id = (SELECT NULLIF(current_setting('cited.tenant', true), '')::uuid));
CREATE POLICY queue_worker ON webhook TO cited_app
    USING ((SELECT current_setting('cited.queue_worker', true)) = 'on');
