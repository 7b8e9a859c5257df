-- A temporary table would hide a table of the same name. The server needs none, so only the owner may create one.
do $$
begin
  execute format('revoke temporary on database %I from public', current_database());
exception when insufficient_privilege then
  raise notice 'the database belongs to another user: its rights are left as they are';
end
$$;
