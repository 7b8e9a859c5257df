// Defines each limit once, with its unit in the name and its reason in the comment. `task docs` prints docs/limits.md
// from this file.

/** Seconds after which a claim code expires. */
export const CLAIM_CODE_TTL_S = 3_600;
/** Live claims of one server_uuid. */
export const CLAIMS_PER_NODE_MAX = 4;
/** Live claims of one source (an IPv4 address or an IPv6 /64). Two racks of 1,000 nodes may share one address. */
export const CLAIMS_PER_SOURCE_MAX = 2_000;
/** Live claims of the site: twice the nodes that a site may have. */
export const CLAIMS_PER_SITE_MAX = 20_000;
/** The limits per site and per source, by the names of their counters. */
export const CLAIM_QUOTAS = { site_max: CLAIMS_PER_SITE_MAX, source_max: CLAIMS_PER_SOURCE_MAX } as const;
/**
 * Pending nodes that registered without proof and were never approved. The limit is half of the maximum number of rows
 * in an unpaged list.
 */
export const UNPROVEN_NODES_MAX = 5_000;
/** Bytes of sysinfo as JSON in a registration without proof. The sysinfo of a large machine has half this size. */
export const CLAIM_SYSINFO_BYTES_MAX = 65_536;
/** Rows on a page of nodes with sysinfo. The limit is low because one sysinfo can have 1 MiB. */
export const CN_SYSINFO_PAGE_ROWS_MAX = 50;
/** Characters of a claim code, in Crockford base32. */
export const CLAIM_CODE_CHARS = 6;
/** How many times a registration tries to find an unused claim code before it fails. */
export const CLAIM_CODE_TRIES_MAX = 16;
/** Seconds that an agent waits for its approval. */
export const AGENT_APPROVAL_WAIT_S = 3_600;
/** The time limit of a setup, from approved_at. */
export const SETUP_LIMIT_MS = 45 * 60 * 1_000;
/** The longest auto-approve window. The server shortens a longer window to this limit. */
export const AUTO_APPROVE_SECS_MAX = 86_400;
/** Characters of a hostname, which is an RFC 1123 label. */
export const HOSTNAME_CHARS_MAX = 63;
/** Bytes of a request body. Some reports and documents can be longer (REPORT_BYTES_MAX, DOCUMENT_BYTES_MAX). */
export const BODY_BYTES_MAX = 1_048_576;
/** How long the server holds the long poll GET /v1/agent/register/status. */
export const REGISTER_STATUS_HOLD_MS = 30_000;
/** How long the server holds GET /v1/agent/register/status on hosts that stop idle processes. */
export const REGISTER_STATUS_HOLD_SHORT_MS = 20_000;
/** Random bytes of a poll token, which is 32 hex characters. */
export const POLL_TOKEN_BYTES = 16;
/** Bytes of each of a node's three ticket keys: console ticket, metadata token and migrate ticket. */
export const TICKET_KEY_BYTES = 32;
/** The characters of the lookup id and of the secret in an API key. */
export const KEY_LOOKUP_CHARS = 12;
export const KEY_SECRET_CHARS = 32;
/** Attempts to approve a claim code per minute from one address; burst 10. */
export const APPROVE_PER_MINUTE_DEFAULT = 10;
/**
 * Registrations per minute from one address. The limit lets a whole rack behind one address register when its power
 * returns, and slows a flood.
 */
export const REGISTER_PER_MINUTE_DEFAULT = 1_200;
/**
 * Failed approvals per hour on the whole site, so that codes cannot be guessed from many addresses
 * (docs/reliability.md, S-07).
 */
export const APPROVE_FAILURES_PER_HOUR = 300;
/** Rows of an unpaged list. A longer list is refused. */
export const SCAN_ROWS_MAX = 10_000;
/** The largest `limit` of a paged list. */
export const PAGE_ROWS_MAX = 1_000;
/** Events on a page of the audit list. */
export const AUDIT_PAGE_ROWS_DEFAULT = 100;
export const AUDIT_PAGE_ROWS_MAX = 1_000;
/** Operations on a page. */
export const OPERATION_PAGE_ROWS_DEFAULT = 50;
export const OPERATION_PAGE_ROWS_MAX = 200;
/** Characters of an Idempotency-Key, and the time for which the server keeps a key. */
export const IDEMPOTENCY_KEY_CHARS_MAX = 255;
export const SEEN_RETENTION_HOURS = 24;
/** The intervals in which a node agent sends heartbeats, full status reports and capacity reports. */
export const AGENT_HEARTBEAT_MS = 5_000;
export const AGENT_STATUS_FULL_MS = 60_000;
export const AGENT_CAPACITY_MS = 30_000;
/** The agent's retry intervals while it is pending and after a transport error. */
export const AGENT_PENDING_RETRY_MS = 1_000;
export const AGENT_ERROR_RETRY_MS = 5_000;
/** A node is live if its last heartbeat is at most this old. */
export const CN_LIVE_S = 60;
/**
 * The interval of POST /v1/agent/poll that the server advises. It grows with the number of approved nodes up to
 * AGENT_POLL_S_MAX. While it is below AGENT_POLL_S_MAX, all nodes together send at most AGENT_POLLS_PER_S. The longest
 * interval is a third of CN_LIVE_S, so that a node stays live when two of its polls are lost.
 */
