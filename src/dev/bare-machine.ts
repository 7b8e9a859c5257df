// Simulates a bare machine. The simulation calls the API as a booter does for a real machine. It reports that the
// machine was seen, announces the hardware, and reports a setup when the setup is approved.
import { bareSysinfo } from "./bare-sysinfo.ts";

export type BareMachine = {
  readonly server_uuid: string;
  readonly hostname: string;
  readonly mac: string;
  /** Reports the booter's platform images. */
  stage(stamps: readonly string[]): Promise<unknown>;
  /** Reports that the machine was seen, and returns its boot record. */
  seen(): Promise<{ readonly state: string; readonly address: string | null }>;
  announce(): Promise<unknown>;
  /**
   * Repeats the request for the setup bundle until the setup is approved. Then reports each step and the end, as the
   * setup script does.
   */
  installWhenApproved(): Promise<unknown>;
};

export type BareMachineOptions = {
  readonly endpoint: string;
  /** A key of scope booter. */
  readonly booterKey: string;
  readonly server_uuid: string;
  readonly hostname: string;
  readonly mac: string;
};

const BUNDLE_RETRY_MS = 200;
const BUNDLE_TRIES_MAX = 100;

/** The setup steps that are reported, in order (docs/nodes.md, "Setup on the node"). */
const STEPS = ["clock", "verify_images", "disk_layout", "create_pool", "datasets", "boot_tree", "agent"] as const;

export function bareMachine(options: BareMachineOptions): BareMachine {
  const { endpoint, booterKey, server_uuid, hostname, mac } = options;

  async function call(path: string, body?: unknown, method = "POST"): Promise<Record<string, unknown>> {
    const { ok, status, answer } = await tryCall(path, body, method);
    if (!ok) throw new Error(`${method} ${path}: ${status} ${answer["message"]}`);
    return answer;
  }

  async function tryCall(path: string, body?: unknown, method = "POST") {
    const response = await fetch(`${endpoint}${path}`, {
      method,
      headers: { authorization: `Bearer ${booterKey}`, "content-type": "application/json" },
      body: JSON.stringify(body ?? {}),
    });
    const answer: Record<string, unknown> = await response.json();
    return { ok: response.ok, status: response.status, answer };
  }

  async function bundle(): Promise<Record<string, unknown>> {
    for (let tries = 0; tries < BUNDLE_TRIES_MAX; tries += 1) {
      const { ok, answer } = await tryCall(`/v2/booter/cns/${server_uuid}/bundle`);
      if (ok) return answer;
      await new Promise((wake) => setTimeout(wake, BUNDLE_RETRY_MS));
    }
    throw new Error("no setup was approved");
  }

  return {
    server_uuid,
    hostname,
    mac,
    stage: (stamps) => call("/v2/platform-images", { stamps }, "PUT"),
    seen: async () => await call("/v2/booter/seen", { mac, client: { arch: 7 } }) as { state: string; address: string },
    announce: () =>
      call("/v2/booter/announce", {
        server_uuid,
        hostname,
        sysinfo: bareSysinfo({ server_uuid, hostname, mac, serial_number: "LAB0001" }),
      }),
    installWhenApproved: async () => {
      const { epoch } = await bundle();
      for (const [index, step] of STEPS.entries()) {
        const percent = Math.round((100 * (index + 1)) / STEPS.length);
        await call(`/v2/booter/cns/${server_uuid}/setup-progress`, { epoch, step, percent });
      }
      return await call(`/v2/booter/cns/${server_uuid}/setup-complete`, { epoch });
    },
  };
}
