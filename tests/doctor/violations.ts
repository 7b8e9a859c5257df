// Contains SQL for each check of the doctor, by the check's title. The SQL violates the rule of the check. A test fails
// if this file has no SQL for a check.

const NODE = "(select server_uuid from cn where state = 'approved' order by registered_at limit 1)";
/** Returns SQL that inserts this number of claims for the node NODE. */
const CLAIM = (count: number) =>
  `insert into enrolment_claim (id, incarnation, version, state, server_uuid, claim_code, expires_at, registration_id,
     poll_token_sha256, hostname, sysinfo, macs, source, source_bucket, created_at)
   select gen_random_uuid(), gen_random_uuid(), 1, 'live', ${NODE}, 'CODE0' || n, berth_now() + interval '1 hour',
          gen_random_uuid(), n, 'n', '{}', '{}', 'any', 'any', berth_now() from generate_series(1, ${count}) n`;
const SETTING_UP = "state = 'setting_up', setup_epoch";

export const BROKEN: Readonly<Record<string, string>> = {
  "every recent change has a stored reply":
    "delete from seen where msg_id = (select msg_id from transition where actor_kind = 'vpc' limit 1)",
  "the transitions of each actor are numbered without a gap, from 1 or from the first transition that is kept":
    "delete from transition where actor_kind = 'instance' and seq = 2",
  "each transition starts in the state in which the previous one ended":
    "update transition set from_state = 'elsewhere' where actor_kind = 'instance' and seq = 2",
  "every transition of a node is in the table of docs/nodes.md":
    "update transition set event = 'vanish' where actor_kind = 'cn' and seq = 1",
  "a refused message had no effect": `update seen set reply = '{"fault": {}}'
    where msg_id = (select msg_id from transition where actor_kind = 'vpc' limit 1)`,
  "a message changes an actor at most once": `update transition t set msg_id =
    (select msg_id from transition f where f.actor_id = t.actor_id and f.seq = 1 and f.actor_kind = 'cn')
    where actor_kind = 'cn' and seq = 2`,
  "each record has the state of its last transition": "update vpc set version = version + 1",
  "each missing record has a transition that deleted it": "delete from firewall_rule",
  "a boot record's address is unique, in the network of its gateway, and not the network, broadcast or gateway address":
    `update boot_record set networking = networking || '{"gateway": "172.31.0.1"}' where address is not null`,
  "no address has two holders":
    `update floating_ip f set address = g.public_address, family = g.family, pool_id = 'public:' || g.family
      from nat_gateway g`,
  "no address is both free and in use": `insert into pool_range
    select p.id, g.public_address - p.base, g.public_address - p.base
      from nat_gateway g join pool p on p.id = 'public:' || g.family`,
  "the free and the used addresses of a pool add up to its size": "delete from pool_range where pool_id = 'public:v4'",
  "each public address is recorded with its holder": "delete from public_address",
  "no two VPCs have the same VNI": `alter table vpc drop constraint vpc_vni; insert into vpc
    select (jsonb_populate_record(v, jsonb_build_object('id', gen_random_uuid(), 'name', 'twin'))).* from vpc v`,
  "no VPC has the VNI of a deleted VPC that a node may still have":
    `insert into ended_vpc select gen_random_uuid(), vni from vpc;
     insert into vpc_realization (vpc_id, server_uuid) select vpc_id, gen_random_uuid() from ended_vpc`,
  "a NAT gateway gets no new node while its last node may still run it":
    `alter table nat_gateway drop constraint nat_gateway_one_host;
     update nat_gateway set host_cn_uuid = gen_random_uuid(), leaving_cn_uuid = gen_random_uuid(), left_at = berth_now()`,
  "the generation of a VPC is at least 1, and no node reported a later generation":
    `insert into vpc_realization (vpc_id, server_uuid, generation)
     select id, gen_random_uuid(), berth_vpc_generation(id) + 1 from vpc`,
  "no node reports that it failed to apply a network document":
    `insert into vpc_realization (vpc_id, server_uuid, generation, status, message, reported_at)
     select id, gen_random_uuid(), 1, 'failed', 'no such device', berth_now() from vpc`,
  "a node's counted use equals the sum over its instances and the instances that move to or from it":
    "update cn_usage set ram_mb = ram_mb + 1",
  "a node's count of a tenant's instances equals the number that it hosts":
    "update cn_tenant_usage set instances = instances + 1",
  "a tenant's counted use equals the sum over its projects": "update tenant_usage set instances = instances + 1",
  "a project's counted use equals the sum over its instances": "update project_usage set cpu = cpu + 1",
  "an enrolled boot record has an address, an image and a node that is or was set up":
    "update boot_record set state = 'enrolled', server_uuid = gen_random_uuid(), assigned_pi = 'any'",
  "a discovered boot record is not bound to a node":
    "update boot_record set state = 'discovered', server_uuid = gen_random_uuid()",
  "a node's live key is the key in its record": `update cn set bound_api_key_id = gen_random_uuid()
    where server_uuid = ${NODE}`,
  "the key in a node's record is live": "delete from api_key where bound_to_cn is not null",
  "an unproven node and a node that awaits setup have no key; a pending node has no credential to deliver":
    "update cn set ticket_keys = 'sealed' where state = 'awaiting_setup'",
  "each enrolment claim belongs to an existing node that is not disabled": `${CLAIM(1)};
    update cn set state = 'disabled' where server_uuid = ${NODE}`,
  "no enrolment claim exists more than 60 s after its expiry": `${CLAIM(1)};
    update enrolment_claim set expires_at = berth_now() - interval '2 minutes'`,
  "a pending node has an enrolment claim or a claim code":
    `update cn set state = 'pending' where server_uuid = ${NODE}`,
  "a node has at most 4 live enrolment claims": CLAIM(5),
  "the counters of claims and unproven nodes are correct":
    "insert into budget (name, remaining) values ('claims', 19999)",
  "the key of a setup is no longer readable after the setup's first report":
    `update cn set ${SETTING_UP} = 7, pending_credential = 'sealed',
      setup_progress = '{"epoch": 7}' where server_uuid = ${NODE}`,
  "no setup is still in progress 60 s after its deadline":
    `update cn set ${SETTING_UP} = 7, approved_at = berth_now() - interval '47 minutes' where server_uuid = ${NODE}`,
  "each setup has its own epoch": `update cn set ${SETTING_UP} = 7`,
  "an open auto-approve window is not too long, and its budget has the window's expiry and at most the window's count":
    "update budget set remaining = 99 where name = 'auto-approve'",
  "no auto-approve window was too long, and each automatic approval was within the count and time of an open window":
    `update transition set audit = jsonb_set(audit, '{payload,effective_duration_secs}', '86401')
      where event = 'open_window'`,
  "an operation's state, step and end agree": "update saga set state = 'running', done_at = null, step = null",
  "an operation waits for an ended job only while the job's message is being delivered":
    `update saga set state = 'running', done_at = null,
    step = 'any', due_at = berth_now(), job_id = j.id from job j where j.saga_id = saga.id and j.state = 'completed'`,
  "each approval of a registration has one operation": `delete from transition where actor_kind = 'saga'
    and msg_id in (select msg_id from transition where event = 'approve')`,
  "a claimed job was claimed by its target node": "update job set claimed_by = 'another'",
  "a job ends once": `insert into transition
      (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at)
    select actor_kind, actor_id, incarnation, seq + 1, event, from_state, to_state, gen_random_uuid(), at
      from transition where actor_kind = 'job' and to_state = 'completed'`,
  "while a job that creates, starts or restarts an instance is open, the instance has a record":
    `update job set state = 'in_progress', completed_at = null,
    payload = payload || '{"instance_id": "gone"}' where kind = 'provision'`,
  "an ended operation has released its instance": `update instance set operation_kind = 'stop',
    operation_id = (select id from saga where state = 'succeeded' limit 1)`,
  "each object belongs to the tenant of its project": "update vpc set tenant_id = gen_random_uuid()",
  "each object in a VPC belongs to the VPC's project": "update subnet set project_id = gen_random_uuid()",
  "disks and NICs belong to the project of their instance": "update disk set tenant_id = gen_random_uuid()",
  "a subnet is inside its VPC and overlaps no other subnet":
    `update subnet set ipv4_block = '192.168.77.0/24', vpc_ipv4_block = '192.168.0.0/16'
      where id = (select subnet_id from nic limit 1)`,
  "a NIC's address is in the range of its subnet": "update nic set primary_ipv4 = '192.168.77.9'",
  "a route and its NAT gateway have the same VPC and address family, and the VPC has a block of that family":
    `update nat_gateway set vpc_id = gen_random_uuid();
     update route set target_kind = 'nat_gateway', nat_gateway_id = (select id from nat_gateway limit 1)`,
  "an instance is on an existing node that was set up":
    "update cn set state = 'awaiting_setup' where server_uuid in (select host_cn_uuid from instance)",
  "a floating IP that is attached names an existing NIC of its instance, or its release is in progress":
    `update floating_ip set attached_to = gen_random_uuid(), attached_instance_id = gen_random_uuid(),
      hosted_cn = gen_random_uuid()`,
  "each audited transition before the chain's saved position has an audit event":
    "delete from audit_event where seq = 3",
  "each audit event belongs to an audited transition":
    "update transition set audit = null where id = (select transition_id from audit_event where seq = 3)",
  "the audit events are numbered without a gap, from 0 or the end of the archive to the head":
    "delete from audit_event where seq = 3",
  "the segments of the audit archive are numbered without a gap, and each continues the previous segment":
    `insert into audit_segment (number, first_seq, last_seq, prev_hash, last_hash, sha256, public_key, signature, content)
     values (1, 5, 6, repeat('0', 64), repeat('0', 64), repeat('0', 64), '', '', '')`,
  "the head of the audit chain has the hash of the last event": "update audit_head set hash = repeat('e', 64)",

  "no operation is stuck": "update saga set state = 'stuck', done_at = null, stuck_reason = 'the undo failed'",
  "no operation is overdue":
    "update saga set state = 'running', done_at = null, wake_at = berth_now() - interval '2 minutes'",
  "messages between records are delivered": `insert into outbox
    values (gen_random_uuid(), 'saga', 'any', '{"type": "job_ended"}', berth_now() - interval '2 minutes')`,
  "the events of projects are assigned to webhooks":
    `update webhook_cursor set seq = -1; update audit_event set canonical = jsonb_set(canonical::jsonb, '{ts}',
      to_jsonb(berth_now() - interval '2 minutes'))::text where seq = 0`,
  "the deliveries of webhooks are sent when they are due":
    "update webhook_queue set due_at = berth_now() - interval '2 minutes'",
  "no setup deadline is overdue":
    `update cn set ${SETTING_UP} = 7, wake_at = berth_now() - interval '2 minutes' where server_uuid = ${NODE}`,
  "nodes claim their waiting jobs":
    "update job set state = 'pending', created_at = berth_now() - interval '11 minutes'",
  "a job ends when its lease expires":
    "update job set state = 'in_progress', wake_at = berth_now() - interval '2 minutes'",
  "nodes undo their cancelled and expired jobs":
    "update job set state = 'failed', tombstone = true, completed_at = berth_now() - interval '11 minutes'",
  "every approved node reports": `update cn_signal set last_seen = berth_now() - interval '61 seconds';
    update cn set approved_at = berth_now() - interval '61 seconds' where state = 'approved'`,
  "no approved node reports a damaged pool": `update cn_signal set last_status =
    '{"pools": {"zones": {"status": "DEGRADED", "health": "degraded: md127 lacks 1 of 2 disks"}}}'`,
  "no instance has more vCPUs than its node has logical processors":
    `update cn_capacity set report = report || '{"cpu_threads_logical": 0}'`,
  "audited changes are in the audit chain within a minute": `insert into transition
      (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at, audit)
    values ('vpc', 'any', gen_random_uuid(), 1, 'create', 'absent', 'live', gen_random_uuid(),
      berth_now() - interval '2 minutes', '{}')`,
  "the server's secret is not in the database that it protects":
    "insert into server_secret (secret) values (sha256('any'))",
  "the clock is not shifted as in a dev environment": "update lab_clock set ahead = '1 hour'",
};
