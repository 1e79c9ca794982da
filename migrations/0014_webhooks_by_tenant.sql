-- Webhooks are claimed as items of the queue are: the oldest of each tenant that waits, found by one look into the index each.
CREATE INDEX webhook_waiting ON webhook (tenant_id, due_at) WHERE state = 'waiting';
DROP INDEX webhook_due;