export const AGENT_POLL_S_MIN = 5;
export const AGENT_POLL_S_MAX = 20;
export const AGENT_POLLS_PER_S = 200;
/** A job's lease is at least this many advised intervals long, so that the job survives two lost polls. */
export const AGENT_POLLS_PER_LEASE = 3;
/** Cluster defaults of the memory reservoir. The percent is a fraction of physical memory. */
export const RESERVOIR_ENABLED_DEFAULT = true;
export const RESERVOIR_PERCENT_DEFAULT = 0.80;
/**
 * By default, the doctor checks this many transitions, newest first. A busy site makes this many in about a minute, and
 * the doctor checks them in less than 100 ms.
 */
export const DOCTOR_LOG_ROWS = 10_000;
/**
 * Seconds for which finished operations are kept: 30 days by default, and never less than 2 days. The server reads the
 * answer to a repeated request from the operation of the first request. So the minimum is the longest time for which
 * the server stores replies.
 */
export const SAGA_RETENTION_S_DEFAULT = 2_592_000;
export const SAGA_RETENTION_S_MIN = 172_800;
/**
 * Seconds for which transitions are kept: a year by default, and never less than 30 days. The function log_drop has the
 * same minimum.
 */
export const LOG_RETENTION_S_DEFAULT = 31_536_000;
export const LOG_RETENTION_S_MIN = 2_592_000;
/** Seconds after which audit events move to the archive: 90 days by default, and never less than a day. */
export const AUDIT_ARCHIVE_AFTER_S_DEFAULT = 7_776_000;
export const AUDIT_ARCHIVE_AFTER_S_MIN = 86_400;
/**
 * The maximum number of seconds for which a setting keeps records: 100 years. No rule about records requires more. A
 * much larger number would fail: PostgreSQL has no timestamp before 4713 BC.
 */
export const RETENTION_S_MAX = 3_155_760_000;
/** Seconds for which an expired API key is kept before it is deleted: 30 days by default, and never less than a day. */
export const API_KEY_RETENTION_S_DEFAULT = 2_592_000;
export const API_KEY_RETENTION_S_MIN = 86_400;
/**
 * Expired API keys that one pass of maintenance deletes, and how many of them it deletes at the same time. Deletes that
 * run at the same time share commits.
 */
export const EXPIRED_KEYS_PER_PASS = 1_000;
export const EXPIRED_KEYS_AT_ONCE = 50;
/** Events of a segment of the audit archive: about a megabyte, so one segment is read in a few milliseconds. */
export const AUDIT_SEGMENT_EVENTS = 1_000;
/** Segments that one pass of maintenance archives, in each process: 20,000 events in a minute. */
export const AUDIT_SEGMENTS_PER_PASS = 20;
/**
 * Rows that one statement deletes when old rows are removed. Such a statement takes much less time than the time limit
 * of a statement.
 */
export const SWEEP_ROWS = 5_000;
/** Statements that delete one kind of old rows in one pass of maintenance: 100,000 rows in a minute. */
export const SWEEPS_PER_PASS = 20;
/** Nesting depth and elements of a JSON body. They limit the cost of parsing (docs/reliability.md, S-28). */
export const JSON_DEPTH_MAX = 64;
export const JSON_ELEMENTS_MAX = 10_000;
/**
 * Elements and bytes of the JSON body of a node's report. They suffice for 2,000 VMs: each VM takes 40 to 60 elements
 * and 1.2 to 1.6 KB. A poll with a report can also have RULE_COUNTS_MAX counters, with 4 elements and 100 bytes each.
 */
export const REPORT_ELEMENTS_MAX = 160_000;
export const REPORT_BYTES_MAX = 4_194_304;
/**
 * Elements and bytes of the JSON body with the boot policy, the roster or the hardware of a node. In the roster, a
 * machine with four ports in an aggregate has 20 elements and 300 bytes.
 */
export const DOCUMENT_ELEMENTS_MAX = 250_000;
export const DOCUMENT_BYTES_MAX = 4_194_304;
/** Limits of one connection against slow or large requests (docs/reliability.md, S-36). */
export const HEADERS_READ_MS = 10_000;
export const BODY_READ_MS = 30_000;
export const IDLE_SOCKET_MS = 60_000;
export const HEADER_BYTES_MAX = 32_768;
export const URI_BYTES_MAX = 8_192;
/** Header lines of one request. */
export const HEADER_LINES_MAX = 100;
/** Open connections of one process, by default. A node agent has one, and briefly a second one. */
export const CONNECTIONS_MAX = 15_000;
/** How often the agent checks whether its status changed. */
export const AGENT_STATUS_CHECK_MS = 500;
/** How often the agent reads the counters of its VMs, in milliseconds. */
export const AGENT_METRICS_MS = 15_000;
/**
 * Minutes of samples in an answer with an instance's metrics: the default and the maximum. Older samples are deleted.
 */
export const METRICS_MINUTES_DEFAULT = 5;
export const METRICS_MINUTES_MAX = 60;
/**
 * Hours for which the load of instances is kept by the minute, and days for which it is kept by the hour
 * (src/db/load.ts).
 */
