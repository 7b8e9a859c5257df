// Every number of the specification, once, with its unit in the name and the document it comes from.

/** Document 2, Limits: a claim code lives one hour from minting. */
export const CLAIM_CODE_TTL_S = 3_600;
/** Document 4, Fixed here, Enrolment claims: live claims of one server_uuid. */
export const CLAIMS_PER_NODE_MAX = 4;
/** Our decision: claims of one source address (an IPv4 address or an IPv6 /64): two racks of 1,000 nodes behind one address. */
export const CLAIMS_PER_SOURCE_MAX = 2_000;
/** Our decision: claims of the site, twice the nodes that one site may have. */
export const CLAIMS_PER_SITE_MAX = 20_000;
/** Our decision: those two, by the names under which claims are counted. */
export const CLAIM_QUOTAS = { site_max: CLAIMS_PER_SITE_MAX, source_max: CLAIMS_PER_SOURCE_MAX } as const;
/** Our decision: pending records that only anonymous registrations made. Half of what a list without `limit` may walk. */
export const UNPROVEN_NODES_MAX = 5_000;
/** Our decision: sysinfo of a registration without proof, in bytes of its JSON. An inventory of a large machine has half. */
export const CLAIM_SYSINFO_BYTES_MAX = 65_536;
/** Our decision: nodes of a page that brings their sysinfo, which may be 1 MiB each. */
export const CN_SYSINFO_PAGE_ROWS_MAX = 50;
/** Document 2, Claim code: six characters of Crockford base32. */
export const CLAIM_CODE_CHARS = 6;
/** Document 4, 1.2: how often a colliding code is drawn again before the call fails. */
export const CLAIM_CODE_TRIES_MAX = 16;
/** Document 2, Limits: how long an agent waits for approval. */
export const AGENT_APPROVAL_WAIT_S = 3_600;
/** Document 2, Limits: setup has this long from approved_at. */
export const SETUP_LIMIT_MS = 45 * 60 * 1_000;
/** Document 2, Limits: an auto-approve window is clamped to this. */
export const AUTO_APPROVE_SECS_MAX = 86_400;
/** Document 2, Limits: hostname, an RFC 1123 label. */
export const HOSTNAME_CHARS_MAX = 63;
/** Document 4, 0.1: body size cap. */
export const BODY_BYTES_MAX = 1_048_576;
/** Document 4, 1.3: how long GET /v1/agent/register/status is held. */
export const REGISTER_STATUS_HOLD_MS = 30_000;
/** Architecture, 5: the hold on a host that stops idle processes. */
export const REGISTER_STATUS_HOLD_SHORT_MS = 20_000;
/** Document 4, 1.2: 16 random bytes as 32 hex characters. */
export const POLL_TOKEN_BYTES = 16;
/** Document 4, 1.4: console ticket, metadata token and migrate ticket keys. */
export const TICKET_KEY_BYTES = 32;
/** Document 4, Fixed here, Credentials at rest: the lookup id and the secret of an API key, in characters. */
export const KEY_LOOKUP_CHARS = 12;
export const KEY_SECRET_CHARS = 32;
/** Document 4, Fixed here, Approval rate limit; section 8: burst 10. */
export const APPROVE_PER_MINUTE_DEFAULT = 10;
/**
 * Registrations a minute from one address. Document 4, section 8, suggests 30; a whole rack behind one address registers
 * when its power returns, so it is set where a rack is not slowed and a flood still is.
 */
