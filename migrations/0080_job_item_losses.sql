-- Which claims count against a document: not all that did not settle it are its own fault.

ALTER TABLE job_item
    ADD COLUMN failures integer  NOT NULL DEFAULT 0,    -- claims that ended in a failure of its own that may pass: model busy, server away
    ADD COLUMN lost     bigint[] NOT NULL DEFAULT '{}', -- fencing tokens of claims whose worker fell silent. A worker that lives after all
                                                        -- takes its own token out. From the second on the document is claimed alone
    ADD COLUMN at_risk  boolean  NOT NULL DEFAULT false; -- it is alone in its claim, and read, cut or embedded at this moment: a worker
                                                        -- that is lost now may be lost by it. Only that counts from the second loss on
