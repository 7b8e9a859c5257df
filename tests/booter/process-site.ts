// Starts a booter process that uses a control plane in this process, for tests that kill the booter or break its
// network.
import { writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { loopbackConfig } from "../../src/dev/booter-config.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { putPolicy } from "../setup/machine.ts";
import { type BooterProcess, serveControlPlane, startBooter, type Watch } from "./booter-process.ts";
import { ADMIN_NETWORK, SETUP_BLOCK, stageFiles, STAMP } from "./site.ts";

export type ProcessSite = {
  readonly t: TestControlPlane;
  /** Returns the running booter. After `restart` it is another process. */
  booter(): BooterProcess;
  /** Starts the booter again with the same state after a kill. */
  restart(): Promise<void>;
  /** Starts another booter, with its own key, files and state. */
  another(): Promise<BooterProcess>;
  close(): Promise<void>;
};

export type ProcessSiteOptions = {
  /** Called before the control plane handles an API call of the booter, and again before it sends the answer. */
  readonly watch?: Watch;
  /** If true, the first booter and the booter that the first `another()` starts are peers of each other. */
  readonly peers?: boolean;
  /**
   * Adds files to a booter's folder. Returns the [ur] block for the booter's configuration; it replaces SETUP_BLOCK.
   */
  readonly setup?: (folder: string) => Promise<string>;
  /** Returns the URL that the booter uses instead of the control plane's URL, for example the URL of a proxy. */
  readonly route?: (url: string) => Promise<string>;
};

export async function openProcessSite({ watch, route, peers, setup }: ProcessSiteOptions): Promise<ProcessSite> {
  const folder = await temporaryFolder("booter-process");
  const t = await openTestControlPlane();
  okOf(await putPolicy(t, { enrollment_pi: STAMP, admin_network: ADMIN_NETWORK }));
  const socket = await serveControlPlane(t, "127.0.0.1", watch);
  const server_url = route === undefined ? socket.url : await route(socket.url);
  const ports = peers === true ? [await freePort(), await freePort()] as const : null;
  /** Writes the key, the files and the configuration of a booter into a folder. */
  async function configured(path: string, number: 0 | 1): Promise<string> {
    await stageFiles(path);
    const block = await setup?.(path) ?? SETUP_BLOCK;
    const { secret } = await t.mintKey("booter");
    await writeFile(join(path, "key"), `${secret}\n`, { mode: 0o600 });
    const config = join(path, "booter.toml");
    const text = loopbackConfig(path, { server_url, more: block });
    await writeFile(config, ports === null ? text : withPeer(text, ports[number], ports[1 - number]!));
    return config;
  }
  const config = await configured(folder.path, 0);
  let booter = await startBooter({ config });
  const others: BooterProcess[] = [];
  return {
    t,
    booter: () => booter,
    async restart() {
      booter = await startBooter({ config });
    },
    async another() {
      others.push(await startBooter({ config: await configured(join(folder.path, `other-${others.length}`), 1) }));
      return others.at(-1)!;
    },
    async close() {
      for (const each of [booter, ...others]) await each.kill();
      await socket.close();
      await t.close();
      await folder.remove();
    },
  };
}

function withPeer(config: string, own: number, peer: number): string {
  return config.replace("[http]\nport = 0", `[http]\nport = ${own}`)
    .replace("[ur]\n", `[ur]\npeers = ["http://127.0.0.1:${peer}"]\n`);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