export const REGISTER_PER_MINUTE_DEFAULT = 1_200;
/** reliability.md S-07: failed approvals by known callers, over the whole site, so that codes cannot be guessed from many addresses. */
export const APPROVE_FAILURES_PER_HOUR = 300;
/** Document 4, 0.2: an unpaged list walks at most this many rows. */
export const SCAN_ROWS_MAX = 10_000;
/** Document 4, Fixed here, Lists: `limit` on a paged list. */
export const PAGE_ROWS_MAX = 1_000;
/** Document 4, 6: audit list default and maximum. */
export const AUDIT_PAGE_ROWS_DEFAULT = 100;
export const AUDIT_PAGE_ROWS_MAX = 1_000;
/** Document 4, 3.4: operations list default and maximum. */
export const OPERATION_PAGE_ROWS_DEFAULT = 50;
export const OPERATION_PAGE_ROWS_MAX = 200;
/** Document 4, Fixed here, Idempotency-Key: 1 to 255 printable characters, kept for 24 hours (3.5). */
export const IDEMPOTENCY_KEY_CHARS_MAX = 255;
export const SEEN_RETENTION_HOURS = 24;
/** Document 4, 1.6: the node agent's timers. */
export const AGENT_HEARTBEAT_MS = 5_000;
export const AGENT_STATUS_FULL_MS = 60_000;
export const AGENT_CAPACITY_MS = 30_000;
/** Document 4, 1.3: agent retry while pending and after a transport error. */
export const AGENT_PENDING_RETRY_MS = 1_000;
export const AGENT_ERROR_RETRY_MS = 5_000;
/** Document 4, 9.1: a node counts as live when it was seen this recently. */
export const CN_LIVE_S = 60;
/** Document 2, CnReservoirView: cluster defaults. The percent is a fraction of physical memory. */
export const RESERVOIR_ENABLED_DEFAULT = true;
export const RESERVOIR_PERCENT_DEFAULT = 0.80;
/** Document 4, 3.1: terminal operations are kept 30 days. */
export const SAGA_RETENTION_S_DEFAULT = 2_592_000;
/** reliability.md S-28: JSON depth and elements of one body. */
export const JSON_DEPTH_MAX = 64;
export const JSON_ELEMENTS_MAX = 10_000;
/** reliability.md S-36: edge limits. */
export const HEADERS_READ_MS = 10_000;
export const BODY_READ_MS = 30_000;
export const IDLE_SOCKET_MS = 60_000;
export const HEADER_BYTES_MAX = 32_768;
export const URI_BYTES_MAX = 8_192;
/** reliability.md S-36: header lines of one request. */
export const HEADER_LINES_MAX = 100;
/** Our decision: open connections of one process, unless it is told another number. A node agent has two. */
export const CONNECTIONS_MAX = 15_000;
/** Document 4, 1.6: how often the agent looks whether its status changed. */
export const AGENT_STATUS_CHECK_MS = 500;
/** Our decision: how often the agent reads its effective configuration. */
export const AGENT_CONFIG_MS = 60_000;
/** Our decision: the longest `wait=` of GET /v1/operations/{id}, below the idle limit of common proxies. */
export const OPERATION_WAIT_S_MAX = 20;
/** Document 2, Errors: a failure report is at most this long, in UTF-8. */
export const FAILURE_REPORT_BYTES_MAX = 512;
/** Document 2, Limits: service_tag allowlist value. */
export const SERVICE_TAG_CHARS_MAX = 64;
/** Document 4, Fixed here, Traits (1.17): keys and values. */
export const TRAIT_BYTES_MAX = 63;
/** Our decision: network ports of one machine that take part in netboot. */
export const MACS_PER_NODE_MAX = 64;
/** Our decision: machines one roster declares. */
export const ROSTER_ENTRIES_MAX = 10_000;
/** Our decision: a boot script's argument area is 4,096 bytes in all (booter facts, 0.6). */
export const KERNEL_ARGS_MAX = 32;
/** RFC 4632: the longest text of an IPv4 block, 255.255.255.255/32. */
export const CIDR_TEXT_CHARS_MAX = 18;
/** Document 4, Fixed here, Staged platform images: a stamp. */
export const STAMP_CHARS_MAX = 64;
/** reliability.md S-22: one kernel argument. */
export const KERNEL_ARGUMENT_CHARS_MAX = 256;
/** The sha512-crypt definition: rounds when a hash names none, and the part of a salt that counts. */
export const CRYPT_ROUNDS = 5_000;
export const CRYPT_SALT_CHARS_MAX = 16;
/** Our decision: what common crypt libraries take; the cost grows with the length. */
export const CRYPT_PASSWORD_BYTES_MAX = 511;
/** Our decision: shorter RSA keys are within reach of breaking; OpenSSH takes none longer than the maximum. */
export const RSA_BITS_MIN = 2_048;
export const RSA_BITS_MAX = 16_384;
/** Our decision: room for the longest RSA key and a comment. */
export const OPENSSH_KEY_CHARS_MAX = 8_192;