export const MINUTE_LOAD_KEPT_HOURS = 6;
export const HOURLY_LOAD_KEPT_DAYS = 7;
/** Minutes for which samples of a node's load are kept, and days for which its load is kept by the hour. */
export const NODE_SAMPLES_KEPT_MINUTES = 5;
export const NODE_LOAD_KEPT_DAYS = 7;
/**
 * Nodes for which one statement updates the load summaries of the last day and week. On a site of 10,000 nodes, whose
 * load by the hour does not fit into the database's cache, the statement takes less than 2 s (tests/bench/README.md).
 */
export const LOAD_LONG_NODES = 100;
/**
 * Statements that update the load summaries of the last day and week. For each minute of the interval between passes, a
 * pass runs this many. So it updates 20,000 nodes in 10 minutes.
 */
export const LOAD_LONGS_PER_MINUTE = 20;
/** Hours for which one statement stores the load of all nodes: about 0.1 s with 10,000 nodes. */
export const LOAD_FLEET_HOURS = 4;
/**
 * Instances for which one statement sums the load of a minute or of an hour, in less than 0.3 s
 * (tests/bench/README.md).
 */
export const LOAD_SUM_INSTANCES = 2_000;
/**
 * Statements that sum the load of instances. For each minute of the interval between passes, a pass runs this many
 * statements for the sums by the minute, and the same number for the sums by the hour. This is enough for 200,000
 * instances.
 */
export const LOAD_SUMS_PER_MINUTE = 100;
/**
 * Statements that delete old samples of one kind. A pass runs this many for each minute of the interval between passes.
 * They delete a million rows a minute. 100,000 instances add 400,000 samples a minute.
 */
export const LOAD_SWEEPS_PER_MINUTE = 200;
/** Days of one request for usage: a year. */
export const USAGE_RANGE_DAYS_MAX = 366;
/** Seconds after the end of a day until its usage is closed: enough for late commits, which take under a minute. */
export const USAGE_CLOSE_LATE_S = 3_600;
/**
 * Spans and rows of traffic that one statement adds to the usage of a day. The statement takes about 0.3 s, and may
 * take 5 s.
 */
export const USAGE_CLOSE_ROWS = 20_000;
/** Statements that close days in one pass of maintenance. A day of 100,000 instances needs about 40. */
export const USAGE_SLICES_PER_PASS = 40;
/** Days for which the usage of closed days is kept: three years. */
export const USAGE_KEPT_DAYS = 1_096;
/** How often the agent reads its effective configuration. */
export const AGENT_CONFIG_MS = 60_000;
/** The longest `wait=` of GET /v1/operations/{id}, below the idle timeout of common proxies. */
export const OPERATION_WAIT_S_MAX = 20;
/** UTF-8 bytes of the reason in the report that a setup failed. */
export const FAILURE_REPORT_BYTES_MAX = 512;
/** Characters of a service_tag in the allowlist. */
export const SERVICE_TAG_CHARS_MAX = 64;
/** Bytes of the key and of the value of a trait. */
export const TRAIT_BYTES_MAX = 63;
/** MACs of one machine that take part in netboot. */
export const MACS_PER_NODE_MAX = 64;
/** Machines that the roster can declare. */
export const ROSTER_ENTRIES_MAX = 10_000;
/**
 * Racks behind relays in the boot policy, and relays of one rack. A rack usually has two switches with a few addresses
 * each.
 */
export const RACK_NETWORKS_MAX = 1_000;
export const RACK_RELAYS_MAX = 16;
/**
 * Kernel arguments of enrolment, of one label or of one machine. The number is limited, because a whole boot script has
 * at most 3,500 bytes.
 */
export const KERNEL_ARGS_MAX = 32;
/** Parts of one kind, such as drives, in the hardware of a node, and characters of each text. */
export const HARDWARE_PARTS_MAX = 512;
export const HARDWARE_TEXT_CHARS_MAX = 256;
/** The speed of a serial console without a given speed, in bits per second. Most servers use this speed by default. */
export const BOOT_CONSOLE_SPEED_DEFAULT = 115_200;
/** Labels with kernel arguments in the boot policy. */
export const LABEL_ARGUMENTS_MAX = 100;
/** Characters of an IPv4 block as text (RFC 4632); the longest is 255.255.255.255/32. */
export const CIDR_TEXT_CHARS_MAX = 18;
/** Characters of the version that a node's agent reports, so that lists stay small: five times a common length. */
export const AGENT_VERSION_CHARS_MAX = 64;
/** Characters of the stamp of a platform image. */
export const STAMP_CHARS_MAX = 64;
/** Characters of one kernel argument. */
export const KERNEL_ARGUMENT_CHARS_MAX = 256;
/** The default rounds and the significant characters of a salt, as sha512-crypt defines them. */
export const CRYPT_ROUNDS = 5_000;
export const CRYPT_SALT_CHARS_MAX = 16;
/** Bytes of a root password: common crypt libraries accept no more, and the cost grows with the length. */
export const CRYPT_PASSWORD_BYTES_MAX = 511;
/** Bits of an RSA key: shorter keys are too weak, and OpenSSH does not accept longer ones. */
export const RSA_BITS_MIN = 2_048;
export const RSA_BITS_MAX = 16_384;
/** Characters of an OpenSSH public key: room for the longest RSA key and a comment. */
export const OPENSSH_KEY_CHARS_MAX = 8_192;

