// The one LISTEN connection of a process. A notification is a hint and never the truth: whatever was missed while the
// connection was down is found by looking, so the caller is told of each new connection.
import { type Connection, openClient } from "./pool.ts";

export type ListenerOptions = {
  readonly channel: string;
  readonly onNotify: (payload: string) => void;
  /** After each new connection but the first: hints may have been missed. */
  readonly onReconnect?: () => void;
  /** Told why a connection ended or could not be made, and what a callback threw. */
  readonly onError?: (error: Error) => void;
  readonly applicationName?: string;
};

export type Listener = {
  /** Settles when the channel is first listened to. Never rejects: until then, and after a break, it keeps trying. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
};

const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5_000;
/** A half-open connection says nothing by itself; this finds it. */
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
        await client.end().catch(() => {}); // It may be broken already, which was reported above.
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
  broken.catch(() => {}); // Seen by the race below, or too late to matter.
  while (!closing.aborted) {
    await Promise.race([broken, pause(PROBE_MS, closing)]);
    if (!closing.aborted) await client.query("select 1");
  }
}

/** Full jitter: after a restart of the database, processes do not come back in step. */
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

/** A callback that throws must not end the process from inside an event handler. */
function guarded(options: ListenerOptions, call: () => void): void {
  try {
    call();
  } catch (error) {
    if (options.onError === undefined) console.error("LISTEN callback failed", error);
    else options.onError(error as Error);
  }
}
