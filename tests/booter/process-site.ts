// A booter process with the control plane of this process, for tests that kill the booter or break its network.
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
  /** Returns the running booter, which is another one after `restart`. */
  booter(): BooterProcess;
  /** Starts the booter again with the same state, after it was killed. */
  restart(): Promise<void>;
  close(): Promise<void>;
};

export type ProcessSiteOptions = {
  /** Called before each API call of the booter and before its answer. */
  readonly watch?: Watch;
  /** Returns the URL that the booter uses instead of the control plane's, for example a proxy's. */
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
