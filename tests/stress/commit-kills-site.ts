// Opens three servers on one database. Each connects through its own proxy, which recognizes commits and kills the
// server during one of them. A killed server is restarted at once.
import { type NetworkProxy, openProxy } from "../support/network-proxy.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import type { Killed } from "../processes/pair.ts";
import { type CommitKiller, createCommitKiller } from "./commit-kills-watch.ts";
import type { Servers } from "./rounds.ts";

export type KillSite = Servers & {
  readonly killer: CommitKiller;
  /** The servers that have been killed during commits. */
  readonly killed: readonly Killed[];
  /** Waits until all killed servers have been restarted. */
  whole(): Promise<void>;
};

type Slot = { readonly network: NetworkProxy; server: ServerProcess; restarting: Promise<void> };

const SERVERS = 3;

export async function openKillSite(database_url: string): Promise<KillSite> {
  const killer = createCommitKiller();
  const killed: Killed[] = [];
  const dead = new Set<ServerProcess>();
  const slots: Slot[] = [];

  async function openSlot(): Promise<void> {
    const url = new URL(database_url);
    const network = await openProxy({ target_port: Number(url.port), watch: killer.watch(() => kill(slot)) });
    url.port = String(network.port);
    const start = () => startServer({ env: { DATABASE_URL: url.href } });
    const slot: Slot = { network, server: await start(), restarting: Promise.resolve() };
    slots.push(slot);

    function kill(slot: Slot): void {
      const { server } = slot;
      server.signal("SIGKILL");
      dead.add(server);
      killed.push({ url: server.url, at_ms: performance.now() });
      slot.restarting = server.ended.then(start).then((next) => void (slot.server = next));
    }
  }

  // Starts the servers one after the other, because the first server applies the migrations.
  for (let count = 0; count < SERVERS; count += 1) await openSlot();
  const running = () => slots.map(({ server }) => server).filter((server) => server.isRunning() && !dead.has(server));
  const whole = () => Promise.all(slots.map(({ restarting }) => restarting)).then(() => {});
  return {
    killer,
    killed,
    whole,
    urls: () => running().map(({ url }) => url),
    ended: () =>
      slots.filter(({ server }) => !server.isRunning() && !dead.has(server))
        .map(({ server }) => `a server ended without being killed: ${server.log()}`),
    async end() {
      await whole();
      await Promise.all(slots.map(({ server }) => server.kill()));
      await Promise.all(slots.map(({ network }) => network.close()));
    },
  };
}
