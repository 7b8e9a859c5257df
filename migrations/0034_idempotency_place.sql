-- Where the object of a request stood when it was first made: the answer to a repeated request can be heard again when the
-- object is gone, by whoever still has a right there. Null for routes without a place, and of requests before this.
alter table idempotency add column place jsonb;
