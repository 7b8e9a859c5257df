-- A node's admin_ip is the address of its boot record, which is written at the end of the setup. For a node that was
-- set up earlier, this migration writes the address. If several boot records of a node have an address, the migration
-- takes the address of the record whose MAC is first in the node's list of MACs.
update cn
   set admin_ip = found.address
  from (select distinct on (c.server_uuid) c.server_uuid, r.address
          from cn c join boot_record r on r.server_uuid = c.server_uuid
         where c.admin_ip is null and c.state in ('approved', 'disabled') and r.state = 'enrolled'
           and r.address is not null
         order by c.server_uuid, array_position(c.macs, r.mac), r.mac) found
 where cn.server_uuid = found.server_uuid;
