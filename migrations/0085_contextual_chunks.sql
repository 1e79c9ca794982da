-- Chunks that are found by a sentence which says how they relate to their document, written by a chat model.

-- Settings as requests have them: {"on_failure"}. Null: no sentences are asked for.
ALTER TABLE collection ADD COLUMN context jsonb;

-- What the sentence in chunk.context was written for: SHA-256 of prompt version, models, title, heading path, text, and how
-- many chunks before it in the document are just so. Found again by it when the document comes again.
ALTER TABLE chunk ADD COLUMN context_key bytea;
-- The same bytes under another name.
CREATE INDEX document_content ON document (tenant_id, content_hash);

ALTER TABLE job_item
    ADD COLUMN contexts     jsonb,  -- sentences written so far, by context_key in hexadecimal: a worker that is lost, or a model that is
                                    -- busy, costs none of them twice. Goes with the content
    ADD COLUMN context_gaps jsonb;  -- {"without", "left_out", "cause", "message"}: chunks that have no sentence, and why. Null: none
CREATE INDEX job_item_context_gaps ON job_item (tenant_id, job_id) WHERE context_gaps IS NOT NULL;

-- Wherever an item lets go of its content: settled, cancelled, deleted, forgotten.
CREATE FUNCTION drop_written_contexts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.contexts := NULL;
    RETURN NEW;
END $$;
CREATE TRIGGER job_item_contexts BEFORE UPDATE ON job_item
    FOR EACH ROW WHEN (NEW.content IS NULL AND NEW.contexts IS NOT NULL) EXECUTE FUNCTION drop_written_contexts();

-- What the sentences of a job took. Calls that were made twice count twice.
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

GRANT SELECT, INSERT, UPDATE, DELETE ON job_context TO cited_app;
ALTER TABLE job_context ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_context FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON job_context TO cited_app
    USING (tenant_id = (SELECT NULLIF(current_setting('cited.tenant', true), '')::uuid));
CREATE POLICY queue_worker ON job_context TO cited_app
    USING ((SELECT current_setting('cited.queue_worker', true)) = 'on');
