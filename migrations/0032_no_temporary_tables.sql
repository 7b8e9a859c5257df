-- A temporary table stands before every other one of its name: the server needs none, so nobody but the owner makes any.
do $$
begin
  execute format('revoke temporary on database %I from public', current_database());
exception when insufficient_privilege then
  raise notice 'the database belongs to another user: its rights are left as they are';
end
$$;
