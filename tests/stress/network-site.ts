// Opens two servers on one PostgreSQL. Each connects through its own proxy, which can simulate network failures.
import { type CommitCutter, createCommitCutter } from "../support/commit-cutter.ts";
import { type NetworkProxy, openProxy } from "../support/network-proxy.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";

export type Place = { readonly server: ServerProcess; readonly network: NetworkProxy; readonly cutter: CommitCutter };

export type NetworkSite = {
  readonly places: readonly [Place, Place];
  urls(): readonly string[];
  close(): Promise<void>;
};

export async function openNetworkSite(database_url: string): Promise<NetworkSite> {
  // Starts the servers one after the other, because the first server applies the migrations.
  const places = [await openPlace(database_url), await openPlace(database_url)] as const;
  return {
    places,
    urls: () => places.map(({ server }) => server.url),
    async close() {
      await Promise.all(places.map(({ server }) => server.kill()));
      await Promise.all(places.map(({ network }) => network.close()));
    },
  };
}

async function openPlace(database_url: string): Promise<Place> {
  const cutter = createCommitCutter();
  const url = new URL(database_url);
  const network = await openProxy({ target_port: Number(url.port), watch: cutter.watch });
  url.port = String(network.port);
  return { server: await startServer({ env: { DATABASE_URL: url.href } }), network, cutter };
}
