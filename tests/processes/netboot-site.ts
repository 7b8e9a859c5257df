// Runs a control plane and a booter as processes. The control plane has the permissions of `task start`.
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect } from "vitest";
import { loopbackConfig } from "../../src/dev/booter-config.ts";
import { startBooter } from "../booter/booter-process.ts";
import { ADMIN_NETWORK, openRelay, SETUP_BLOCK, stageFiles, STAMP } from "../booter/site.ts";
import { freshDatabase } from "../support/database.ts";
import { ROOT_KEY, type ServerProcess, startServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { POLICY } from "../setup/machine.ts";
import { must } from "./client.ts";
import { buildExecutables, executable, run } from "./executables.ts";

/** How long tests wait for an effect of another process. */
export const PATIENCE = { timeout: 30_000 };

export type NetbootSite = Awaited<ReturnType<typeof openNetbootSite>>;

/** Starts both processes. The boot policy admits machines with this service tag. */
export async function openNetbootSite(service_tag: string) {
  const cleanups: Cleanup[] = [];
  try {
    return await openSite(service_tag, cleanups);
  } catch (error) {
    await runAll(cleanups);
    throw error;
  }
}

type Cleanup = () => unknown;

/** Runs the cleanups, the latest first. */
async function runAll(cleanups: Cleanup[]): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

async function openSite(service_tag: string, cleanups: Cleanup[]) {
  await buildExecutables();
  const folder = await temporaryFolder("netboot-process");
  cleanups.push(() => folder.remove());
  const at = (name: string) => join(folder.path, name);
  await stageFiles(folder.path);
  const database = await freshDatabase();
  cleanups.push(() => database.drop());

  async function startControlPlane(port = "0"): Promise<ServerProcess> {
    const env = { DATABASE_URL: database.url, HOST: "127.0.0.1", PORT: port };
    return await startServer({ env, as_task: true });
  }

  let server = await startControlPlane();
  cleanups.push(() => server.kill());

  function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    return must<T>(server.url, { method, path, body });
  }

  async function opsctl(...argv: readonly string[]): Promise<string> {
    const env = {
      HOME: folder.path,
      PATH: process.env.PATH ?? "",
      OPSCTL_ENDPOINT: server.url,
      OPSCTL_API_KEY: ROOT_KEY,
    };
    const { code, out, err } = await run("opsctl", argv, { env });
    if (code !== 0) throw new Error(`opsctl ${argv.join(" ")}: ${code} ${err}`);
    return out;
  }

  await ask("PUT", "/v2/cn-boot-policy", {
    ...POLICY,
    allowlist: [{ kind: "service_tag", value: service_tag }],
    enrollment_pi: STAMP,
    admin_network: ADMIN_NETWORK,
  });
  const key = await ask<{ secret: string }>("POST", "/v1/auth/api-keys", { description: "booter", scope: "booter" });
  await writeFile(at("key"), `${key.secret}\n`);
  await chmod(at("key"), 0o600);
  await writeFile(at("booter.toml"), loopbackConfig(folder.path, { server_url: server.url, more: SETUP_BLOCK }));
  const start = (config: string) => startBooter({ config: at(config), executable: executable("booter") });
  let booter = await start("booter.toml");
  cleanups.push(() => booter.kill());
  let relay = await openRelay({ booter });
  cleanups.push(() => relay.close());

  return {
    /** Returns the path of a file in the site's folder. */
    at,
    database_url: database.url,
    server: () => server,
    booter: () => booter,
    relay: () => relay,
    ask,
    opsctl,
    /** Starts the control plane again on its port, after it was killed. */
    async startServerAgain(): Promise<void> {
      server = await startControlPlane(new URL(server.url).port);
      await expect.poll(() => fetch(`${server.url}/readyz`).then(({ ok }) => ok, () => false), PATIENCE).toBe(true);
    },
    /** Kills the booter and starts it with this configuration file of the site's folder. */
    async restartBooter(config: string): Promise<void> {
      await booter.kill();
      relay.close();
      booter = await start(config);
      relay = await openRelay({ booter });
    },
    close: () => runAll(cleanups),
  };
}
