// The noun instance: requests, columns and lines of its verbs.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { USER_DATA_BYTES_MAX } from "../../../src/contract/limits.ts";
import { fakeEnvironment } from "../fake-environment.ts";
import { IMAGE_ID, INSTANCE, PRIMARY_NIC, PROJECT, SUBNET, TENANT, VPC } from "./records.ts";
import { KEY_ENV, requestsOf, serving, tenantctl, TOKEN_ENV } from "./run.ts";

const IN_PROJECT = `tenant=${TENANT}&project=${PROJECT}`;
const SCOPED = { ...TOKEN_ENV, TENANTCTL_PROJECT: PROJECT };
const BY_ID = `/v1/instances/${INSTANCE.id}`;
const STATE = `{"state":"running"}`;
const TABLE = `ID                                    NAME   STATE                IMAGE\n` +
  `${INSTANCE.id}  web-1  ${STATE}  ${IMAGE_ID}\n`;
const FOUR_LINES = `id:         ${INSTANCE.id}\nname:       web-1\nlifecycle:  ${STATE}\nimage:      ${IMAGE_ID}\n`;
const SHOWN = `${FOUR_LINES}(for the whole record, use -o json)\n`;
const KEY = { id: "ffffffff-0000-4000-8000-0000000000ff", name: "laptop" };
const ANSWERS = {
  "GET /v1/instances": { items: [INSTANCE] },
  [`GET ${BY_ID}`]: INSTANCE,
  [`PATCH ${BY_ID}`]: INSTANCE,
  "GET /v1/auth/whoami": {
    tenant_id: TENANT,
    tenant_name: "acme",
    home_silo_id: null,
    silo_id: null,
    capabilities: [],
  },
  "GET /v1/images": { items: [{ id: IMAGE_ID, name: "debian" }] },
  [`GET /v1/tenants/${TENANT}/images`]: [],
  [`GET /v1/tenants/${TENANT}/projects/${PROJECT}/images`]: [{ id: IMAGE_ID, name: "debian" }],
  "GET /v1/vpcs": { items: [VPC] },
  "GET /v1/subnets": { items: [SUBNET] },
  "GET /v1/nics": { items: [PRIMARY_NIC] },
  "GET /v1/auth/ssh-keys": [KEY],
  "POST /v1/instances": INSTANCE,
};
const server = serving(ANSWERS);
const run = (...argv: string[]) => tenantctl(["instance", ...argv], { env: SCOPED, server });

