// Keeps the connection on which a process runs LISTEN. A notification is only a hint: notifications are lost while the
// connection is down, so the caller must check for changes after each reconnection.
import { type Connection, openClient } from "./pool.ts";

export type ListenerOptions = {
  readonly channel: string;
  readonly onNotify: (payload: string) => void;
  /** Called after each reconnection, because hints may have been lost. */
  readonly onReconnect?: () => void;
  /** Receives the reason why a connection ended or failed, and errors that a callback throws. */
  readonly onError?: (error: Error) => void;
  readonly applicationName?: string;
};

export type Listener = {
  /** Resolves when the first LISTEN has succeeded. Never rejects, because failed and broken connections are retried. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
};

const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5_000;
/** The interval of a `select 1`, which detects a half-open connection; such a connection raises no error by itself. */
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
        await client.end().catch(() => {}); // The error of a broken connection is reported below.
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
  broken.catch(() => {}); // The race below handles the error. After the last race, the error no longer matters.
  while (!closing.aborted) {
    await Promise.race([broken, pause(PROBE_MS, closing)]);
    if (!closing.aborted) await client.query("select 1");
  }
}

/**
 * Returns a delay between 0 and the backoff (full jitter), so that processes do not all reconnect at the same time
 * after a database restart.
 */
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

/** Calls a callback and reports its error: an error thrown inside an event handler would end the process. */
function guarded(options: ListenerOptions, call: () => void): void {
  try {
    call();
  } catch (error) {
    if (options.onError === undefined) console.error("LISTEN callback failed", error);
    else options.onError(error as Error);
  }
}
