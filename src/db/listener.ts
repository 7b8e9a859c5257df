// The LISTEN connection of a process. A notification is only a hint. The caller checks for changes after each reconnection,
// because notifications are lost while the connection is down.
import { type Connection, openClient } from "./pool.ts";

export type ListenerOptions = {
  readonly channel: string;
  readonly onNotify: (payload: string) => void;
  /** Called after each connection except the first: hints may have been missed. */
  readonly onReconnect?: () => void;
  /** Receives the reason why a connection ended or failed, and errors that a callback throws. */
  readonly onError?: (error: Error) => void;
  readonly applicationName?: string;
};

export type Listener = {
  /** Resolves at the first LISTEN. Never rejects: before it, and after a break, it retries. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
};

const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5_000;
/** The probe detects a half-open connection, which raises no error by itself. */
const PROBE_MS = 15_000;

export function openListener(url: string, options: ListenerOptions): Listener {
  const closing = new AbortController();
  const ready = Promise.withResolvers<void>();
  const loop = listenUntil(closing.signal, { url, options, onReady: ready.resolve });
  return {
    ready: ready.promise,
    close: async () => {
      closing.abort();
      await loop;
    },
  };
}

type Loop = { readonly url: string; readonly options: ListenerOptions; readonly onReady: () => void };

async function listenUntil(closing: AbortSignal, { url, options, onReady }: Loop): Promise<void> {
  let failures = 0;
  for (let connections = 0; !closing.aborted;) {
    try {
      const client = await openClient({ url, applicationName: options.applicationName ?? "berth-listen" });
      try {
        await subscribe(client, options);
        failures = 0;
        if (connections++ === 0) onReady();
        else guarded(options, () => options.onReconnect?.());
        await untilBroken(client, closing);
      } finally {
        await client.end().catch(() => {}); // A connection that is already broken was reported above.
      }
    } catch (error) {
      if (!closing.aborted) guarded(options, () => options.onError?.(error as Error));
    }
    await pause(retryIn_ms(failures++), closing);
  }
}

async function subscribe(client: Connection, options: ListenerOptions): Promise<void> {
  client.on("notification", ({ payload }) => guarded(options, () => options.onNotify(payload ?? "")));
  await client.query(`listen ${client.escapeIdentifier(options.channel)}`);
}

/** Rejects when the connection broke, resolves when the listener is closed. */
async function untilBroken(client: Connection, closing: AbortSignal): Promise<void> {
  const broken = new Promise<never>((_, reject) => {
    client.once("error", reject);
    client.once("end", () => reject(new Error("Connection terminated")));
  });
  broken.catch(() => {}); // The race below handles it, or it is too late to matter.
  while (!closing.aborted) {
    await Promise.race([broken, pause(PROBE_MS, closing)]);
    if (!closing.aborted) await client.query("select 1");
  }
}

/** Full jitter: after a restart of the database, processes do not reconnect simultaneously. */
function retryIn_ms(failures: number): number {
  return Math.random() * Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.min(failures, 10));
}

function pause(limit_ms: number, closing: AbortSignal): Promise<void> {
  if (closing.aborted) return Promise.resolve();
  return new Promise((wake) => {
    const end = () => {
      clearTimeout(timer);
      closing.removeEventListener("abort", end);
      wake();
    };
    const timer = setTimeout(end, limit_ms);
    closing.addEventListener("abort", end);
  });
}

/** An error in a callback must not end the process from inside an event handler. */
function guarded(options: ListenerOptions, call: () => void): void {
  try {
    call();
  } catch (error) {
    if (options.onError === undefined) console.error("LISTEN callback failed", error);
    else options.onError(error as Error);
  }
}
