-- A node's admin_ip is the address of its boot record, written at the end of the setup. Nodes that were set up earlier get
-- it here, from the first of their ports, in their own order, that has an address.
update cn
   set admin_ip = found.address
  from (select distinct on (c.server_uuid) c.server_uuid, r.address
          from cn c join boot_record r on r.server_uuid = c.server_uuid
         where c.admin_ip is null and c.state in ('approved', 'disabled') and r.state = 'enrolled'
           and r.address is not null
         order by c.server_uuid, array_position(c.macs, r.mac), r.mac) found
 where cn.server_uuid = found.server_uuid;