describe("list", () => {
  test("sends the selectors and prints the columns", async () => {
    const ran = await run("list");
    expect([ran.err(), ran.code]).toEqual(["", 0]);
    expect(requestsOf(ran)).toEqual([`GET /v1/instances?${IN_PROJECT}`]);
    expect(ran.out()).toBe(TABLE);
    expect((await run("list", "--no-headers")).out()).toBe(TABLE.slice(TABLE.indexOf("\n") + 1));
    expect(JSON.parse((await run("list", "-o", "json")).out())).toEqual({ items: [INSTANCE] });
    const none = await tenantctl(["instance", "list"], {
      env: SCOPED,
      server: serving({ "GET /v1/instances": { items: [] } }),
    });
    expect(none.out()).toBe("(no instances)\n");
  });

  test.each(["running", "RUNNING", "Running"])("takes a state in any case: %s", async (state) => {
    expect(requestsOf(await run("list", "--state", state))).toEqual([
      `GET /v1/instances?${IN_PROJECT}&state=running`,
    ]);
  });

  test("with --image (a UUID or a name) needs no project", async () => {
    const env = TOKEN_ENV;
    const by_id = await tenantctl(["instance", "list", "--image", IMAGE_ID], { env, server });
    expect(requestsOf(by_id)).toEqual([`GET /v1/instances?tenant=${TENANT}&image=${IMAGE_ID}`]);
    const by_name = await tenantctl(["instance", "list", "--image", "debian"], { env, server });
    expect(requestsOf(by_name).at(-1)).toBe(`GET /v1/instances?tenant=${TENANT}&image=${IMAGE_ID}`);
    expect(by_name.out()).toBe(TABLE);
  });

  test("without a selector prints the server's error with a hint", async () => {
    const message = "set `image=`, `cn=`, or `tenant=&project=` to scope the list";
    const ran = await tenantctl(["instance", "list"], {
      env: KEY_ENV,
      server: ({ path }) =>
        path === "/v1/auth/whoami"
          ? { status: 200, body: { tenant_id: null, silo_id: null } }
          : { status: 400, body: { message, error_code: "MissingScope" } },
    });
    expect(ran.code).toBe(1);
    expect(ran.err()).toContain(`error: ${message}; pass --tenant (or TENANTCTL_TENANT) and --project`);
  });

  test("shows addresses and hosts with -o wide, with one request for NICs per project", async () => {
    const second = { ...INSTANCE, id: "99999999-0000-4000-8000-000000000098", name: "web-2", host_live: false };
    const third = {
      ...INSTANCE,
      id: "99999999-0000-4000-8000-000000000097",
      name: "web-3",
      host_cn_uuid: null,
      host_live: null,
    };
    const nic = (more: object) => ({ ...PRIMARY_NIC, ...more });
    const ran = await tenantctl(["instance", "list", "-o", "wide"], {
      env: SCOPED,
      server: serving({
        ...ANSWERS,
        "GET /v1/instances": { items: [INSTANCE, second, third] },
        "GET /v1/nics": {
          items: [
            nic({ id: "1", name: "back", primary_ipv4: "10.0.2.9" }),
            nic({ id: "2", primary_ipv6: "fd00::2" }),
            nic({ id: "3", instance_id: second.id, primary_ipv4: "10.0.1.3" }),
          ],
        },
      }),
    });
    expect(ran.err()).toBe("");
    expect(requestsOf(ran)).toEqual([
      `GET /v1/instances?${IN_PROJECT}`,
      `GET /v1/nics?${IN_PROJECT}`,
    ]);
    const rows = ran.out().trimEnd().split("\n").map((line) => line.split(/ {2,}/));
    const host = INSTANCE.host_cn_uuid;
    expect(rows).toEqual([
      ["ID", "NAME", "STATE", "IMAGE", "ADDRESSES", "HOST"],
      [INSTANCE.id, "web-1", STATE, IMAGE_ID, "10.0.1.2,fd00::2,10.0.2.9", host],
      [second.id, "web-2", STATE, IMAGE_ID, "10.0.1.3", `${host} (its node sends no heartbeat)`],
      [third.id, "web-3", STATE, IMAGE_ID, "-", "-"],
    ]);
  });

  test("notes below a table that a node sends no heartbeat, but not in JSON", async () => {
    const answers = { "GET /v1/instances": { items: [{ ...INSTANCE, host_live: false }, INSTANCE] } };
    const at = (...argv: string[]) =>
      tenantctl(["instance", "list", ...argv], { env: SCOPED, server: serving(answers) });
    expect((await at()).err()).toContain("The state of 1 instance may be out of date");
    expect((await at("-o", "json")).err()).toBe("");
  });

  test("with an unknown state is rejected before any request", async () => {
    const ran = await run("list", "--state", "asleep");
    expect([ran.code, ran.asked]).toEqual([2, []]);
    expect(ran.err()).toContain("--state must be one of pending, provisioning, running, stopping, stopped, failed");
  });
});

describe("show", () => {
  test.each([
    { name: INSTANCE.id, asks: [`GET ${BY_ID}`] },
    { name: INSTANCE.id.toUpperCase(), asks: [`GET ${BY_ID}`] },
    { name: "web-1", asks: [`GET /v1/instances?${IN_PROJECT}`, `GET ${BY_ID}`] },
    { name: "9999", asks: [`GET /v1/instances?${IN_PROJECT}`, `GET ${BY_ID}`] },
  ])("accepts the name $name and prints the main fields", async ({ name, asks }) => {
    const ran = await run("show", name);
    expect([ran.err(), ran.code]).toEqual(["", 0]);
    expect(requestsOf(ran)).toEqual(asks);
    expect(ran.out()).toBe(SHOWN);
    expect(JSON.parse((await run("show", name, "-o", "json")).out())).toEqual(INSTANCE);
    expect((await run("show", name, "-o", "yaml")).out()).toContain(`name: "web-1"\n`);
  });

  test.each([
    { change: { host_live: false }, says: "its node sends no heartbeat" },
    { change: { found_on_host: false }, says: "its node does not report it" },
  ])("notes that the state may be out of date, because $says", async ({ change, says }) => {
    const answers = { [`GET ${BY_ID}`]: { ...INSTANCE, ...change } };
    const at = (...argv: string[]) =>
      tenantctl(["instance", "show", INSTANCE.id, ...argv], { env: SCOPED, server: serving(answers) });
    const ran = await at();
    expect([ran.out(), ran.err()]).toEqual([SHOWN, `The state may be out of date: ${says}\n`]);
    expect((await at("-o", "json")).err()).toBe("");
  });

  test("prints the reason of a failure in the lifecycle", async () => {
    const lifecycle = { state: "failed", reason: "no\u001b[2J disk" };
    const ran = await tenantctl(["instance", "show", INSTANCE.id], {
      env: SCOPED,
      server: serving({ [`GET ${BY_ID}`]: { ...INSTANCE, lifecycle } }),
    });
    expect(ran.out()).toContain(`lifecycle:  {"state":"failed","reason":"no\\u001b[2J disk"}\n`);
  });
});

