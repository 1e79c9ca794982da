-- What a key did on a day, where the deployment limits that.
CREATE TABLE key_usage_daily (
    tenant_id  uuid    NOT NULL,
    day        date    NOT NULL,                 -- in UTC
    key_id     text    NOT NULL,                 -- as in the audit: of a key, or of the user of a token
    asks       bigint  NOT NULL,
    documents  bigint  NOT NULL,                 -- that were accepted, whatever became of them
    PRIMARY KEY (tenant_id, day, key_id)
) WITH (fillfactor = 50);

GRANT SELECT, INSERT, UPDATE, DELETE ON key_usage_daily TO cited_app;
ALTER TABLE key_usage_daily ENABLE ROW LEVEL SECURITY;
ALTER TABLE key_usage_daily FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON key_usage_daily TO cited_app
    USING (tenant_id = (SELECT NULLIF(current_setting('cited.tenant', true), '')::uuid));
-- Old days of every tenant are forgotten together.
CREATE POLICY queue_worker ON key_usage_daily TO cited_worker USING (true);
