-- The resource scope of the request's object at the first attempt. If the object is deleted, a repeated request still
-- gets the stored answer, provided that the caller has permission in this scope. Null for routes without a scope, and
-- for requests from before this migration.
alter table idempotency add column place jsonb;