const WANTED = ["--name", "web-1", "--cpu", "2"];
const IDS = ["--image-id", IMAGE_ID, "--primary-subnet-id", SUBNET.id];
const BODY = {
  name: "web-1",
  image_id: IMAGE_ID,
  primary_subnet_id: SUBNET.id,
  cpu: 2,
  memory_bytes: 4_294_967_296,
  ssh_key_ids: [],
  mac: null,
  extra_nics: [],
  user_data: null,
};
const POST = `POST /v1/instances?${IN_PROJECT}`;
const VPCS = `GET /v1/vpcs?${IN_PROJECT}`;
const SUBNETS = `GET /v1/subnets?vpc=${VPC.id}`;

describe("create", () => {
  test.each([
    { argv: [...IDS, "--memory-bytes", "4294967296"], body: BODY, asks: [POST] },
    { argv: [...IDS, "--memory-bytes", "4GiB"], body: BODY, asks: [POST] },
    { argv: [...IDS, "--memory-bytes", "0"], body: { ...BODY, memory_bytes: 0 }, asks: [POST] },
    {
      argv: [
        ...IDS,
        ...["--memory-bytes", "4GiB", "--description", "shop", "--disk-bytes", "64GiB", "--mac", "02:00:00:00:00:01"],
        ...["--ssh-key-id", KEY.id, "--ssh-key-id", "laptop", "--nic", `${SUBNET.id}`, "--nic", `${SUBNET.id}:eth9`],
      ],
      body: {
        ...BODY,
        description: "shop",
        disk_bytes: 68_719_476_736,
        mac: "02:00:00:00:00:01",
        ssh_key_ids: [KEY.id, KEY.id],
        extra_nics: [{ subnet_id: SUBNET.id, name: "nic1" }, { subnet_id: SUBNET.id, name: "eth9" }],
      },
      asks: ["GET /v1/auth/ssh-keys", POST],
    },
    {
      argv: [
        ...["--image-id", "debian", "--primary-subnet-id", "dmz", "--vpc", VPC.id, "--memory-bytes", "4GiB"],
        ...["--nic", "dmz:back"],
      ],
      body: { ...BODY, extra_nics: [{ subnet_id: SUBNET.id, name: "back" }] },
      asks: [
        `GET /v1/tenants/${TENANT}/projects/${PROJECT}/images`,
        SUBNETS,
        SUBNETS,
        POST,
      ],
    },
    {
      argv: ["--image-id", IMAGE_ID, "--primary-subnet-id", "dmz", "--vpc", "web", "--memory-bytes", "4GiB"],
      body: BODY,
      asks: [VPCS, SUBNETS, POST],
    },
  ])("sends the expected requests and prints the instance: $argv", async ({ argv, body, asks }) => {
    const ran = await run("create", ...WANTED, ...argv);
    expect([ran.err(), ran.code]).toEqual(["", 0]);
    expect(requestsOf(ran)).toEqual(asks);
    expect(ran.asked.at(-1)!.body).toEqual(body);
    expect(ran.out()).toBe(FOUR_LINES);
    expect(JSON.parse((await run("create", ...WANTED, ...argv, "-o", "json")).out())).toEqual(INSTANCE);
  });

  test("sends user data unchanged up to the server's limit", async () => {
    const { home_dir } = fakeEnvironment();
    const file = join(home_dir, "user-data");
    const text = "\ufeff#cloud-config\n\u00e9";
    for (const content of [text, text + "x".repeat(USER_DATA_BYTES_MAX - new TextEncoder().encode(text).length)]) {
      await writeFile(file, content);
      const ran = await run("create", ...WANTED, ...IDS, "--memory-bytes", "1", "--user-data-file", file);
      expect([ran.err(), ran.code]).toEqual(["", 0]);
      expect((ran.asked[0]!.body as { user_data: string }).user_data).toBe(content);
    }
    const piped = await tenantctl(
      ["instance", "create", ...WANTED, ...IDS, "--memory-bytes", "1", "--user-data-file", "-"],
      { env: SCOPED, server, typed: "#!/bin/sh\n" },
    );
    expect(piped.asked[0]!.body).toMatchObject({ user_data: "#!/bin/sh\n" });
  });

  test.each([
    { content: new Uint8Array(USER_DATA_BYTES_MAX + 1).fill(97), says: "user data must be at most 65536 bytes" },
    { content: new Uint8Array([0xff, 0xfe, 0x00]), says: "is not UTF-8 text" },
    { content: new Uint8Array(), says: "is empty" },
  ])("with invalid user data is rejected before any request: $says", async ({ content, says }) => {
    const file = join(fakeEnvironment().home_dir, "user-data");
    await writeFile(file, content);
    const ran = await run("create", ...WANTED, ...IDS, "--memory-bytes", "1", "--user-data-file", file);
    expect([ran.code, ran.asked]).toEqual([2, []]);
    expect(ran.err()).toContain(says);
  });

  test("without a project is rejected before any request", async () => {
    const ran = await tenantctl(["instance", "create", ...WANTED, ...IDS, "--memory-bytes", "1"], { env: TOKEN_ENV });
    expect([ran.code, ran.asked]).toEqual([2, []]);
    expect(ran.err()).toBe("error: --project is required to create an instance\n");
  });

  test.each([
    { argv: [...WANTED, ...IDS], says: "--memory-bytes" },
    { argv: [...WANTED, ...IDS, "--memory-bytes", "lots"], says: "--memory-bytes must be a number of bytes or a size" },
    {
      argv: [...WANTED, ...IDS, "--memory-bytes", "1", "--disk-bytes", "-1"],
      says: "--disk-bytes must be a number of bytes",
    },
    { argv: ["--name", "x", "--cpu", "two", ...IDS, "--memory-bytes", "1"], says: "--cpu" },
    { argv: [...WANTED, "--memory-bytes", "1", "--image-id", IMAGE_ID], says: "--primary-subnet-id" },
    { argv: [...WANTED, ...IDS, "--memory-bytes", "1", "--nic", ":eth1"], says: "--nic must be SUBNET or SUBNET:NAME" },
    { argv: [...WANTED, ...IDS, "--memory-bytes", "1", "--nic", `${SUBNET.id}:`], says: "--nic must be SUBNET" },
    { argv: [...WANTED, ...IDS, "--memory-bytes", "1", "--nic", "dmz"], says: "to find it by name, also pass --vpc" },
    {
      argv: [...WANTED, ...IDS, "--memory-bytes", "1", "--user-data-file", "/nowhere/x"],
      says: "cannot read /nowhere/x",
    },
  ])("is rejected before any request: $argv", async ({ argv, says }) => {
    const ran = await run("create", ...argv);
    expect(ran.code).not.toBe(0);
    expect(ran.err()).toContain(says);
    expect(ran.asked).toEqual([]);
  });
});

