// The booter's own numbers, each with its unit in the name and where it comes from. Those of the specification stand in
// src/contract/limits.ts.

/** Our decision: longer than a netboot and a setup run; the record decides again at every renewal. */
export const DHCP_LEASE_S = 3_600;
/** Our decision: how long a verified record answers without another question. Longer than a reading of all records takes
 * on a busy site: otherwise every packet would ask, and make it busier. */
export const RECORD_FRESH_MS = 15_000;
/** Our decision: how often all records are read at least, while that can be; what an operator changes counts from then. */
export const READING_MS = 5_000;
/** Our decision: the shortest pause between two readings of all records. */
export const REFRESH_MS = 2_000;
/** Stock iPXE gives up after about 10 s (1, 2, 4, 8): a kept copy answers well before. */
export const LOOKUP_MS = 1_500;
/** An answer that comes later still serves a machine of which no copy may speak: stock iPXE listens for about 10 s. */
export const LOOKUP_LATE_MS = 8_000;
/** reliability.md B-02: questions to the control plane under way at once. */
export const PENDING_MAX = 1_024;
/** Our decision: how long a kept record speaks while the control plane is away. */
export const CACHE_AGE_HOURS_DEFAULT = 24;
/** Our decision: records kept, more than a site of this size has. */
export const RECORDS_MAX = 100_000;
/** Our decision: a boot script's address is good until the machine's next DISCOVER, and never longer. */
export const TICKET_S = 600;
/** Our decision: machines whose last DISCOVER is remembered. */
export const TRANSACTIONS_MAX = 16_384;
/** iPXE's area for all arguments has 4,096 bytes; past it the machine panics. Measured: 3,500 is safe. */
export const SCRIPT_BYTES_MAX = 3_500;
/** Documents of the control plane that booters read: a whole site's records. */
export const ANSWER_BYTES_MAX = 67_108_864;
/** Our decision: a call to the control plane other than a lookup. */
export const CALL_MS = 15_000;
/** Our decision: how often the folder of platform images is looked at. */
export const STAGED_SCAN_MS = 10_000;
/** reliability.md B-07: connections of the HTTP server, and how long one may take no byte. */
export const HTTP_CONNECTIONS_MAX = 2_048;
export const HTTP_STALLED_MS = 30_000;
/** reliability.md B-05: transfers of all clients together and of one. */
export const TFTP_TRANSFERS_MAX = 512;
export const TFTP_TRANSFERS_PER_CLIENT_MAX = 4;
/** One Ethernet frame without fragments: 1,500 less 20 of IP, 8 of UDP and 4 of TFTP. */
export const TFTP_BLOCK_BYTES_MAX = 1_468;
export const TFTP_WINDOW_BLOCKS_MAX = 16;
/** Our decision: blocks are sent again after this, this often, then the transfer is over. */
export const TFTP_RESEND_MS = 1_000;
export const TFTP_TRIES_MAX = 5;
/** Our decision: firmware that TFTP serves is some hundred kilobytes. */
export const TFTP_FILE_BYTES_MAX = 16_777_216;
/** The real agent's parser refuses larger frames. */
export const AMQP_FRAME_BYTES_MAX = 131_072;
/** Our decision: an inventory has some 100 kB; the setup script less. */
export const AMQP_BODY_BYTES_MAX = 8_388_608;
/** Our decision: bodies under way over all connections of the bus. */
export const AMQP_HELD_BYTES_MAX = 67_108_864;
export const AMQP_HEARTBEAT_S = 30;
/** Our decision: from the first byte to an open connection. */
export const AMQP_LOGIN_MS = 10_000;
export const AMQP_CONNECTIONS_MAX = 4_096;
/** Our decision: queues, bindings and channels of one connection; the agent uses 2, 7 and 3. */
export const AMQP_QUEUES_MAX = 16;
export const AMQP_BINDINGS_MAX = 64;
export const AMQP_CHANNELS_MAX = 16;
/** reliability.md B-06: nested tables. */
export const AMQP_TABLE_DEPTH_MAX = 8;
/** Our decision: messages of one queue that wait for its consumer. */
export const AMQP_QUEUED_MAX = 256;
/** Our decision: how often a waiting machine is announced again, which tells that its setup was approved. */
export const ANNOUNCE_MS = 10_000;
/** Our decision: what the reports of one setup run may carry. */
export const REPORT_BYTES_MAX = 8_192;
