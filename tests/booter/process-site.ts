// A booter process that uses a control plane in this process. For tests that kill the booter or break its network.
import { writeFile } from "node:fs/promises";
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
  close(): Promise<void>;
};

export type ProcessSiteOptions = {
  /** A function that is called before each API call of the booter runs, and again before its answer is sent. */
  readonly watch?: Watch;
  /** Returns the URL that the booter uses instead of the control plane's URL, for example the URL of a proxy. */
  readonly route?: (url: string) => Promise<string>;
};

export async function openProcessSite({ watch, route }: ProcessSiteOptions): Promise<ProcessSite> {
  const folder = await temporaryFolder("booter-process");
  await stageFiles(folder.path);
  const t = await openTestControlPlane();
  okOf(await putPolicy(t, { enrollment_pi: STAMP, admin_network: ADMIN_NETWORK }));
  const socket = await serveControlPlane(t, "127.0.0.1", watch);
  const { secret } = await t.mintKey("booter");
  await writeFile(join(folder.path, "key"), `${secret}\n`, { mode: 0o600 });
  const config = join(folder.path, "booter.toml");
  const server_url = route === undefined ? socket.url : await route(socket.url);
  await writeFile(config, loopbackConfig(folder.path, { server_url, more: SETUP_BLOCK }));
  let booter = await startBooter({ config });
  return {
    t,
    booter: () => booter,
    async restart() {
      booter = await startBooter({ config });
    },
    async close() {
      await booter.kill();
      await socket.close();
      await t.close();
      await folder.remove();
    },
  };
}