describe.each([
  { verb: "start", path: "start" },
  { verb: "stop", path: "stop" },
  { verb: "reboot", path: "restart" },
  { verb: "retry", path: "retry" },
])("$verb", ({ verb, path }) => {
  test("sends one request and prints the instance like show", async () => {
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

test("update sends only the given fields and prints the main fields", async () => {
  const ran = await run("update", "web-1", "--name", "web-2");
  expect(requestsOf(ran)).toEqual([`GET /v1/instances?${IN_PROJECT}`, `PATCH ${BY_ID}`]);
  expect(ran.asked[1]!.body).toEqual({ name: "web-2" });
  expect(ran.out()).toBe(FOUR_LINES);
});

test.each([
  { argv: [], force: "false" },
  { argv: ["--force"], force: "true" },
  { argv: ["-o", "json"], force: "false" },
])("delete always sends force and prints its line: $argv", async ({ argv, force }) => {
  const ran = await tenantctl(["instance", "delete", INSTANCE.id, ...argv], {
    env: SCOPED,
    server: serving({ [`DELETE ${BY_ID}`]: {} }),
  });
  expect(requestsOf(ran)).toEqual([`DELETE ${BY_ID}?force=${force}`]);
  expect([ran.out(), ran.err(), ran.code]).toEqual([`Instance ${INSTANCE.id} deleted.\n`, "", 0]);
});

test("a server's rejection is printed with its message", async () => {
  const message = `instance ${INSTANCE.id} is not deletable in state running; stop it first`;
  const ran = await tenantctl(["instance", "delete", INSTANCE.id], {
    env: SCOPED,
    server: () => ({ status: 409, body: { message, error_code: "Conflict" } }),
  });
  expect([ran.code, ran.out(), ran.err()]).toEqual([5, "", `error: ${message} (Conflict)\n`]);
  expect(ran.asked.length).toBe(1);
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