/** Document 3, Limits: resource name. */
export const RESOURCE_NAME_BYTES_MAX = 63;
/** Our decision: a description is a sentence or two. */
export const DESCRIPTION_CHARS_MAX = 4_096;
/** Document 3, Limits: firewall priority. */
export const FIREWALL_PRIORITY_MAX = 65_535;
export const PORT_MAX = 65_535;
export const ICMP_NUMBER_MAX = 255;
/** Document 4, Fixed here, VNI: 24 bits, those below are reserved; section 5: tries before the create fails. */
export const VNI_MIN = 4_096;
export const VNI_MAX = 16_777_215;
export const VNI_TRIES_MAX = 8;
/** Document 4, section 5: a subnet keeps its network address, its gateway and, in IPv4, its broadcast address. */
export const SUBNET_ADDRESSES_KEPT = 2;
/** Our decision: the numbers of a pool end where JavaScript and JSON are exact, which no subnet of IPv6 will ever reach. */
export const POOL_OFFSET_MAX = 2 ** 53 - 1;
/** Document 3, Limits: the blocks of the fixed public pools. */
export const PUBLIC_BLOCKS = { v4: "203.0.113.0/24", v6: "2001:db8::/48" } as const;
/** Our decision: silos that an external network is kept for, and networks that one pool lists. */
export const OWNER_SILOS_MAX = 1_000;
export const POOL_NETWORKS_MAX = 64;
/** Document 4, 2.3: life of the tokens of a session. */
export const ACCESS_TOKEN_TTL_S = 900;
export const REFRESH_TOKEN_TTL_S = 86_400;
/** Our decision: how long the refresh token before the last one is answered once more, for a client that lost the answer. */
export const REFRESH_REPEAT_S = 60;
/** Document 4, section 8: logins from one address; burst 10. */
export const LOGIN_PER_MINUTE = 10;
/**
 * Our decision: failed attempts at the password of one account, from all addresses together; burst 10. Ten a minute leave
 * somebody who mistypes alone, and a guesser with many addresses 14,400 guesses a day.
 */
export const LOGIN_ACCOUNT_PER_MINUTE = 10;
/** Document 4, 2.3: an issuer's key set is read again after this. */
export const JWKS_CACHE_S = 300;
/** Our decision, after NIST SP 800-63B, 5.1.1.2 asks for at least 8 characters and room for long ones. */
export const PASSWORD_CHARS_MIN = 8;
export const PASSWORD_CHARS_MAX = 1_024;
export const USERNAME_CHARS_MAX = 63;
/** IEEE 802.3 and what IPv6 needs at least (RFC 8200, 5): MTU of a NIC tag. */
export const MTU_MIN = 1_280;
export const MTU_MAX = 9_216;
export const VLAN_ID_MAX = 4_094;
/** Our decision: a token of an issuer, in characters; request headers end at 32 KiB (reliability.md S-36). */
export const TOKEN_CHARS_MAX = 8_192;
/** RFC 7519, 4.1.5: how far an issuer's clock may be ahead of ours before its new tokens are refused. */
export const TOKEN_LEEWAY_S = 30;
/** OpenID Connect Core, 2, the definition of sub: at most 255 ASCII characters. */
export const SUBJECT_CHARS_MAX = 255;
/** Our decision: a token that names an unknown key makes us read an issuer's keys again at most this often. */
export const JWKS_COOLDOWN_S = 30;
/** Our decision: networks in `fetch.allowed_private`; more is a mistake, and every fetch compares with each. */
export const FETCH_RANGES_MAX = 100;
/** Our decision: how long an issuer may take, how much it may say, and how long it is left alone when it fails. */
export const ISSUER_ANSWER_MS = 5_000;
export const ISSUER_BYTES_MAX = 262_144;
export const ISSUER_PAUSE_S = 5;
/** Our decision: os and version of an image, the architecture it fits, and the address it comes from. */
export const IMAGE_TEXT_CHARS_MAX = 255;
export const IMAGE_ARCH_CHARS_MAX = 63;
export const IMAGE_URL_CHARS_MAX = 2_048;
/** Document 3, Limits: boot disk size and resize target; boot disk floor of bhyve images. */
export const DISK_BYTES_MAX = 16 * 2 ** 40;
export const BHYVE_BOOT_DISK_BYTES_MIN = 20 * 2 ** 30;
/** Document 4, 1.10: user data of an instance. */
export const USER_DATA_BYTES_MAX = 64 * 1_024;
/** Document 3, Limits: how long a create waits. */
export const INSTANCE_CREATE_WAIT_S = 600;
/** Document 4, section 4.1: a vCPU is this many units. */
export const CPU_UNITS_PER_VCPU = 100;
/** Document 4, section 4.2: overprovision defaults, as factors of what a node has. */
export const OVERPROVISION_CPU = 4;
export const OVERPROVISION_RAM = 1;
export const OVERPROVISION_DISK = 1;
/** Document 4, 1.8: a job whose lease was not renewed for this long has failed. */
export const JOB_LEASE_S = 600;
/** Our decision: what one instance can have. */
export const EXTRA_NICS_MAX = 31;
export const SSH_KEYS_OF_INSTANCE_MAX = 100;
/** Our decision: a job's reason is a line or two. */
export const JOB_REASON_CHARS_MAX = 2_048;
/** Our decision: nodes that one create tries in one commit, best first. */
export const PLACEMENT_CANDIDATES_MAX = 8;
/** Our decision: how often a create picks again when its candidates filled up under it, the first time included. */
export const PLACEMENT_TRIES_MAX = 10;
/** Our decision: the largest overprovision factor; document 4, 4.2, has 4.0 as the default for CPU. */
export const OVERPROVISION_MAX = 64;
/** Document 4, section 4.2, cn-time-synced. */
export const TSC_OFFSET_NS_MAX = 100_000_000;
/** Document 4, section 4.1: disks of instances stand in this pool. Our decision: what one explain request can list. */
export const INSTANCE_POOL = "zones";
export const EXPLAIN_LIST_MAX = 1_000;
/** Document 4, 1.6: how often an agent looks for work, and our decision how long a claim is held meanwhile. */
export const AGENT_JOB_POLL_MS = 5_000;
export const CLAIM_WAIT_S_MAX = 30;
/** Our decision: bytes of images that a node keeps although nothing on it uses them. */
export const IMAGE_CACHE_BYTES_DEFAULT = 64 * 2 ** 30;
/** Our decision: jobs that one agent can have in hand, and tombstones that one answer brings. */
export const RUNNING_JOBS_MAX = 1_000;
export const TOMBSTONES_PER_CLAIM = 100;
/** Our decision: the name of a step of a job. */
export const JOB_STEP_CHARS_MAX = 255;
/** Our decision: how long an operation waits for a node before it is stuck, where nobody holds a request for it. */
export const NODE_WAIT_MS = 24 * 60 * 60 * 1_000;
/** Our decision: what an answer takes longer than the node's own limit, to undo and to commit. */
export const OPERATION_GRACE_MS = 10_000;
/** Our decision: how often the certificate's files are read again. A renewal comes days before the old one ends. */
export const TLS_FILES_READ_MS = 5_000;
/**
 * Our decision: a session ends this long after its login, however often it is refreshed, so that a copied refresh token is
 * not good for ever. A week: people log in again once a week; a day without a refresh ends it anyway.
 */