/** Bytes of a resource name. */
export const RESOURCE_NAME_BYTES_MAX = 63;
/** The greatest limit of a quota. No usage exceeds it, so programs show it as `unlimited`. */
export const QUOTA_LIMIT_MAX = 9_007_199_254_740_991;
/** Characters of a description: enough for a few sentences. */
export const DESCRIPTION_CHARS_MAX = 4_096;
/** The highest priority of a firewall rule. */
export const FIREWALL_PRIORITY_MAX = 65_535;
/** The maximum number of rules in a set of firewall rules. One commit replaces the set. */
export const FIREWALL_SET_RULES_MAX = 500;
/**
 * Sentences with which a node describes the path of a packet, and characters of each sentence. The longest path needs
 * slightly fewer than TRACE_STEPS_MAX.
 */
export const TRACE_STEPS_MAX = 20;
export const TRACE_STEP_CHARS_MAX = 400;
/**
 * Seconds in which a node must answer a trace, which asks where a packet stops. A node polls again at once after each
 * answer.
 */
export const TRACE_WAIT_S = 10;
/** The maximum number of open traces for one node. For each trace, the node runs some commands. */
export const TRACES_OPEN_MAX = 8;
/** The highest TCP or UDP port, and the highest type and code of ICMP. */
export const PORT_MAX = 65_535;
export const ICMP_NUMBER_MAX = 255;
/**
 * VNIs have 24 bits, and the lowest values are reserved. When a VPC is created, the server tries at most VNI_TRIES_MAX
 * VNIs.
 */
export const VNI_MIN = 4_096;
export const VNI_MAX = 16_777_215;
export const VNI_TRIES_MAX = 8;
/**
 * Addresses at the start of a subnet that are not assigned: the network address and the gateway. In IPv4 the broadcast
 * address is not assigned either.
 */
export const SUBNET_ADDRESSES_KEPT = 2;
/** The last offset in a pool: the largest integer that JavaScript and JSON represent exactly. */
export const POOL_OFFSET_MAX = 2 ** 53 - 1;
/** The blocks of the two public pools that need no external subnet (src/lib/net/public-pool.ts). */
export const PUBLIC_BLOCKS = { v4: "203.0.113.0/24", v6: "2001:db8::/48" } as const;
/** Silos that one external subnet can be reserved for, and external subnets of one network pool. */
export const OWNER_SILOS_MAX = 1_000;
export const POOL_NETWORKS_MAX = 64;
/** Seconds after which the tokens of a session expire. */
export const ACCESS_TOKEN_TTL_S = 900;
export const REFRESH_TOKEN_TTL_S = 86_400;
/** Seconds during which the previous refresh token still works, for a client that lost the answer. */
export const REFRESH_REPEAT_S = 60;
/** Attempts to log in per minute from one address, successful ones included; burst 10. */
export const LOGIN_PER_MINUTE = 10;
/**
 * Failed logins per minute of one account, from all addresses together; burst 10. A user who mistypes is not slowed
 * down, and an attacker with many addresses has only 14,400 guesses a day.
 */
export const LOGIN_ACCOUNT_PER_MINUTE = 10;
/** Seconds after which the key set of an issuer is read again. */
export const JWKS_CACHE_S = 300;
/**
 * Characters of a password and of a user name. A password must have at least 8 characters and may be long (NIST SP
 * 800-63B, 5.1.1.2).
 */
export const PASSWORD_CHARS_MIN = 8;
export const PASSWORD_CHARS_MAX = 1_024;
export const USERNAME_CHARS_MAX = 63;
/** The limits of the MTU of a NIC tag, and the highest VLAN id. IPv6 needs an MTU of at least 1,280 (RFC 8200, 5). */
export const MTU_MIN = 1_280;
export const MTU_MAX = 9_216;
export const VLAN_ID_MAX = 4_094;
/** Characters of a token. All request headers together are limited to 32 KiB. */
export const TOKEN_CHARS_MAX = 8_192;
/** Seconds that an issuer's clock may be ahead of ours before its new tokens are refused (RFC 7519, 4.1.5). */
export const TOKEN_LEEWAY_S = 30;
/** Characters of the claim `sub` of a token: at most 255 ASCII characters (OpenID Connect Core, 2). */
export const SUBJECT_CHARS_MAX = 255;
/**
 * If a token is signed with an unknown key, the server reads the issuer's key set again, but at most once in this time.
 */
export const JWKS_COOLDOWN_S = 30;
/** Networks in `fetch.allowed_private`. Every fetch compares its address with each of them. */
export const FETCH_RANGES_MAX = 100;

/** DNS servers of the guests of VPCs. A node asks them one after another and waits 2 s for each. */
export const RESOLVERS_MAX = 4;
/** Time servers of the guests of VPCs. A guest needs four servers to find out which one is wrong. */
export const NTP_SERVERS_MAX = 4;
/** Port forwards of one NAT gateway. Each port forward is a rule on the gateway's node. */
export const PORT_FORWARDS_MAX = 256;
/** Classes of instance sizes in the setting `network.nic_limits`. */
export const NIC_LIMIT_CLASSES_MAX = 32;
/**
 * The smallest limits that the setting `network.nic_limits` accepts. With smaller limits a guest could not boot, and an
 * operator would hardly find the reason.
 */
