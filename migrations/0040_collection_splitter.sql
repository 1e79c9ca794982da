-- How the documents of a collection are split, chosen when it is made.

-- Settings as requests have them: {"kind", "unit", "size", "overlap"}. Collections from before this column were
-- split by kind of document into at most 512 tokens, which is what the default says. Not read by queries of a
-- question, so that find_collections leaves it out.
ALTER TABLE collection ADD COLUMN splitter jsonb NOT NULL
    DEFAULT '{"kind": "auto", "unit": "tokens", "size": 512, "overlap": null}';
