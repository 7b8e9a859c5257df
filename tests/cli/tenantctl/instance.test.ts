// Tests `tenantctl instance`: the requests and the output of all commands except `list` and `create`.
import { describe, expect, test } from "vitest";
import { ANSWERS, BY_ID, IN_PROJECT, run, SCOPED, server, SHOWN } from "./instance-fixture.ts";
import { IMAGE_ID, INSTANCE, PRIMARY_NIC } from "./records.ts";
import { requestsOf, serving, tenantctl } from "./run.ts";

describe("show", () => {
  const NICS = { "GET /v1/nics": { items: [{ ...PRIMARY_NIC, floating_ips: ["203.0.113.7"] }] } };
  const ASKS_NICS = `GET /v1/nics?instance=${INSTANCE.id}`;
  const OUTPUT = `${SHOWN}addresses:            ${PRIMARY_NIC.primary_ipv4}, 203.0.113.7\n`;

  test("prints the addresses that the guest reports", async () => {
    const guest_interfaces = [{ mac: "02:00:00:00:00:01", addresses: ["10.0.1.2", "fd00::2"] }];
    const server = serving({ ...NICS, [`GET ${BY_ID}`]: { ...INSTANCE, guest_interfaces } });
    const ran = await tenantctl(["instance", "show", INSTANCE.id], { env: SCOPED, server });
    expect(ran.out()).toMatch(/^the guest reports: +10\.0\.1\.2, fd00::2$/m);
  });

  test.each([
    { name: INSTANCE.id, asks: [`GET ${BY_ID}`] },
    { name: INSTANCE.id.toUpperCase(), asks: [`GET ${BY_ID}`] },
    { name: "web-1", asks: [`GET /v1/instances?${IN_PROJECT}`, `GET ${BY_ID}`] },
    { name: "9999", asks: [`GET /v1/instances?${IN_PROJECT}`, `GET ${BY_ID}`] },
  ])("accepts the name $name and prints the main fields and the addresses", async ({ name, asks }) => {
    const at = (...argv: string[]) =>
      tenantctl(["instance", "show", name, ...argv], { env: SCOPED, server: serving({ ...ANSWERS, ...NICS }) });
    const ran = await at();
    expect([ran.err(), ran.code]).toEqual(["", 0]);
    expect(requestsOf(ran)).toEqual([...asks, ASKS_NICS]);
    expect(ran.out()).toBe(OUTPUT);
    const json = await at("-o", "json");
    expect(requestsOf(json)).toEqual(asks);
    expect(JSON.parse(json.out())).toEqual(INSTANCE);
    expect((await at("-o", "yaml")).out()).toContain(`name: "web-1"\n`);
  });

  test.each([
    { change: { host_live: false }, says: "its node sends no heartbeat" },
    { change: { found_on_host: false }, says: "its node does not report it" },
  ])("notes that the state may be out of date, because $says", async ({ change, says }) => {
    const answers = { ...NICS, [`GET ${BY_ID}`]: { ...INSTANCE, ...change } };
    const at = (...argv: string[]) =>
      tenantctl(["instance", "show", INSTANCE.id, ...argv], { env: SCOPED, server: serving(answers) });
    const ran = await at();
    expect([ran.out(), ran.err()]).toEqual([OUTPUT, `The state may be out of date: ${says}\n`]);
    expect((await at("-o", "json")).err()).toBe("");
  });

  test("prints the state and the reason of a failure", async () => {
    const lifecycle = { state: "failed", reason: "no\u001b[2J disk" };
    const ran = await tenantctl(["instance", "show", INSTANCE.id], {
      env: SCOPED,
      server: serving({ ...NICS, [`GET ${BY_ID}`]: { ...INSTANCE, lifecycle } }),
    });
    expect(ran.out()).toMatch(/^state: +failed: no\\x1b\[2J disk$/m);
  });
});

describe.each([
  { verb: "start", path: "start" },
  { verb: "stop", path: "stop" },
  { verb: "reboot", path: "restart" },
  { verb: "reset", path: "reset" },
  { verb: "retry", path: "retry" },
])("$verb", ({ verb, path }) => {
  test("sends one request and prints the instance like `show`", async () => {
    const at = (...argv: string[]) =>
      tenantctl(["instance", verb, ...argv], {
        env: SCOPED,
        server: serving({ ...ANSWERS, [`POST ${BY_ID}/${path}`]: INSTANCE }),
      });
    const ran = await at(INSTANCE.id);
    expect([ran.err(), ran.code]).toEqual(["", 0]);
    expect(requestsOf(ran)).toEqual([`POST ${BY_ID}/${path}`]);
    expect(ran.asked[0]!.body).toBeUndefined();
    expect(ran.out()).toBe(SHOWN);
    expect(requestsOf(await at("web-1"))).toEqual([`GET /v1/instances?${IN_PROJECT}`, `POST ${BY_ID}/${path}`]);
    expect(JSON.parse((await at(INSTANCE.id, "-o", "json")).out())).toEqual(INSTANCE);
  });
});

test("`update` sends only the given fields and prints the main fields", async () => {
  const ran = await run("update", "web-1", "--name", "web-2");
  expect(requestsOf(ran)).toEqual([`GET /v1/instances?${IN_PROJECT}`, `PATCH ${BY_ID}`]);
  expect(ran.asked[1]!.body).toEqual({ name: "web-2" });
  expect(ran.out()).toBe(SHOWN);
});

test.each([
  { argv: ["--protect"], deletion_protection: true },
  { argv: ["--protection", "on"], deletion_protection: true },
  { argv: ["--protection", "off"], deletion_protection: false },
])("update $argv changes only the protection against deletion", async ({ argv, deletion_protection }) => {
  expect((await run("update", INSTANCE.id, ...argv)).asked[0]!.body).toEqual({ deletion_protection });
});

test("update refuses --protect together with --protection", async () => {
  const ran = await run("update", INSTANCE.id, "--protect", "--protection", "off");
  expect([ran.code, ran.asked]).toEqual([2, []]);
});

test.each([
  { argv: [], force: "false" },
  { argv: ["--force"], force: "true" },
  { argv: ["-o", "json"], force: "false" },
])("`delete` always sends the parameter force, and prints one line: $argv", async ({ argv, force }) => {
  const ran = await tenantctl(["instance", "delete", INSTANCE.id, "--yes", ...argv], {
    env: SCOPED,
    server: serving({ [`DELETE ${BY_ID}`]: {} }),
  });
  expect(requestsOf(ran)).toEqual([`DELETE ${BY_ID}?force=${force}`]);
  expect([ran.out(), ran.err(), ran.code]).toEqual([`Instance ${INSTANCE.id} deleted.\n`, "", 0]);
});

test("if the server rejects a request, the command prints the server's message", async () => {
  const message = `instance ${INSTANCE.id} is not deletable in state running; stop it first`;
  const ran = await tenantctl(["instance", "delete", INSTANCE.id, "--yes"], {
    env: SCOPED,
    server: () => ({ status: 409, body: { message, error_code: "Conflict" } }),
  });
  expect([ran.code, ran.out(), ran.err()]).toEqual([5, "", `error: ${message} (Conflict)\n`]);
  expect(ran.asked.length).toBe(1);
});

test.each([[[]], [["--yes"]], [["--force", "--yes"]]])(
  "`delete` of a protected instance changes nothing, and names the command that removes the protection: %j",
  async (argv) => {
    const message = "web-1 is protected against deletion; set deletion_protection to false first";
    const ran = await tenantctl(["instance", "delete", INSTANCE.id, ...argv], {
      env: SCOPED,
      isTTY: false,
      server: () => ({ status: 409, body: { message, error_code: "DeletionProtected" } }),
    });
    const remedy = "first run: tenantctl instance update web-1 --protection off";
    expect([ran.code, ran.out(), ran.err()]).toEqual([
      5,
      "",
      `error: web-1 is protected against deletion; ${remedy} (DeletionProtected)\n`,
    ]);
    expect(ran.asked.map(({ method }) => method)).toEqual(["DELETE"]);
  },
);

test("on a terminal, `delete` of a protected instance is refused before the question", async () => {
  const server = serving({ [`GET ${BY_ID}`]: { ...INSTANCE, deletion_protection: true } });
  const ran = await tenantctl(["instance", "delete", INSTANCE.id], { env: SCOPED, server, typed: [INSTANCE.name] });
  expect([ran.code, ran.out()]).toEqual([5, ""]);
  expect(ran.err()).toMatch(/^error: .+ is protected against deletion; first run: .+ --protection off/);
  expect(requestsOf(ran)).toEqual([`GET ${BY_ID}`]);
});

test("completion offers instances, images, subnets and keys by name", async () => {
  const complete = async (...argv: string[]) => {
    const ran = await tenantctl(["__complete", "--", "instance", ...argv], { env: SCOPED, server });
    expect([ran.err(), ran.code]).toEqual(["", 0]);
    return ran.out().split("\n").filter((line) => line !== "").map((line) => line.split("\t")[0]);
  };
  expect(await complete("stop", "")).toEqual(["web-1", INSTANCE.id]);
  expect(await complete("create", "--image-id", "d")).toEqual(["debian"]);
  expect(await complete("list", "--image", IMAGE_ID.slice(0, 4))).toEqual([IMAGE_ID]);
  expect(await complete("list", "--state", "st")).toEqual(["stopping", "stopped"]);
  expect(await complete("create", "--vpc", "web", "--primary-subnet-id", "d")).toEqual(["dmz"]);
  expect(await complete("create", "--vpc", "web", "--nic", "d")).toEqual(["dmz"]);
  expect(await complete("create", "--ssh-key-id", "l")).toEqual(["laptop"]);
});

describe("metrics", () => {
  const sample = (at: string, cpu_seconds: number, bytes: number) => ({
    at: `2026-09-01T12:00:${at}.000Z`,
    cpu_seconds,
    memory_bytes: 200 * 2 ** 20,
    disk_read_bytes: bytes,
    disk_written_bytes: 2 * bytes,
    network_received_bytes: 3 * bytes,
    network_sent_bytes: 0,
  });
  const answering = (samples: readonly object[]) =>
    serving({ ...ANSWERS, [`GET ${BY_ID}/metrics`]: { instance_id: INSTANCE.id, interval_s: 15, samples } });

  test("prints the use between two samples, but not if the machine started between the two samples", async () => {
    const server = answering([sample("00", 10, 0), sample("10", 15, 10_240), sample("20", 1, 0)]);
    const ran = await tenantctl(["instance", "metrics", "web-1", "--minutes", "15"], { env: SCOPED, server });
    expect([ran.err(), ran.code]).toEqual(["", 0]);
    expect(requestsOf(ran)[1]).toBe(`GET ${BY_ID}/metrics?minutes=15`);
    expect(ran.out()).toBe(
      `TIME                      CPU   MEMORY   DISK_READ  DISK_WRITTEN  RECEIVED   SENT
2026-09-01T12:00:10.000Z  50 %  200 MiB  1.0 KiB/s  2.0 KiB/s     3.0 KiB/s  0.0 KiB/s
2026-09-01T12:00:20.000Z  -     200 MiB  -          -             -          0.0 KiB/s
`,
    );
  });

  test("prints a note if no sample exists yet", async () => {
    const ran = await tenantctl(["instance", "metrics", INSTANCE.id], { env: SCOPED, server: answering([]) });
    expect(ran.out()).toBe("(fewer than two samples: a running instance has one every 15 s)\n");
  });
});
