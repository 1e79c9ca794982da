-- Stored documents that are split again when the settings of their collection change.

-- What splitting needs beside the text: {"v", "given_title", "found_title", "declared", "requested", "splitter", "headings", "pages"};
-- headings and pages by byte offsets into text. Null for documents that were stored before this column.
ALTER TABLE document ADD COLUMN layout jsonb;

-- Such a job has an item for each stored document, without content, like one that embeds anew.
ALTER TABLE job DROP CONSTRAINT job_kind;
ALTER TABLE job ADD CONSTRAINT job_kind CHECK (kind IN ('ingest', 'reembed', 'resplit'));
ALTER TABLE job DROP CONSTRAINT job_items;
ALTER TABLE job ADD CONSTRAINT job_items CHECK (items > 0 OR (items = 0 AND kind IN ('reembed', 'resplit')));
