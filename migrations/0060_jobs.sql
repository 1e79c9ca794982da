-- Jobs that can be followed, stopped, and tried again.

ALTER TABLE job
    ADD COLUMN bytes            bigint      NOT NULL DEFAULT 0, -- content of its items as handed in
    ADD COLUMN receiving_until  timestamptz,                    -- items still arrive; given up when this passes without another. Null: all are there
    ADD COLUMN cancelled_at     timestamptz,                    -- asked to stop; nothing of it is claimed from then on
    ADD COLUMN heartbeat_at     timestamptz,                    -- last sign of life of a worker on it
    ADD COLUMN bytes_before     bigint      NOT NULL DEFAULT 0, -- settled before it was last started: a retry starts it again
    ADD COLUMN revision         bigint      NOT NULL DEFAULT 0; -- plus one with each change of this row, for those who follow it

-- Sums over the settled items of a job, so that looking at a job, and ending it, do not read a million
-- items. Apart from job, whose row every claim locks. Kept by the trigger below.
CREATE TABLE job_tally (
    tenant_id        uuid   NOT NULL,
    job_id           uuid   NOT NULL,
    succeeded        bigint NOT NULL DEFAULT 0,
    unchanged        bigint NOT NULL DEFAULT 0,
    failed           bigint NOT NULL DEFAULT 0,
    cancelled        bigint NOT NULL DEFAULT 0,
    bytes            bigint NOT NULL DEFAULT 0,  -- content_bytes of the settled items
    chunks           bigint NOT NULL DEFAULT 0,  -- of the succeeded
    embedding_calls  bigint NOT NULL DEFAULT 0,  -- chunk texts that were sent to the model
    reused_vectors   bigint NOT NULL DEFAULT 0,  -- chunks of the succeeded whose vector was there already
    PRIMARY KEY (tenant_id, job_id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES job ON DELETE CASCADE
) WITH (fillfactor = 50);

-- What workers did for a job, by stage. Work that was done twice counts twice.
CREATE TABLE job_stage (
    tenant_id  uuid             NOT NULL,
    job_id     uuid             NOT NULL,
    stage      text             NOT NULL CONSTRAINT job_stage_name CHECK (stage IN ('load', 'extract', 'split', 'chunk', 'embed', 'store')),
    documents  bigint           NOT NULL,        -- that passed it
    seconds    double precision NOT NULL,        -- workers were busy with it; of workers side by side the sum
    PRIMARY KEY (tenant_id, job_id, stage),
    FOREIGN KEY (tenant_id, job_id) REFERENCES job ON DELETE CASCADE
) WITH (fillfactor = 50);

-- What a retry takes up, and the causes in a report. Failed items keep their payload and content for it,
-- for as long as maintenance lets them.
CREATE INDEX job_item_failed ON job_item (tenant_id, job_id, ordinal) WHERE state = 'failed';

GRANT SELECT, INSERT, UPDATE, DELETE ON job_tally, job_stage TO cited_app;
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['job_tally', 'job_stage'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant_only ON %I TO cited_app
            USING (tenant_id = (SELECT NULLIF(current_setting(''cited.tenant'', true), '''')::uuid))', name);
        EXECUTE format('CREATE POLICY queue_worker ON %I TO cited_app
            USING ((SELECT current_setting(''cited.queue_worker'', true)) = ''on'')', name);
    END LOOP;
END $$;

-- Jobs from before this migration. The owner is bound by the policies too, unless it says otherwise.
ALTER TABLE job NO FORCE ROW LEVEL SECURITY;
ALTER TABLE job_item NO FORCE ROW LEVEL SECURITY;
UPDATE job j SET bytes = (SELECT COALESCE(sum(content_bytes), 0) FROM job_item i WHERE i.tenant_id = j.tenant_id AND i.job_id = j.job_id);
INSERT INTO job_tally (tenant_id, job_id, succeeded, unchanged, failed, cancelled, bytes, chunks, embedding_calls, reused_vectors)
    SELECT tenant_id, job_id,
           count(*) FILTER (WHERE state = 'succeeded'), count(*) FILTER (WHERE state = 'unchanged'),
           count(*) FILTER (WHERE state = 'failed'), count(*) FILTER (WHERE state = 'cancelled'),
           COALESCE(sum(content_bytes) FILTER (WHERE state NOT IN ('queued', 'running')), 0),
           COALESCE(sum(chunks) FILTER (WHERE state = 'succeeded'), 0),
           COALESCE(sum(embedding_calls) FILTER (WHERE state NOT IN ('queued', 'running')), 0),
           COALESCE(sum(chunks - embedding_calls) FILTER (WHERE state = 'succeeded'), 0)
    FROM job_item GROUP BY tenant_id, job_id;
ALTER TABLE job FORCE ROW LEVEL SECURITY;
ALTER TABLE job_item FORCE ROW LEVEL SECURITY;
ALTER TABLE job_tally FORCE ROW LEVEL SECURITY;
ALTER TABLE job_stage FORCE ROW LEVEL SECURITY;

-- Keeps job_tally in step with whatever settles an item, or takes a settlement back. Claims and
-- heartbeats settle nothing and touch no tally.
CREATE FUNCTION tally_job_items() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    change record;
BEGIN
    FOR change IN
        SELECT tenant_id, job_id,
               COALESCE(sum(sign) FILTER (WHERE state = 'succeeded'), 0) AS succeeded,
               COALESCE(sum(sign) FILTER (WHERE state = 'unchanged'), 0) AS unchanged,
               COALESCE(sum(sign) FILTER (WHERE state = 'failed'), 0) AS failed,
               COALESCE(sum(sign) FILTER (WHERE state = 'cancelled'), 0) AS cancelled,
               sum(sign * content_bytes) AS bytes,
               COALESCE(sum(sign * chunks) FILTER (WHERE state = 'succeeded'), 0) AS chunks,
               sum(sign * embedding_calls) AS embedding_calls,
               COALESCE(sum(sign * (chunks - embedding_calls)) FILTER (WHERE state = 'succeeded'), 0) AS reused_vectors
        FROM (SELECT tenant_id, job_id, state, content_bytes, chunks, embedding_calls, 1 AS sign FROM new_items
              UNION ALL
              SELECT tenant_id, job_id, state, content_bytes, chunks, embedding_calls, -1 FROM old_items) both_sides
        WHERE state NOT IN ('queued', 'running')
        GROUP BY tenant_id, job_id
        ORDER BY tenant_id, job_id -- everybody locks tallies in this order
    LOOP
        UPDATE job_tally t
        SET succeeded = t.succeeded + change.succeeded, unchanged = t.unchanged + change.unchanged,
            failed = t.failed + change.failed, cancelled = t.cancelled + change.cancelled,
            bytes = t.bytes + change.bytes, chunks = t.chunks + change.chunks,
            embedding_calls = t.embedding_calls + change.embedding_calls,
            reused_vectors = t.reused_vectors + change.reused_vectors
        WHERE t.tenant_id = change.tenant_id AND t.job_id = change.job_id;
    END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER job_item_tally AFTER UPDATE ON job_item
    REFERENCING OLD TABLE AS old_items NEW TABLE AS new_items
    FOR EACH STATEMENT EXECUTE FUNCTION tally_job_items();
