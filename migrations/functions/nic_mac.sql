-- Gives a NIC without a MAC a random MAC: the first octet is 02 (locally administered), and five octets are random.
create or replace function nic_mac() returns trigger language plpgsql as $$
begin
  while new.mac is null or exists (select from nic where mac = new.mac) loop
    new.mac := ('02' || left(replace(gen_random_uuid()::text, '-', ''), 10))::macaddr;
  end loop;
  return new;
end $$;
create or replace trigger nic_mac before insert on nic for each row when (new.mac is null) execute function nic_mac();
