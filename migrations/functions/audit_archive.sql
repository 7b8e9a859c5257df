-- Moves the oldest events of the audit chain, those from `first` to `last`, into a segment of the archive. `digest` is
-- the SHA-256 of their texts, each followed by a line feed, and `signature` signs the statement about the segment.
-- Before it removes an event, the function checks that no event is missing, that every hash is correct, and that the
-- stored content has the digest. The newest event stays. The transitions of the events stay, but lose their audit
-- entries. Runs with the rights of its owner, because the server's own role may not shorten the chain.
create or replace function audit_archive(first bigint, last bigint, digest text, key text, signature text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  before  audit_segment;
  texts   text;
  amount  bigint;
  broken  bigint;
  before_hash text := repeat('0', 64);
  end_hash    text;
begin
  perform pg_advisory_xact_lock(hashtextextended('berth:audit_chain', 0));
  select * into before from audit_segment order by number desc limit 1;
  if found then before_hash := before.last_hash; end if;
  if first <> coalesce(before.last_seq, -1) + 1 or last < first or last >= (select seq from audit_head) then
    raise exception 'the archive cannot continue with the audit events % to %', first, last;
  end if;
  select count(*), string_agg(canonical || e'\n', '' order by seq),
         count(*) filter (where hash <> encode(sha256(convert_to(canonical, 'UTF8')), 'hex')
                             or prev_hash <> coalesce(before_in_order, before_hash)),
         (array_agg(hash order by seq desc))[1]
    into amount, texts, broken, end_hash
    from (select *, lag(hash) over (order by seq) as before_in_order from audit_event
           where seq between first and last) e;
  if amount <> last - first + 1 or broken > 0 then
    raise exception 'the audit events % to % do not verify; run opsctl audit verify', first, last;
  end if;
  insert into audit_segment (number, first_seq, last_seq, prev_hash, last_hash, sha256, public_key, signature, content)
    values (coalesce(before.number, -1) + 1, first, last, before_hash, end_hash, digest, key, audit_archive.signature,
            convert_to(texts, 'UTF8'));
  if not exists (select from audit_segment s where s.first_seq = first and encode(sha256(s.content), 'hex') = digest) then
    raise exception 'the archived audit events % to % do not have the digest %', first, last, digest;
  end if;
  update transition set audit = null
   where id in (select transition_id from audit_event where seq between first and last);
  delete from audit_event where seq between first and last;
end $$;
