// Finds the database server that accepts writes (the primary), when DATABASE_URL names several servers. A failover
// makes another server the primary. New connections go to the server that the latest search found, and before the first
// search to the first server. When a connection fails, the process searches again.
import { isConnectionError } from "./sql-error.ts";

export type Primary = {
  /** The URL of the server for new connections. */
  current(): string;
  /**
   * Opens a connection to the current server. If that fails, and another server accepts writes, opens a connection to
   * the other server.
   */
  open<T>(connect: () => Promise<T>): Promise<T>;
};

/**
 * The pause between two searches for the primary. During a failover every request fails to connect. Without the pause,
 * each of them would start a search.
 */
const SEARCH_PAUSE_MS = 200;

/** `probe` resolves if the server at a URL accepts writes, and rejects otherwise. */
export function createPrimary(urls: readonly [string, ...string[]], probe: (url: string) => Promise<void>): Primary {
  let current = urls[0];
  let searching: Promise<void> | null = null;

  async function search(): Promise<void> {
    try {
      current = await Promise.any(urls.map((url) => probe(url).then(() => url)));
    } catch {
      // No server accepts writes now. The caller reports why its own connection failed.
    }
    setTimeout(() => searching = null, SEARCH_PAUSE_MS);
  }

  return {
    current: () => current,
    open: async (connect) => {
      const tried = current;
      try {
        return await connect();
      } catch (error) {
        if (urls.length === 1 || !isConnectionError(error)) throw error;
        if (current === tried) await (searching ??= search());
        if (current === tried) throw error;
      }
      return await connect();
    },
  };
}
