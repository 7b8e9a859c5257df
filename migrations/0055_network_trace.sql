-- Traces (docs/networking.md, "Traces"): questions to nodes about where a packet stops. A node gets its questions by
-- its poll for network documents. The process that asked reads the answer. Rows are deleted after a minute.
create table network_trace (
  id          uuid primary key,
  server_uuid uuid not null,
  question    jsonb not null,
  asked_at    timestamptz not null default clock_timestamp(),
  answer      jsonb
);
create index network_trace_open on network_trace (server_uuid) where answer is null;