export const NIC_CONNECTIONS_MIN = 16;
export const NIC_PACKETS_PER_SECOND_MIN = 100;
export const NIC_BYTES_PER_SECOND_MIN = 16_384;
/**
 * The largest limits that the setting accepts. nftables counts connections in 32 bits, allows one packet per nanosecond
 * at most, and its arithmetic overflows above 16 GB/s.
 */
export const NIC_CONNECTIONS_MAX = 4_294_967_295;
export const NIC_PACKETS_PER_SECOND_MAX = 1_000_000_000;
export const NIC_BYTES_PER_SECOND_MAX = 10_000_000_000;
/**
 * Characters of an issuer's URL, each one byte. PostgreSQL limits an index row to about 2,700 bytes, and one index has
 * the URL and a token's subject.
 */
export const ISSUER_URL_CHARS_MAX = 2_048;
/** Limits of a request to an issuer: its duration, the bytes of the answer, and the pause after a failure. */
export const ISSUER_ANSWER_MS = 5_000;
export const ISSUER_BYTES_MAX = 262_144;
export const ISSUER_PAUSE_S = 5;
/** Characters of an image's os and version, of its architecture, and of its URL. */
export const IMAGE_TEXT_CHARS_MAX = 255;
export const IMAGE_ARCH_CHARS_MAX = 63;
export const IMAGE_URL_CHARS_MAX = 2_048;
/** Bytes of one part of an uploaded image: as many as a request body may have. */
export const IMAGE_PART_BYTES = BODY_BYTES_MAX;
/** Bytes of an image that can be uploaded. Larger images belong on a web server. */
export const IMAGE_UPLOAD_BYTES_MAX = 64 * 2 ** 30;
/** Bytes of uploaded images that one tenant may store, by default. */
export const IMAGE_UPLOADED_BYTES_DEFAULT = 100 * 2 ** 30;
/** An unfinished upload is deleted this many seconds after its last part. */
export const IMAGE_UPLOAD_IDLE_S = 86_400;
/** The largest disk, and the smallest boot disk of bhyve images. */
export const DISK_BYTES_MAX = 16 * 2 ** 40;
export const BHYVE_BOOT_DISK_BYTES_MIN = 20 * 2 ** 30;
/** Bytes of an instance's user data. */
export const USER_DATA_BYTES_MAX = 64 * 1_024;
/** The smallest memory of an instance by default: 16 MiB. No known system boots with less. */
export const INSTANCE_MEMORY_BYTES_MIN = 16 * 2 ** 20;
/** Seconds that a node may take for an operation on an instance, by default. */
export const INSTANCE_CREATE_WAIT_S = 600;
/** CPU units per vCPU. */
export const CPU_UNITS_PER_VCPU = 100;
/** The default overprovision factors. */
export const OVERPROVISION_CPU = 4;
export const OVERPROVISION_RAM = 1;
export const OVERPROVISION_DISK = 1;
/** Seconds without a renewal of its lease after which a job fails. */
export const JOB_LEASE_S = 600;
/** Labels of one object, and the characters of a label's key or value. */
export const LABELS_MAX = 32;
export const LABEL_CHARS_MAX = 63;
/** Characters of the filter of a list by labels: a few labels with the longest keys and values. */
export const LABEL_FILTER_CHARS_MAX = 1_024;
/** Disks of one instance in addition to its boot disk. */
export const DATA_DISKS_MAX = 16;
/** Snapshots of one instance. Every change of the instance reads all of them. */
export const SNAPSHOTS_MAX = 32;
/** NICs of one instance in addition to the primary NIC. */
export const EXTRA_NICS_MAX = 31;
/** Further addresses of one NIC, and allowed blocks of one NIC. Each of them is a route on every node of the VPC. */
export const ADDITIONAL_IPS_MAX = 16;
export const ALLOWED_CIDRS_MAX = 16;
/** SSH keys of one instance. */
export const SSH_KEYS_OF_INSTANCE_MAX = 100;
/** Network interfaces in a guest's report, and addresses of one interface. A guest can report any number. */
export const GUEST_INTERFACES_MAX = 32;
export const GUEST_ADDRESSES_MAX = 32;
/** Characters of the reason that a node gives for a failed job. */
export const JOB_REASON_CHARS_MAX = 2_048;
/** Candidate nodes, best first, that one commit of a new instance tries. */
export const PLACEMENT_CANDIDATES_MAX = 8;
/**
 * How many times the server picks candidates for a new instance. It picks again if all candidates fill up before the
 * commit.
 */
export const PLACEMENT_TRIES_MAX = 10;
/** The largest overprovision factor. */
export const OVERPROVISION_MAX = 64;
/** The maximum difference between the clocks of two nodes for a live migration between them. */
export const TSC_OFFSET_NS_MAX = 100_000_000;
/** The name of the pool for instances' disks. */
export const INSTANCE_POOL = "zones";
/** The maximum number of entries of each list in an explain request. */
export const EXPLAIN_LIST_MAX = 1_000;
/** The interval in which an agent requests work, and the longest wait of one request. */
export const AGENT_JOB_POLL_MS = 5_000;
export const CLAIM_WAIT_S_MAX = 30;
/** Bytes of unused images that a node keeps. */
export const IMAGE_CACHE_BYTES_DEFAULT = 64 * 2 ** 30;
/**
 * Jobs that one agent can run at the same time, and tombstones (cancelled or expired jobs) in one answer to an agent.
 */
