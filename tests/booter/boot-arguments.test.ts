// Tests the kernel arguments and the console that an operator sets for a machine or for a label, and their effect on
// the boot script.
import { afterAll, beforeAll, expect, test } from "vitest";
import { awaitingSetup, newMac, putPolicy, setUp } from "../setup/machine.ts";
import { okOf } from "../support/control-plane.ts";
import {
  ADMIN_NETWORK,
  discover,
  dotted,
  httpAsk,
  openRelay,
  openSite,
  type Relay,
  scriptPath,
  type Site,
} from "./site.ts";

let site: Site;
let relay: Relay;
beforeAll(async () => {
  site = await openSite();
  relay = await openRelay(site);
});
afterAll(async () => {
  relay.close();
  await site.close();
});

/** Boots the machine. Returns the arguments of the kernel's line in its script. */
async function kernelLine(mac: string): Promise<string> {
  const reply = await relay.ask(discover(mac));
  const { text } = await httpAsk(site.booter.ports.http, scriptPath(reply), { from: dotted(reply.yiaddr) });
  return /^kernel \S+\/unix (.*) \|\| goto failed$/m.exec(text)?.[1]?.replace(/,?rabbitmq=[^,]+/, "") ?? text;
}

const put = (mac: string, body: unknown) => site.t.call("PUT", `/v2/cn-boot/${mac}/arguments`, { body });

test("a machine uses its own kernel arguments and console from its next boot on", async () => {
  const mac = newMac();
  expect(await kernelLine(mac)).toBe(`-B admin_nic=${mac},console=text`);
  const body = { kernel_args: ["-v", "disable-mpt=true"], console: { port: "ttyb", speed: 57_600 } };
  expect(okOf(await put(mac, body))).toMatchObject(body);
  expect(await kernelLine(mac)).toBe(
    `-v -B disable-mpt=true,admin_nic=${mac},ttyb-mode="57600,8,n,1,-",console=ttyb`,
  );
  okOf(await put(mac, { kernel_args: [], console: null }));
  expect(await kernelLine(mac)).toBe(`-B admin_nic=${mac},console=text`);
});

test("a node boots with its labels' arguments, then its own arguments; its own console replaces the console of its labels", async () => {
  const machine = await awaitingSetup(site.t);
  const [mac = ""] = machine.macs;
  const label_arguments = [
    { label: "model=r640", kernel_args: ["a=label", "-k"], console: { port: "ttya" } },
    { label: "model=other", kernel_args: ["c=other"], console: { port: "ttyd" } },
  ];
  okOf(await putPolicy(site.t, { admin_network: ADMIN_NETWORK, label_arguments } as object));
  const { server_uuid } = await setUp(site.t, machine);
  expect(await kernelLine(mac)).not.toContain("a=label");
  okOf(await site.t.call("PATCH", `/v1/cns/${server_uuid}/placement`, { body: { labels: { model: "r640" } } }));
  expect(await kernelLine(mac)).toContain(`-k -B a=label,admin_nic=${mac},ttya-mode="115200,8,n,1,-",console=ttya`);
  okOf(await put(mac, { kernel_args: ["a=own"], console: { port: "ttyc", speed: 9_600 } }));
  expect(await kernelLine(mac)).toContain(`-k -B a=own,admin_nic=${mac},ttyc-mode="9600,8,n,1,-",console=ttyc`);

  const shown = okOf(await site.t.call("GET", `/v2/cn-boot/${mac}`));
  expect(shown).toMatchObject({
    kernel_args: ["a=own"],
    boot_arguments: { kernel_args: ["a=label", "-k", "a=own"], console: { port: "ttyc", speed: 9_600 } },
  });

  // The cached record also has the arguments, for boots while the control plane is unreachable.
  okOf(await site.t.call("PUT", `/v2/cn-boot/${mac}/arguments`, { body: { kernel_args: ["z=9"], console: null } }));
  await site.booter.records.refresh();
  site.link.away = true;
  expect(await kernelLine(mac)).toContain("-k -B a=label,z=9,");
  site.link.away = false;
});

test.each([
  [{ kernel_args: ["root_shadow=x"], console: null }, "kernel_args[0]"],
  [{ kernel_args: ["two words"], console: null }, "kernel_args[0]"],
  [{ kernel_args: [], console: { port: "ttyz" } }, "console.port"],
  [{ kernel_args: [], console: { port: "ttya", speed: 1_200 } }, "console.speed"],
  [{ kernel_args: [] }, "console"],
])("arguments %j get 400 with an error that names %s", async (body, field) => {
  const mac = newMac();
  await kernelLine(mac);
  const answer = await put(mac, body);
  expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(field)]);
});

test("arguments of an unknown machine get 404", async () => {
  expect((await put(newMac(), { kernel_args: [], console: null })).status).toBe(404);
});
