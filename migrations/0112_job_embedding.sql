-- What the embeddings of a job took. Calls that were made twice count twice; the built-in model takes nothing.
CREATE TABLE job_embedding (
    tenant_id      uuid    NOT NULL,
    job_id         uuid    NOT NULL,
    tokens         bigint  NOT NULL,             -- read by models behind a server
    cost_nano_usd  bigint  NOT NULL,             -- billionths of a US dollar; 0 for models without a price
    has_estimates  boolean NOT NULL,             -- whether some tokens were counted here because a server did not say
    PRIMARY KEY (tenant_id, job_id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES job ON DELETE CASCADE
) WITH (fillfactor = 50);

GRANT SELECT, INSERT, UPDATE, DELETE ON job_embedding TO cited_app;
ALTER TABLE job_embedding ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_embedding FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON job_embedding TO cited_app
    USING (tenant_id = (SELECT NULLIF(current_setting('cited.tenant', true), '')::uuid));
CREATE POLICY queue_worker ON job_embedding TO cited_app
    USING ((SELECT current_setting('cited.queue_worker', true)) = 'on');