export const RUNNING_JOBS_MAX = 1_000;
export const TOMBSTONES_PER_CLAIM = 100;
/** Characters of the name of a job's current step. */
export const JOB_STEP_CHARS_MAX = 255;
/**
 * How long an operation waits for its node if no request waits for the operation. After this time its step fails, and
 * its earlier steps are undone. If an undo fails in this way, the operation is stuck.
 */
export const NODE_WAIT_MS = 24 * 60 * 60 * 1_000;
/**
 * The maximum number of bytes per second that a node sends for one migration, by default. Four migrations at the same
 * time then fill a link of 10 Gbit/s.
 */
export const BANDWIDTH_BYTES_PER_S = 256 * 2 ** 20;
/** Migrations from one node that a drain runs at the same time. By default they fill a link of 10 Gbit/s. */
export const DRAIN_MIGRATIONS_MAX = 4;
/**
 * A drain that has not ended after this time fails: 7 days, enough for 1,000 instances, four at the same time, at 40
 * minutes each.
 */
export const DRAIN_LIMIT_MS = 7 * 24 * 60 * 60 * 1_000;
/** Nodes of one drain by label. One request computes the plan of all these nodes and returns it. */
export const LABEL_DRAIN_NODES_MAX = 200;
/** A drain by label that has not ended after this time fails: 30 days, enough for 40 nodes at 18 hours each. */
export const LABEL_DRAIN_LIMIT_MS = 30 * 24 * 60 * 60 * 1_000;
/** Within this time, a node must claim and end its restart job. The job ends before the machine restarts. */
export const REBOOT_JOB_LIMIT_MS = 10 * 60 * 1_000;
/**
 * After its agent has restarted the machine, a node must report again within this time. Servers with much memory need
 * 15 minutes to start.
 */
export const REBOOT_LIMIT_MS = 30 * 60 * 1_000;
/** If an operator must restart the machine, the node has a day to report again: the operator may be away. */
export const REBOOT_BY_OPERATOR_LIMIT_MS = 24 * 60 * 60 * 1_000;
/** A drain gives up an instance after this many refused migrations. It tries once a second. */
export const DRAIN_TRIES_MAX = 3;
/**
 * The smallest bandwidth that a migration may be limited to, in bytes per second. With less, memory changes faster than
 * it is sent.
 */
export const BANDWIDTH_BYTES_PER_S_MIN = 2 ** 20;
/** Migrations of an instance in one answer. */
export const MIGRATIONS_LISTED_MAX = 100;
/**
 * After the node's time limit, a request waits this much longer for its operation, so that a rollback and its commit
 * can end.
 */
export const OPERATION_GRACE_MS = 10_000;
/** The interval in which the TLS certificate files are read again. Renewals happen days before the expiry. */
export const TLS_FILES_READ_MS = 5_000;
/**
 * Seconds from a login to the end of its session. A refresh does not extend this time, so a copied refresh token stops
 * working. Users log in once a week.
 */
export const SESSION_LIFETIME_S_DEFAULT = 7 * 24 * 60 * 60;
/** Seconds after which an unused sign-in link of the development environment expires, and the bytes of its code. */
export const DEV_SIGN_IN_LINK_S = 3_600;
export const DEV_SIGN_IN_CODE_BYTES = 16;
/** The time limit in seconds for a user's sign-in at an issuer: enough to find a second factor. */
export const OIDC_SIGN_IN_S = 600;
/** Random bytes of the state, the nonce and the code verifier of a sign-in (RFC 7636, 4.1 recommends 32). */
export const OIDC_RANDOM_BYTES = 32;
/** Characters of the path to which a sign-in returns, and of each value that the issuer returns. */
export const OIDC_TEXT_CHARS_MAX = 2_048;
/**
 * Seconds without a request after which a session of the web console ends. The session lasts a working day and ends
 * overnight.
 */
export const WEB_SESSION_IDLE_S_DEFAULT = 12 * 60 * 60;
/**
 * A request records the use of a session of the web console if the last recorded use is at least this many seconds old.
 */
export const WEB_SESSION_TOUCH_S = 300;
/** Events that one search of the audit chain reads. A search of 20,000 events took 460 ms on two shared cores. */
export const AUDIT_SEARCH_EVENTS_MAX = 10_000;
/** Rows of one window of a list: enough for several screens. A window may begin at any row of a list of nodes. */
export const WINDOW_ROWS_DEFAULT = 100;
export const WINDOW_ROWS_MAX = 500;
export const WINDOW_OFFSET_MAX = 1_000_000;
/** Hits of one search: a list below a text field, at most a screen. */
export const SEARCH_HITS_DEFAULT = 10;
export const SEARCH_HITS_MAX = 50;
/** Characters of a search text: a hostname of 253 characters fits. */
export const SEARCH_CHARS_MAX = 253;
/** The longest `wait=` of GET /v1/changes, below the idle timeout of common proxies. */
export const CHANGES_WAIT_S_MAX = 20;
/** Characters of a cursor of GET /v1/changes. A cursor has 22; the rest is room for later forms. */
export const CHANGES_CURSOR_CHARS_MAX = 128;
/** Sessions of one user; a further login ends the oldest. The limit is high because scripts log in often. */
export const SESSIONS_PER_USER_MAX = 50;
/** Sessions that one login can end in its commit. */
export const SESSIONS_DISPLACED_MAX = 20;
/**
 * The first denial of an action to a caller is audited at once. Later denials of this action to this caller are counted
 * for this many seconds and audited as one sum. The time is short, so that operators see an attack while it runs.
 */
