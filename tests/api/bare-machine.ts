// Creates nodes that a booter announced, for tests that need nodes set up by netboot.
import { randomUUID } from "node:crypto";
import { okOf, type TestControlPlane } from "../support/control-plane.ts";

/** Creates a node that awaits setup, or a node whose setup was approved. Its port, if any, has this `mac`. */
export async function bareMachine(
  t: TestControlPlane,
  state: "awaiting_setup" | "setting_up",
  mac?: string,
): Promise<string> {
  const server_uuid = randomUUID();
  const port = mac === undefined ? {} : { "Network Interfaces": { net0: { "MAC Address": mac } } };
  const sysinfo = { Disks: { c0t0d0: { "Size in GB": 600 } }, ...port };
  okOf(await t.call("POST", "/v2/booter/announce", { body: { server_uuid, hostname: "bare", sysinfo } }));
  if (state === "setting_up") {
    okOf(await t.call("POST", `/v1/cns/${server_uuid}/approve-setup`, { body: { disk_layout: "single" } }));
  }
  return server_uuid;
}