export const SESSION_LIFETIME_S_DEFAULT = 7 * 24 * 60 * 60;
/** Our decision: sessions of one user; a login beyond it ends the oldest. A person has a few machines, a script logs in often. */
export const SESSIONS_PER_USER_MAX = 50;
/** Our decision: sessions that one login ends. They are written in one unit with it. */
export const SESSIONS_DISPLACED_MAX = 20;
/**
 * Our decision: the first denial of a caller and an action is audited at once, those that follow as one sum in this many
 * seconds. Short enough to see an attack while it runs.
 */
export const DENIAL_WINDOW_S = 60;
/**
 * Our decision: requests a minute of one caller (a tenant with all its keys and users, an operator, a node) at one process,
 * and how many of them may write. A node sends about 30 a minute, a booter has ten times as much. A refused write is kept
 * for a day, so the second number bounds what one caller stores: 1.7 million short rows.
 */
export const CALLER_REQUESTS_PER_MINUTE = 6_000;
export const CALLER_WRITES_PER_MINUTE = 1_200;
/** Our decision: how often a process reads these two rates again. */
export const RATES_READ_MS = 5_000;
/**
 * Our decision: memory for unfinished bodies, by declared length, of callers whose credential was checked and of all others,
 * and the share of one caller and of one address (IPv4, or the /64 of IPv6). A rack that registers at once sends some
 * hundred kilobytes.
 */
export const BODIES_KNOWN_BYTES = 80 * 2 ** 20;
export const BODIES_KNOWN_EACH_BYTES = 16 * 2 ** 20;
export const BODIES_STRANGER_BYTES = 48 * 2 ** 20;
export const BODIES_STRANGER_EACH_BYTES = 12 * 2 ** 20;
/** Our decision: what an unfinished body counts at least, about what its request takes in memory. */
export const BODY_WEIGHT_MIN_BYTES = 4_096;
/** Our decision: how long the body of a stranger may take; a megabyte at 100 kB/s. */
export const BODY_READ_STRANGER_MS = 10_000;
/** Our decision: a credential that was checked from the headers is checked again if the body came later than this. */
export const CREDENTIAL_FRESH_MS = 250;
/** Our decision: parts of the open connections that strangers have in all, and that one address of strangers has. */
export const CONNECTIONS_STRANGERS = 2 / 3;
export const CONNECTIONS_STRANGER_EACH = 1 / 2;
/** Our decision: part of the open connections that one known caller has. */
export const CONNECTIONS_KNOWN_EACH = 1 / 4;
/** Our decision: requests that are held: of strangers in all and of one address, and of one known caller. */
export const HELD_STRANGERS_MAX = 12_000;
export const HELD_STRANGER_EACH_MAX = 6_000;
export const HELD_KNOWN_EACH_MAX = 1_000;