export const DENIAL_WINDOW_S = 60;
/**
 * Requests per minute of one caller (a tenant with its keys and users, an operator, a node) at one process, and how
 * many of them may write. A node sends about 30 per minute; a booter may send ten times the limit. A refused write is
 * stored for a day, so the second limit also keeps one caller below 1.8 million short rows.
 */
export const CALLER_REQUESTS_PER_MINUTE = 6_000;
export const CALLER_WRITES_PER_MINUTE = 1_200;
/** The interval in which a process reads the two rates of callers again from the settings. */
export const RATES_READ_MS = 5_000;
/**
 * Memory for request bodies that have not arrived completely, counted by their declared length. The four limits are for
 * all authenticated callers together, for one authenticated caller, for all unauthenticated callers (strangers)
 * together, and for one address of strangers (IPv4, or the /64 of IPv6). A rack whose nodes all register at the same
 * time sends some hundred kilobytes.
 */
export const BODIES_KNOWN_BYTES = 80 * 2 ** 20;
export const BODIES_KNOWN_EACH_BYTES = 16 * 2 ** 20;
export const BODIES_STRANGER_BYTES = 48 * 2 ** 20;
export const BODIES_STRANGER_EACH_BYTES = 12 * 2 ** 20;
/** Bytes that are counted for an incomplete body in addition to its length: about the memory of its request. */
export const BODY_WEIGHT_MIN_BYTES = 4_096;
/** The time limit for reading the body of a stranger: a megabyte at 100 kB/s. */
export const BODY_READ_STRANGER_MS = 10_000;
/** The credential is checked before the body is read. It is checked again if reading the body took longer than this. */
export const CREDENTIAL_FRESH_MS = 250;
/**
 * The fraction of the connections that all strangers together may have, and the fraction for one address of strangers.
 */
export const CONNECTIONS_STRANGERS = 2 / 3;
export const CONNECTIONS_STRANGER_EACH = 1 / 2;
/** The fraction of the connections that one authenticated caller may have. */
export const CONNECTIONS_KNOWN_EACH = 1 / 4;
/** Long polls of all strangers together, of one address of strangers, and of one authenticated caller. */
export const HELD_STRANGERS_MAX = 12_000;
export const HELD_STRANGER_EACH_MAX = 6_000;
export const HELD_KNOWN_EACH_MAX = 1_000;
/** Seconds after which the ticket of a console session expires: enough to open the connection, too short to share. */
export const CONSOLE_TICKET_S = 60;
/** Random bytes of a console ticket. */
export const CONSOLE_TICKET_BYTES = 32;
/** Seconds in which a node must connect for a console session. A healthy node needs less than a second. */
export const CONSOLE_DIAL_S = 10;
/** Console calls in one answer to a node, and console calls that a node lists as known. */
export const CONSOLE_CALLS_MAX = 100;
/**
 * The pause of a node before it tries again to reach the server process that waits for a console. The pause doubles
 * once, to REDIAL_MAX_MS.
 */
export const CONSOLE_REDIAL_MS = 250;
/** Bytes of a serial console that a node keeps for each instance. */
export const CONSOLE_LOG_BYTES_MAX = 2 ** 20;
/**
 * Bytes that one end of a console may send before the other end has confirmed them, per direction. They limit the
 * memory of every process in between. With a round trip of 50 ms, 1.3 MB/s are still possible.
 */
export const CONSOLE_WINDOW_BYTES = 65_536;
/** Bytes of one frame of a console. Frames are short, so that a confirmation does not wait long behind a frame. */
export const CONSOLE_FRAME_BYTES_MAX = 16_384;
/** Bytes of one control frame of a console. */
export const CONSOLE_CONTROL_BYTES_MAX = 4_096;
/**
 * Bytes that may wait for a slow end of a console. If more wait, the other end has sent more than CONSOLE_WINDOW_BYTES
 * without a confirmation, and the console ends.
 */
export const CONSOLE_BUFFER_BYTES_MAX = 4 * CONSOLE_WINDOW_BYTES;
/** Bytes of earlier output that a console shows when it opens: about one screen. */
export const CONSOLE_HISTORY_BYTES_DEFAULT = 4_096;
/** Bytes of a screenshot: a screen of 1280 by 800 pixels without any repetition has 3 MiB. */
export const SCREENSHOT_BYTES_MAX = 8 * 2 ** 20;
/** A node must send a screenshot within this many seconds after it has connected. */
export const SCREENSHOT_S_MAX = 20;
/** A screenshot counts as this many consoles of its caller (CONSOLES_EACH_MAX), because its bytes wait in memory. */
export const SCREENSHOT_CONSOLES = 16;
/** Consoles of one instance, writers and watchers together. */
export const CONSOLES_PER_INSTANCE_MAX = 32;
/** Consoles that one process relays (512 kB each at most), and how many of them one caller may have. */
export const CONSOLES_MAX = 1_000;
export const CONSOLES_EACH_MAX = 100;
/** A console without a byte in either direction ends after this time. Confirmations do not count. */
export const CONSOLE_IDLE_MS = 30 * 60 * 1_000;
/** A console ends after this time in any case: a working day. */
export const CONSOLE_LIFETIME_MS = 12 * 60 * 60 * 1_000;
/** The interval in which the caller's credential and the instance of each console are checked again. */
export const CONSOLE_CHECK_MS = 5_000;
/** Both ends of a console must answer a ping within this interval. It is below the idle limit of common proxies. */
export const CONSOLE_PING_MS = 20_000;
/**
 * The interval in which the relaying process renews a console, and the time without a renewal after which a console
 * counts as ended.
 */
