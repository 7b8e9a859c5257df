// Boots machines, from the first packet to the boot script, with real sockets and the real control plane.
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { TICKET_S } from "../../booter/limits.ts";
import { okOf } from "../support/control-plane.ts";
import { newMac, POLICY, putPolicy } from "../setup/machine.ts";
import { CLIENTS, REQUEST_TYPE, textOf } from "./packets.ts";
import {
  ADMIN_NETWORK,
  archiveBytes,
  discover,
  dotted,
  httpAsk,
  openRelay,
  openSite,
  programBytes,
  type Relay,
  scriptPath,
  type Site,
  STAMP,
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

/** Sends a DISCOVER as iPXE does. Returns the packet, the reply, the machine's address and its script's path. */
async function offered(mac = newMac()) {
  const asked = discover(mac);
  const reply = await relay.ask(asked);
  return { mac, asked, address: dotted(reply.yiaddr), path: scriptPath(reply), reply };
}

const http = (path: string, from: string, more = {}) => httpAsk(site.booter.ports.http, path, { from, ...more });

test("a new machine enrols and gets an address of the admin network and its own script", async () => {
  const { mac, address, path } = await offered();
  expect(address).toMatch(/^127\.20\./);
  expect(okOf(await site.t.call("GET", `/v2/cn-boot/${mac}`))).toMatchObject({ state: "enrolling", address });
  const script = await http(path, address);
  expect(script.status).toBe(200);
  const login = script.text.match(/rabbitmq=([^:]+):([^:]+):([^:]+):(\d+)/);
  expect(login?.[1]).toBe(mac.replaceAll(":", ""));
  expect(login?.[4]).toBe(String(site.booter.ports.amqp));
  const origin = `http://127.0.0.1:${site.booter.ports.http}`;
  expect(script.text.replace(login![0], "rabbitmq=LOGIN").replaceAll(path.slice("/script/".length), "TICKET")).toBe([
    "#!ipxe",
    ":load",
    "imgfree",
    `kernel ${origin}/os/${STAMP}/platform/i86pc/kernel/amd64/unix -B admin_nic=${mac},console=text,rabbitmq=LOGIN || goto failed`,
    `module ${origin}/os/${STAMP}/platform/i86pc/amd64/boot_archive type=rootfs name=ramdisk || goto failed`,
    `module ${origin}/os/${STAMP}/platform/i86pc/amd64/boot_archive.hash type=hash name=ramdisk || goto failed`,
    `module ${origin}/bootfs/TICKET/networking.json type=file name=networking.json || goto failed`,
    `module ${origin}/bootfs/TICKET/networking.json.hash type=hash name=networking.json || goto failed`,
    "boot",
    ":failed",
    "set tries ${tries}x",
    `iseq \${tries} ${"x".repeat(20)} && exit 1 ||`,
    "sleep 3",
    "goto load",
    "",
  ].join("\n"));
});

test("a machine gets every file of its script by HEAD and by GET, both with the exact Content-Length", async () => {
  const { address, path } = await offered();
  const paths = [path];
  for (let each = paths.shift(), text = ""; each !== undefined; each = paths.shift()) {
    const head = await http(each, address, { method: "HEAD" });
    const got = await http(each, address);
    if (text === "") {
      text = got.text;
      paths.push(...[...text.matchAll(/http:\/\/[^/]+(\/\S+)/g)].map(([, found]) => found!));
      expect(paths).toHaveLength(5);
    }
    expect([head.status, got.status]).toEqual([200, 200]);
    expect(head.headers["content-length"]).toBe(String(got.body.length));
    expect(got.headers["content-length"]).toBe(String(got.body.length));
    expect(head.body).toHaveLength(0);
  }
  expect((await http(`/os/${STAMP}/platform/i86pc/amd64/boot_archive`, address)).body).toEqual(archiveBytes());
});

test("a shim can use backslashes instead of slashes in the path of its second program", async () => {
  const { address } = await offered();
  const names = ["grubx64.efi", "\\\\grubx64.efi", "/\\grubx64.efi", "%5C%5cgrubx64.efi"];
  for (const name of names) expect((await http(`/firmware/${name}`, address)).status).toBe(404);
  await writeFile(join(site.folder, "files/grubx64.efi"), "the second program");
  await site.restart();
  const { address: again } = await offered();
  for (const name of names) expect((await http(`/firmware/${name}`, again)).text).toBe("the second program");
  for (const name of ["../key", "\\..\\key", "x/grubx64.efi"]) {
    expect((await http(`/firmware/${name}`, again)).status).toBe(404);
  }
});

test("a requested range of a platform image is served", async () => {
  const { address } = await offered();
  const path = `/os/${STAMP}/platform/i86pc/amd64/boot_archive`;
  const bytes = archiveBytes();
  const part = await http(path, address, { headers: { range: "bytes=1000-1999" } });
  expect([part.status, part.headers["content-range"]]).toEqual([206, `bytes 1000-1999/${bytes.length}`]);
  expect(part.body).toEqual(bytes.subarray(1_000, 2_000));
  expect((await http(path, address, { headers: { range: "bytes=-5" } })).body).toEqual(bytes.subarray(-5));
  const outside = await http(path, address, { headers: { range: `bytes=${bytes.length}-` } });
  expect([outside.status, outside.headers["content-range"]]).toEqual([416, `bytes */${bytes.length}`]);
});

describe("S-21: a boot script", () => {
  test("is served only to its machine's address", async () => {
    const { path } = await offered();
    const other = await offered();
    expect((await http(path, other.address)).status).toBe(404);
    expect((await http(path, "127.0.0.1")).status).toBe(404);
  });

  test("is served only until the machine's next DISCOVER", async () => {
    const { mac, address, path } = await offered();
    const again = await offered(mac);
    expect((await http(path, address)).status).toBe(404);
    expect((await http(again.path, address)).status).toBe(200);
  });

  test("is not served if one character of the ticket in its path is changed", async () => {
    const { address, path } = await offered();
    const flip = (at: number) => path.slice(0, at) + (path[at] === "0" ? "1" : "0") + path.slice(at + 1);
    for (let at = "/script/".length; at < path.length; at++) {
      if (path[at] !== ".") expect((await http(flip(at), address)).status).toBe(404);
    }
  });

  const refusals = (reason: string) => site.booter.counters.valueOf("http_refused_total", { reason });
  const alarms = (reason: string, mac: string) =>
    site.log.filter(({ event, fields }) => event === "http.refused" && fields.reason === reason && fields.mac === mac);

  test("is served once, and until the next DISCOVER further GET and HEAD requests get 404 and raise an alarm", async () => {
    const { mac, address, path } = await offered();
    expect((await http(path, address, { method: "HEAD" })).status).toBe(200);
    const [first, ...rest] = await Promise.all([1, 2, 3].map(() => http(path, address)));
    expect([first!.status, ...rest.map(({ status }) => status)].sort()).toEqual([200, 404, 404]);
    for (const method of ["HEAD", "GET"]) expect((await http(path, address, { method })).status).toBe(404);
    const part = await http(path, address, { headers: { range: "bytes=0-0" } });
    expect(part.status).toBe(404);
    expect(refusals("ticket_used")).toBeGreaterThanOrEqual(5);
    expect(alarms("ticket_used", mac)).toHaveLength(5);
    expect((await http((await offered(mac)).path, address)).status).toBe(200);
  });

  test("is served once, even if OFFER and ACK both contained its URL", async () => {
    const { mac, asked, address, path, reply } = await offered();
    const again = await relay.ask({
      mac,
      xid: asked.xid,
      options: [
        REQUEST_TYPE,
        ...CLIENTS.ipxe,
        [50, Uint8Array.of(...dotted(reply.yiaddr).split(".").map(Number))],
        [54, reply.options.get(54)!],
      ],
    });
    expect((await http(scriptPath(again), address)).status).toBe(200);
    expect((await http(path, address)).status).toBe(404);
  });

  test("is served once, even if the booter restarts afterwards", async () => {
    const { address, path } = await offered();
    expect((await http(path, address)).status).toBe(200);
    await site.restart();
    expect((await http(path, address)).status).toBe(404);
  });

  test("is served once, even if the booter serves the machine's next script and then restarts", async () => {
    const first = await offered();
    expect((await http(first.path, first.address)).status).toBe(200);
    const next = await offered(first.mac);
    expect((await http(next.path, next.address)).status).toBe(200);
    await site.restart();
    for (const { path } of [first, next]) expect((await http(path, next.address)).status).toBe(404);
  });

  test("is served again to a machine that disconnected before it got the answer", async () => {
    const { address, path } = await offered();
    site.link.late_ms = 500;
    try {
      const cut = connect({ host: "127.0.0.1", port: site.booter.ports.http, localAddress: address });
      cut.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await new Promise((wake) => setTimeout(wake, 150));
      cut.destroy();
      await new Promise((wake) => setTimeout(wake, 600));
    } finally {
      site.link.late_ms = 0;
    }
    expect((await http(path, address)).status).toBe(200);
  });

  test("is served once, but networking.json is served any number of times, because it contains no secret", async () => {
    const { address, path } = await offered();
    const { text } = await http(path, address);
    const own = new URL(/module (\S+networking\.json) /.exec(text)![1]!).pathname;
    for (let times = 0; times < 3; times += 1) expect((await http(own, address)).status).toBe(200);
  });

  test("is not served after ten minutes or for a guessed MAC address, and the booter counts both refusals", async () => {
    const { mac, address, path } = await offered();
    const [forged, expired] = [refusals("ticket_forged"), refusals("ticket_expired")];
    const other = newMac().replaceAll(":", "");
    expect((await http(path.replace(mac.replaceAll(":", ""), other), address)).status).toBe(404);
    expect(refusals("ticket_forged")).toBe(forged + 1);
    const then = Date.now() + (TICKET_S + 1) * 1_000;
    vi.spyOn(Date, "now").mockReturnValue(then);
    vi.useFakeTimers({ toFake: ["Date"], now: then });
    try {
      expect((await http(path, address)).status).toBe(404);
    } finally {
      vi.useRealTimers();
      vi.restoreAllMocks();
    }
    expect(refusals("ticket_expired")).toBe(expired + 1);
  });

  test("is served if the booter restarted after the DISCOVER", async () => {
    const { address, path } = await offered();
    const before = site.booter.ports.http;
    await site.restart();
    expect(before).toBeGreaterThan(0);
    expect((await http(path, address)).status).toBe(200);
  });

  test("is not served after an operator decommissioned the record", async () => {
    const { mac, address, path } = await offered();
    okOf(await site.t.call("POST", `/v2/cn-boot/${mac}/decommission`));
    await site.booter.records.refresh();
    expect((await http(path, address)).status).toBe(404);
    expect((await http(`/os/${STAMP}/platform/i86pc/kernel/amd64/unix`, address)).status).toBe(404);
  });
});

test("the rescue script is served to a decommissioned machine, and contains no networking.json, hashes or AMQP login", async () => {
  const { mac, address } = await offered();
  okOf(await site.t.call("POST", `/v2/cn-boot/${mac}/decommission`));
  okOf(await site.t.call("POST", `/v2/cn-boot/${mac}/rescue`));
  await site.booter.records.refresh();
  const { path } = await offered(mac);
  const { text } = await http(path, address);
  expect(text).toContain("noimport=true || goto failed\n");
  expect(text).not.toMatch(/rabbitmq|networking\.json|type=hash/);
});

test("a discovered machine, a machine of another architecture and a machine that does not netboot get no answer", async () => {
  okOf(await putPolicy(site.t, { enrollment_pi: STAMP, admin_network: ADMIN_NETWORK, auto_enroll: false }));
  try {
    const quiet = [discover(newMac()), discover(newMac(), "arm64"), discover(newMac(), "plain")];
    const count = relay.replies.length;
    const { counters } = site.booter;
    const before = ["discovered", "foreign_architecture", "not_pxe"].map((reason) =>
      counters.valueOf("dhcp_silent_total", { reason })
    );
    for (const each of quiet) void relay.ask(each);
    await expect.poll(
      () =>
        ["discovered", "foreign_architecture", "not_pxe"].map((reason, at) =>
          counters.valueOf("dhcp_silent_total", { reason }) - before[at]!
        ),
      { timeout: 20_000 },
    ).toEqual([1, 1, 1]);
    expect(relay.replies).toHaveLength(count);
    expect(site.log.some(({ event, fields }) => event === "dhcp.silent" && fields.mac === quiet[0]!.mac)).toBe(true);
  } finally {
    okOf(await putPolicy(site.t, { enrollment_pi: STAMP, admin_network: ADMIN_NETWORK }));
  }
});

test("the control plane shows the request of a machine that boots, and of a machine without a boot file", async () => {
  const shown = async (mac: string) => (await site.t.call("GET", `/v2/cn-boot/${mac}`)).body;
  const known = newMac();
  await offered(known);
  await site.booter.records.refresh();
  await relay.ask(discover(known, "uefi"));
  await expect.poll(async () => (await shown(known)).client, { timeout: 20_000 }).toMatchObject({
    arch: 7,
    vendor_class: "PXEClient:Arch:00007:UNDI:003000",
    user_class: null,
    has_boot_file: true,
  });
  const arm = newMac();
  void relay.ask(discover(arm, "arm64"));
  await expect.poll(() => shown(arm), { timeout: 20_000 }).toMatchObject({
    state: "discovered",
    address: null,
    client: { architecture: "ARM 64-bit UEFI", has_boot_file: false },
  });
});

test("by DHCP, a machine behind the relay of a rack gets an address, the gateway and the resolvers of the rack's network", async () => {
  const rack = {
    name: "a3",
    ipv4_block: "127.21.0.0/24",
    provision_start_ipv4: "127.21.0.10",
    provision_end_ipv4: "127.21.0.99",
    gateway: "127.21.0.1",
    resolvers: ["127.21.0.2"],
  };
  const policy = { ...POLICY, enrollment_pi: STAMP, admin_network: ADMIN_NETWORK };
  okOf(await site.t.call("PUT", "/v2/cn-boot-policy", { body: { ...policy, rack_networks: [rack] } }));
  try {
    const mac = newMac();
    const reply = await relay.ask({ ...discover(mac), giaddr: 0x7f150001 });
    expect(dotted(reply.yiaddr)).toBe("127.21.0.10");
    expect([1, 3, 6].map((code) => [...reply.options.get(code)!].join("."))).toEqual([
      "255.255.255.0",
      "127.21.0.1",
      "127.21.0.2",
    ]);
    expect((await http(scriptPath(reply), "127.21.0.10")).status).toBe(200);
    expect(okOf(await site.t.call("GET", `/v2/cn-boot/${mac}`)).client.relay).toBe("127.21.0.1");
  } finally {
    okOf(await putPolicy(site.t, { enrollment_pi: STAMP, admin_network: ADMIN_NETWORK }));
  }
});

test("a REQUEST without a vendor class is answered for the kind of client that the machine's DISCOVER showed", async () => {
  const { mac, asked, reply } = await offered();
  const acknowledged = await relay.ask({
    mac,
    xid: asked.xid,
    options: [REQUEST_TYPE, [50, Uint8Array.of(...dotted(reply.yiaddr).split(".").map(Number))], [
      54,
      reply.options.get(54)!,
    ]],
  });
  expect(acknowledged.options.get(53)).toEqual(Uint8Array.of(5));
  expect(textOf(acknowledged.options.get(67))).toContain("/script/");
  expect(CLIENTS.plain).toHaveLength(1);
});

test("firmware over HTTP is served only to machines that may boot", async () => {
  const mac = newMac();
  const reply = await relay.ask(discover(mac, "uefi_http"));
  const path = scriptPath(reply);
  const got = await http(path, dotted(reply.yiaddr));
  expect([got.status, got.body]).toEqual([200, programBytes(2)]);
  expect((await http(path, "127.20.200.1")).status).toBe(404);
});

test.each([
  "/os/../../state/secret",
  `/os/${STAMP}/../../../state/secret`,
  `/os/${STAMP}/platform/i86pc/amd64/..%2f..%2fboot_archive`,
  "/os//platform/i86pc/kernel/amd64/unix",
  "//os",
  "/firmware/../key",
  "/firmware/undionly.kpxe/",
  "/setup/files/../../key",
  "/setup/files/platform-..%2f.tgz",
  "/bootfs/x/networking.json",
  "/script/",
  "/",
])("S-24: the path %s gets 404", async (path) => {
  const { address } = await offered();
  expect((await http(path, address)).status).toBe(404);
});

test("GET /time succeeds without a ticket", async () => {
  const { status, text } = await http("/time", "127.0.0.1");
  expect([status, Number.isNaN(Date.parse(text.trim()))]).toEqual([200, false]);
});

test("the booter reports its staged images to the control plane", async () => {
  const items = async () => okOf(await site.t.call("GET", "/v2/platform-images")).items;
  await expect.poll(items, { timeout: 20_000 }).toMatchObject([{ stamp: STAMP }]);
});

test("S-45: the booter serves metrics and health on the loopback interface", async () => {
  const { metrics } = site.booter.ports;
  const text = (await httpAsk(metrics, "/metrics")).text;
  expect(text).toMatch(/^booter_dhcp_offers_total\{client="ipxe"\} \d+$/m);
  expect(text).toMatch(/^booter_control_plane_reachable 1$/m);
  expect(JSON.parse((await httpAsk(metrics, "/health")).text)).toEqual({ status: "ok", control_plane: "reached" });
  // A server on all addresses would answer on this address, too.
  const elsewhere = connect(metrics, "127.0.0.2");
  await expect(once(elsewhere, "connect")).rejects.toThrow("ECONNREFUSED");
});
