-- These views add signals, placement settings and budgets to the row of an actor. The engine loads actors from the
-- views, and lists read them.
create view cn_loaded as
  select cn.*, s.last_seen, s.last_status, p.reservoir_enabled, p.reservoir_percent
    from cn left join cn_signal s using (server_uuid) left join cn_placement p using (server_uuid);

create view site_loaded as
  select site.*, b.remaining as window_remaining from site left join budget b on b.name = 'auto-approve';