export const CONSOLE_RENEW_MS = 60_000;
export const CONSOLE_LEASE_S = 180;
/** VPCs of one node: more than the instances that fit on it. */
export const NETWORK_VPCS_MAX = 4_096;
/**
 * Counters of firewall rules in one poll of a node, about 100 bytes each. The node sends the remaining counters with
 * its next polls.
 */
export const RULE_COUNTS_MAX = 4_096;
/**
 * Nodes in `realizations` of one object. A VPC can have thousands of nodes, and each report takes 150 bytes or more.
 */
export const REALIZATIONS_MAX = 100;
/** Nodes in `realizations` of each item of a list, so that a page of 1,000 items has 1 to 2 MB. */
export const REALIZATIONS_IN_LIST_MAX = 10;
/** Characters of a node's reason why it could not apply a network document. */
export const NETWORK_MESSAGE_CHARS_MAX = 1_000;
/** Bytes that VXLAN adds to a packet over IPv4: an inner Ethernet header, VXLAN, UDP and IPv4 headers. */
export const OVERLAY_HEADER_BYTES = 50;
/** The smallest MTU of an underlay that an operator can set: the smallest MTU inside a VPC, with the VXLAN headers. */
export const UNDERLAY_MTU_MIN = MTU_MIN + OVERLAY_HEADER_BYTES;
/** The largest MTU inside a VPC, in bytes: the MTU of Ethernet, which guests expect. */
export const VPC_MTU_MAX = 1_500;
/** The underlay MTU of a node that reports no MTU, in bytes. */
export const UNDERLAY_MTU_DEFAULT = 1_500;
/**
 * A node runs its NAT gateways for this many seconds after it has sent a poll that the server answers. Then the kernel
 * stops the gateways, even if the agent does not run.
 */
export const NAT_GATEWAY_SILENCE_S = 60;
/**
 * A node whose last heartbeat is this many seconds old certainly runs no NAT gateway. The value is
 * NAT_GATEWAY_SILENCE_S plus the time limit of the command that changes the kernel (COMMAND_LIMIT_MS, 30 s). Each poll
 * is a heartbeat, which the server stores after the node has sent the poll.
 */
export const NAT_GATEWAY_FENCE_S = 90;
/** The longest wait for `Prefer: wait`, in seconds. */
export const PREFER_WAIT_S_MAX = 30;
/** NIC tags in one report of a node, and bytes of the name of a network port (the limit of Linux is 15). */
export const REPORTED_NIC_TAGS_MAX = 64;
export const PORT_NAME_BYTES_MAX = 64;
/** Webhooks of one project, patterns of events in one webhook, and characters of a URL (the usual limit of servers). */
export const WEBHOOKS_PER_PROJECT_MAX = 10;
export const WEBHOOK_EVENTS_MAX = 32;
export const WEBHOOK_URL_CHARS_MAX = 2_048;
/** Random bytes of a webhook's secret: as many as the signature's digest has. */
export const WEBHOOK_SECRET_BYTES = 32;
/**
 * Deliveries of one webhook that may wait, about 1 kB each. While this many wait, the server sets the delivery of each
 * further event to the state dead at once.
 */
export const WEBHOOK_PENDING_MAX = 10_000;
/**
 * The server repeats failed attempts for this many seconds after the event, because a receiver may be down for a day.
 */
export const WEBHOOK_RETRY_S = 86_400;
/** Seconds before the second attempt. The pause doubles with each attempt, up to WEBHOOK_PAUSE_S_MAX. */
export const WEBHOOK_PAUSE_S_FIRST = 5;
export const WEBHOOK_PAUSE_S_MAX = 3_600;
/** The time in which a receiver must begin its answer, in milliseconds. */
export const WEBHOOK_ANSWER_MS = 10_000;
/** Seconds after which another process takes over a webhook: longer than an attempt can last. */
export const WEBHOOK_LEASE_S = 30;
/** Webhooks to which one process sends at the same time, and how many of them may belong to one tenant. */
export const WEBHOOKS_AT_ONCE = 32;
export const WEBHOOKS_AT_ONCE_EACH = 4;
/** Events that one pass assigns to webhooks. */
export const WEBHOOK_FOLLOW_EVENTS = 500;
/** Seconds for which deliveries are kept after they have ended: the default, and the minimum. */
export const WEBHOOK_RETENTION_S_DEFAULT = 604_800;
export const WEBHOOK_RETENTION_S_MIN = 3_600;
