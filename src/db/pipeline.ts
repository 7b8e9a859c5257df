// Makes a connection send each statement without waiting for the answers to earlier statements. PostgreSQL answers in
// order. Statements of one turn of the event loop leave in one packet, because a system call costs more than a short
// statement.
import type { Rows } from "./pool.ts";

/** The part of the driver's connection that this file uses. It must have been opened with `pipeline: true`. */
export type PipelineClient = {
  query(statement: string | Statement): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null }>;
  once(event: "end", listener: () => void): unknown;
  end(): Promise<void>;
  readonly connection: { readonly stream: { cork(): void; uncork(): void } };
};

type Statement = { readonly name?: string; readonly text: string; readonly values: unknown[] };

export type Pipeline = {
  /**
   * Runs a statement. If `prepares` is true and fewer than PREPARED_MAX statements are prepared, prepares it at its
   * first use. Rejects with the same errors as the pool; the connection stays usable after SQL errors.
   */
  query<R>(sql: string, params: readonly unknown[]): Promise<Rows<R>>;
  /** Number of statements that were sent and not answered. */
  running(): number;
  /** Number of statements that were sent since the connection was opened. */
  sent(): number;
  /** Resolves when the connection has ended for any reason. */
  readonly ended: Promise<void>;
  /** Closes the connection after the running statements. Later calls return the same promise. */
  close(): Promise<void>;
};

/**
 * The maximum number of different statements that are prepared. The code has fewer statements; the limit protects the
 * server's memory.
 */
const PREPARED_MAX = 400;

export function openPipeline(client: PipelineClient, { prepares }: { readonly prepares: boolean }): Pipeline {
  const names = new Map<string, string>();
  const { stream } = client.connection;
  let running = 0;
  let sent = 0;
  let isCorked = false;
  let closing: Promise<void> | undefined;

  function nameOf(sql: string): string | undefined {
    if (!prepares) return undefined;
    const known = names.get(sql);
    if (known !== undefined || names.size === PREPARED_MAX) return known;
    const name = `read_${names.size}`;
    names.set(sql, name);
    return name;
  }

  function holdPackets(): void {
    if (isCorked) return;
    isCorked = true;
    stream.cork();
    setImmediate(() => {
      isCorked = false;
      stream.uncork();
    });
  }

  return {
    async query<R>(text: string, params: readonly unknown[]) {
      running += 1;
      sent += 1;
      holdPackets();
      const name = nameOf(text);
      try {
        const { rows, rowCount } = await client.query({ ...(name && { name }), text, values: [...params] });
        return { rows: rows as R[], rowCount: rowCount ?? 0 };
      } finally {
        running -= 1;
      }
    },
    running: () => running,
    sent: () => sent,
    ended: new Promise((resolve) => client.once("end", resolve)),
    close: () => closing ??= client.end(),
  };
}
