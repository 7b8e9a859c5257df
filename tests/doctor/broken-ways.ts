// For each check of the doctor a statement that makes it wrong: by title, so that a check without one is missed.

const NODE = "(select server_uuid from cn where state = 'approved' order by registered_at limit 1)";
/** That many claims of that node. */
const CLAIM = (count: number) =>
  `insert into enrolment_claim (id, incarnation, version, state, server_uuid, claim_code, expires_at, registration_id,
     poll_token_sha256, hostname, sysinfo, macs, source, source_bucket, created_at)
   select gen_random_uuid(), gen_random_uuid(), 1, 'live', ${NODE}, 'CODE0' || n, berth_now() + interval '1 hour',
          gen_random_uuid(), n, 'n', '{}', '{}', 'any', 'any', berth_now() from generate_series(1, ${count}) n`;
const SETTING_UP = "state = 'setting_up', setup_epoch";

export const BROKEN: Readonly<Record<string, string>> = {
  "what took effect has its stored answer, as long as answers are kept":
    "delete from seen where msg_id = (select msg_id from transition where actor_kind = 'vpc' limit 1)",
  "the transitions of each actor are numbered from 1 without a gap":
    "delete from transition where actor_kind = 'instance' and seq = 2",
  "each transition starts where the one before it ended":
    "update transition set from_state = 'elsewhere' where actor_kind = 'instance' and seq = 2",
  "every step of a node is in the published table":
    "update transition set event = 'vanish' where actor_kind = 'cn' and seq = 1",
  "what was refused took no effect": `update seen set reply = '{"fault": {}}'
    where msg_id = (select msg_id from transition where actor_kind = 'vpc' limit 1)`,
  "a message acts on an actor once": `update transition t set msg_id =
    (select msg_id from transition f where f.actor_id = t.actor_id and f.seq = 1 and f.actor_kind = 'cn')
    where actor_kind = 'cn' and seq = 2`,
  "each record is what its last transition made of it": "update vpc set version = version + 1",
  "no record is gone whose log does not say so": "delete from firewall_rule",
  "a boot record's address is its own, inside its network, and neither network, broadcast nor gateway":
    `update boot_record set networking = networking || '{"gateway": "172.31.0.1"}' where address is not null`,
  "no address is held by two":
    `update floating_ip f set address = g.public_address, family = g.family, pool_id = 'public:' || g.family
      from nat_gateway g`,
  "no address is free and held at once": `insert into pool_range
    select p.id, g.public_address - p.base, g.public_address - p.base
      from nat_gateway g join pool p on p.id = 'public:' || g.family`,
  "what is free of a pool and what is held make up the pool": "delete from pool_range where pool_id = 'public:v4'",
  "an address that is public is written down for its one holder": "delete from public_address",
  "no two VPCs have one VNI": `alter table vpc drop constraint vpc_vni; insert into vpc
    select (jsonb_populate_record(v, jsonb_build_object('id', gen_random_uuid(), 'name', 'twin'))).* from vpc v`,
  "what is counted as used on a node is what its instances take": "update cn_usage set ram_mb = ram_mb + 1",
  "what is counted as used of a tenant's quota is the sum over its projects":
    "update tenant_usage set instances = instances + 1",
  "what is counted as used of a quota is what the project's instances take": "update project_usage set cpu = cpu + 1",
  "an enrolled record has an address, an image and a node that is or was set up":
    "update boot_record set state = 'enrolled', server_uuid = gen_random_uuid(), assigned_pi = 'any'",
  "a record that is merely discovered is bound to no node":
    "update boot_record set state = 'discovered', server_uuid = gen_random_uuid()",
  "a live key of a node is the one key that its record names": `update cn set bound_api_key_id = gen_random_uuid()
    where server_uuid = ${NODE}`,
  "the key that a record names is live": "delete from api_key where bound_to_cn is not null",
  "a node that was never approved or awaits setup has no key, and a pending one nothing to deliver":
    "update cn set ticket_keys = 'sealed' where state = 'awaiting_setup'",
  "an enrolment claim is of a node that is there and not disabled": `${CLAIM(1)};
    update cn set state = 'disabled' where server_uuid = ${NODE}`,
  "no enrolment claim is older than its expiry and a pass": `${CLAIM(1)};
    update enrolment_claim set expires_at = berth_now() - interval '2 minutes'`,
  "a pending node has an enrolment claim": `update cn set state = 'pending' where server_uuid = ${NODE}`,
  "a node has at most 4 live enrolment claims": CLAIM(5),
  "claims and unproven nodes are counted as they are": "insert into budget (name, remaining) values ('claims', 19999)",
  "after the first report of a setup its key can be read no more":
    `update cn set ${SETTING_UP} = 7, pending_credential = 'sealed',
      setup_progress = '{"epoch": 7}' where server_uuid = ${NODE}`,
  "no setup is older than its deadline and a pass":
    `update cn set ${SETTING_UP} = 7, approved_at = berth_now() - interval '47 minutes' where server_uuid = ${NODE}`,
  "an epoch names one setup only": `update cn set ${SETTING_UP} = 7`,
  "an auto-approve window ends in time and approves no more than its count":
    "update budget set remaining = 99 where name = 'auto-approve'",
  "no window was too long, and each node that was approved at once was within the count and the time of an open one":
    `update transition set audit = jsonb_set(audit, '{payload,effective_duration_secs}', '86401')
      where event = 'open_window'`,
  "an operation that is over, or stuck, says so whole":
    "update saga set state = 'running', done_at = null, step = null",
  "no operation waits for a job that has ended and told nobody": `update saga set state = 'running', done_at = null,
    step = 'any', due_at = berth_now(), job_id = j.id from job j where j.saga_id = saga.id and j.state = 'completed'`,
  "each approval of a claim code has one operation": `delete from transition where actor_kind = 'saga'
    and msg_id in (select msg_id from transition where event = 'approve')`,
  "a job is in the hands of the node that it is for, or of nobody": "update job set claimed_by = 'another'",
  "a job ends once": `insert into transition
      (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at)
    select actor_kind, actor_id, incarnation, seq + 1, event, from_state, to_state, gen_random_uuid(), at
      from transition where actor_kind = 'job' and to_state = 'completed'`,
  "no node makes or runs an instance whose record is gone": `update job set state = 'in_progress', completed_at = null,
    payload = payload || '{"instance_id": "gone"}' where kind = 'provision'`,
  "an instance that an operation holds is let go when the operation is over":
    `update instance set operation_kind = 'stop',
    operation_id = (select id from saga where state = 'succeeded' limit 1)`,
  "each object is of the tenant that its project is of": "update vpc set tenant_id = gen_random_uuid()",
  "what is inside a VPC is of its project": "update subnet set project_id = gen_random_uuid()",
  "disks and NICs are of the project of their instance": "update disk set tenant_id = gen_random_uuid()",
  "a subnet is inside its VPC and apart from its other subnets":
    `update subnet set ipv4_block = '192.168.77.0/24', vpc_ipv4_block = '192.168.0.0/16'
      where id = (select subnet_id from nic limit 1)`,
  "an address of a NIC is one that its subnet hands out": "update nic set primary_ipv4 = '192.168.77.9'",
  "a route leads to a NAT gateway of its own VPC and family, and its VPC has that family":
    `update nat_gateway set vpc_id = gen_random_uuid();
     update route set target_kind = 'nat_gateway', nat_gateway_id = (select id from nat_gateway limit 1)`,
  "an instance stands on a node that is there and set up":
    "update cn set state = 'awaiting_setup' where server_uuid in (select host_cn_uuid from instance)",
  "a floating IP is attached to a NIC that is there, or its release is on its way":
    `update floating_ip set attached_to = gen_random_uuid(), attached_instance_id = gen_random_uuid(),
      hosted_cn = gen_random_uuid()`,
  "each audited transition that the chain has passed has its event": "delete from audit_event where seq = 3",
  "each event is of an audited transition":
    "update transition set audit = null where id = (select transition_id from audit_event where seq = 3)",
  "the events are numbered from 0 without a gap, up to the head": "delete from audit_event where seq = 3",
  "the last event's hash is the head's": "update audit_head set hash = repeat('e', 64)",

  "no operation is stuck": "update saga set state = 'stuck', done_at = null, stuck_reason = 'the undo failed'",
  "every operation that is due is moved on":
    "update saga set state = 'running', done_at = null, wake_at = berth_now() - interval '2 minutes'",
  "what one record tells another arrives": `insert into outbox
    values (gen_random_uuid(), 'saga', 'any', '{"type": "job_ended"}', berth_now() - interval '2 minutes')`,
  "every setup whose time is up is taken back":
    `update cn set ${SETTING_UP} = 7, wake_at = berth_now() - interval '2 minutes' where server_uuid = ${NODE}`,
  "nodes take the jobs that wait for them":
    "update job set state = 'pending', created_at = berth_now() - interval '11 minutes'",
  "a job that its node no longer renews is ended":
    "update job set state = 'in_progress', wake_at = berth_now() - interval '2 minutes'",
  "nodes undo what was taken from them":
    "update job set state = 'failed', tombstone = true, completed_at = berth_now() - interval '11 minutes'",
  "every approved node is heard of": `update cn_signal set last_seen = berth_now() - interval '61 seconds';
    update cn set approved_at = berth_now() - interval '61 seconds' where state = 'approved'`,
  "what is audited is chained within a minute": `insert into transition
      (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at, audit)
    values ('vpc', 'any', gen_random_uuid(), 1, 'create', 'absent', 'live', gen_random_uuid(),
      berth_now() - interval '2 minutes', '{}')`,
  "the server's secret is not in the database that it protects":
    "insert into server_secret (secret) values (sha256('any'))",
  "the clock is not that of a laboratory": "update lab_clock set ahead = '1 hour'",
};
