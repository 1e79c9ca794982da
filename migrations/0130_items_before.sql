-- The pace of a job whose documents have no size of their own (URLs, vectors, splits) is that of its documents.

ALTER TABLE job ADD COLUMN items_before bigint NOT NULL DEFAULT 0; -- settled before it was last started, like bytes_before
