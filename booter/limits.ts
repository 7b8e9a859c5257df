// Defines the booter's own limits, each with its unit and its reason. Limits of the API are in src/contract/limits.ts.

/** The DHCP lease time: longer than a netboot and a setup run. Every renewal checks the record again. */
export const DHCP_LEASE_S = 3_600;
/**
 * How long a verified record is used without a new lookup. A reading of all records must take less time than this
 * limit, even on a busy site: otherwise every packet would cause a lookup and increase the load.
 */
export const RECORD_FRESH_MS = 15_000;
/** The booter tries to read all records at least this often, so that operators' changes take effect. */
export const READING_MS = 5_000;
/** The shortest pause between two readings of all records, even if a reading takes long. */
export const REFRESH_MS = 2_000;
/**
 * If a lookup takes longer than this, an enrolled node gets its cached record. Stock iPXE gives up after about 10 s.
 */
export const LOOKUP_MS = 1_500;
/** The time limit of a lookup for all other machines. It is below 10 s, because stock iPXE listens for about 10 s. */
export const LOOKUP_LATE_MS = 8_000;
/** The largest number of lookups at the control plane at the same time. */
export const PENDING_MAX = 1_024;
/** How long a cached record is used while the control plane cannot be reached. */
export const CACHE_AGE_HOURS_DEFAULT = 24;
/**
 * The time after which an unchanged netboot request is reported again, and the largest number of reports that are sent
 * at the same time.
 */
export const REPORT_AGAIN_MS = 600_000;
export const REPORTS_PENDING_MAX = 16;
/** The largest number of cached records, more than any site has. */
export const RECORDS_MAX = 100_000;
/** How long a boot script's URL is valid. The machine's next DISCOVER also makes the URL invalid. */
export const TICKET_S = 600;
/**
 * The largest number of machines whose last DISCOVER is remembered. The lists of leases, reported requests, used
 * scripts and refused setup calls have the same limit.
 */
export const TRANSACTIONS_MAX = 16_384;
/**
 * The longest boot script. iPXE has 4,096 bytes for the arguments of the kernel and of all modules together. The
 * machine panics if the arguments are longer. Boots with scripts of 3,500 bytes succeeded.
 */
export const SCRIPT_BYTES_MAX = 3_500;
/** The largest answer of the control plane that is read. A page of boot records is far shorter. */
export const ANSWER_BYTES_MAX = 67_108_864;
/** The time limit of a call to the control plane other than a lookup. */
export const CALL_MS = 15_000;
/** How often the folder of platform images is scanned. */
export const STAGED_SCAN_MS = 10_000;
/**
 * The largest number of connections of the HTTP server, and the time after which a client that reads nothing is
 * disconnected.
 */
export const HTTP_CONNECTIONS_MAX = 2_048;
export const HTTP_STALLED_MS = 30_000;
/** The largest number of TFTP transfers at the same time, of all clients together and of one client. */
export const TFTP_TRANSFERS_MAX = 512;
export const TFTP_TRANSFERS_PER_CLIENT_MAX = 4;
/**
 * The largest TFTP block and the largest window in blocks. A block fits into one Ethernet frame: 1,500 bytes less 20 of
 * IP, 8 of UDP and 4 of TFTP.
 */
export const TFTP_BLOCK_BYTES_MAX = 1_468;
export const TFTP_WINDOW_BLOCKS_MAX = 16;
/** The pause before unacknowledged blocks are repeated, and the number of tries before the transfer ends. */
export const TFTP_RESEND_MS = 1_000;
export const TFTP_TRIES_MAX = 5;
/** The largest file that the TFTP server sends. Firmware programs have some hundred kilobytes. */
export const TFTP_FILE_BYTES_MAX = 16_777_216;
/** The largest AMQP message. An inventory has about 100 kB; the setup script has less. */
export const AMQP_BODY_BYTES_MAX = 8_388_608;
/**
 * The largest total size of the messages that the AMQP broker keeps, of all machines together and of one connection.
 * Incomplete messages count, too. A connection with more than AMQP_HELD_BYTES_SMALL gets no more memory when half of
 * AMQP_HELD_BYTES_MAX is in use. The other half stays free for the inventories of other machines.
 */
export const AMQP_HELD_BYTES_MAX = 67_108_864;
export const AMQP_HELD_BYTES_PER_CLIENT_MAX = 2 * AMQP_BODY_BYTES_MAX;
export const AMQP_HELD_BYTES_SMALL = 1_048_576;
/**
 * The interval of AMQP heartbeats. A peer that is silent for more than two intervals is disconnected. If a peer asks
 * for no heartbeats, TCP checks the connection after this time without data. Linux ends a dead connection after about
 * 12 min.
 */
export const AMQP_HEARTBEAT_S = 30;
/** The longest time from accepting an AMQP connection until its login has succeeded and the connection is open. */
export const AMQP_LOGIN_MS = 10_000;
/**
 * The largest number of AMQP connections, of all machines together and from one IP address. A machine has one
 * connection, and for a short time several while its agent connects again.
 */
export const AMQP_CONNECTIONS_MAX = 4_096;
export const AMQP_CONNECTIONS_PER_CLIENT_MAX = 4;
/**
 * The limits of one AMQP connection for its queues, bindings, channels and consumers. A machine's agent uses 2 queues,
 * 7 bindings, 3 channels and 2 consumers.
 */
export const AMQP_QUEUES_MAX = 16;
export const AMQP_BINDINGS_MAX = 64;
export const AMQP_CHANNELS_MAX = 16;
export const AMQP_CONSUMERS_MAX = 16;
/** The largest number of messages that wait in one AMQP queue. */
export const AMQP_QUEUED_MAX = 256;
/** The largest number of messages of one AMQP channel that the machine has received and not acknowledged. */
export const AMQP_UNACKED_MAX = 256;
/** The largest number of unsent bytes of one AMQP connection. A machine that reads too slowly is disconnected. */
export const AMQP_UNSENT_BYTES_MAX = 2 * AMQP_BODY_BYTES_MAX;
/**
 * How often the booter announces a waiting machine to the control plane. The answer shows whether the setup of the
 * machine is approved.
 */
export const ANNOUNCE_MS = 10_000;
/**
 * After its start, a machine counts as just started for this time. The time must be shorter than a machine's restart.
 * Otherwise a late announcement of one start could end a setup run that began after the next start.
 */
export const JUST_STARTED_MS = 5_000;
/**
 * The largest number of other booters that a setup script calls. The script waits up to 5 seconds for a connection to
 * each booter, so more booters would delay its calls.
 */
export const PEERS_MAX = 8;
/**
 * A setup script that came from another booter may call this booter, which then looks up the run at the control plane.
 * This is the largest number of such lookups at the same time. A further call fails. The script repeats the call if the
 * setup depends on it.
 */
export const HANDOVERS_PENDING_MAX = 16;
/**
 * After a lookup that found no run for an IP address, the booter refuses calls from this address for this time, without
 * a lookup. A setup script waits 2 seconds before it repeats a refused call.
 */
export const HANDOVER_PAUSE_MS = 1_000;
/** The largest setup report of a machine. */
export const REPORT_BYTES_MAX = 8_192;
