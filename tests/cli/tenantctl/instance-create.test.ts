// Tests `instance create`: its flags, names and user data, and commands that fail before any request.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { USER_DATA_BYTES_MAX } from "../../../src/contract/limits.ts";
import { fakeEnvironment, type Server } from "../fake-environment.ts";
import { ANSWERS, IN_PROJECT, KEY, run, SCOPED, server, SHOWN } from "./instance-fixture.ts";
import { IMAGE_ID, INSTANCE, PROJECT, SUBNET, TENANT, VPC } from "./records.ts";
import { requestsOf, serving, tenantctl, TOKEN_ENV } from "./run.ts";

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
const PROJECTS = `/v1/tenants/${TENANT}/projects`;
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
    expect(ran.out()).toBe(SHOWN);
    expect(JSON.parse((await run("create", ...WANTED, ...argv, "-o", "json")).out())).toEqual(INSTANCE);
  });

  test("sends user data unchanged if its size is within the server's limit", async () => {
    const { home_dir } = fakeEnvironment();
    const file = join(home_dir, "user-data");
    const text = "\ufeff#cloud-config\n\u00e9";
    for (const content of [text, text + "x".repeat(USER_DATA_BYTES_MAX - new TextEncoder().encode(text).length)]) {
      await writeFile(file, content);
      const ran = await run("create", ...WANTED, ...IDS, "--memory-bytes", "1GiB", "--user-data-file", file);
      expect([ran.err(), ran.code]).toEqual(["", 0]);
      expect((ran.asked[0]!.body as { user_data: string }).user_data).toBe(content);
    }
    const piped = await tenantctl(
      ["instance", "create", ...WANTED, ...IDS, "--memory-bytes", "1GiB", "--user-data-file", "-"],
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
    const ran = await run("create", ...WANTED, ...IDS, "--memory-bytes", "1GiB", "--user-data-file", file);
    expect([ran.code, ran.asked]).toEqual([2, []]);
    expect(ran.err()).toContain(says);
  });

  test("without --project uses the tenant's only project and names it, and fails if the tenant has several projects or none", async () => {
    const argv = ["instance", "create", ...WANTED, ...IDS, "--memory-bytes", "1GiB"];
    const projects = [{ id: PROJECT, name: "shop" }, { id: VPC.id, name: "lab" }];
    const at = (found: readonly object[]) =>
      tenantctl(argv, { env: TOKEN_ENV, server: serving({ ...ANSWERS, [`GET ${PROJECTS}`]: [...found] }) });
    const only = await at(projects.slice(0, 1));
    expect([only.code, only.err()]).toEqual([0, "In project shop, the only one of the tenant\n"]);
    expect(requestsOf(only)).toEqual([`GET ${PROJECTS}`, POST]);
    for (
      const [several, says] of [
        [projects, "the tenant has 2 projects (shop, lab)"],
        [[], "the tenant has no project; to create one, run: tenantctl project create --name NAME"],
      ] as const
    ) {
      const ran = await at(several);
      expect(requestsOf(ran)).toEqual([`GET ${PROJECTS}`]);
      expect([ran.code, ran.err()]).toEqual([2, `error: --project is required to create an instance; ${says}\n`]);
    }
  });

  test.each([
    { argv: ["--memory", "4"], says: "--memory 4 has no unit and would be 4B; did you mean 4GiB?" },
    { argv: ["--memory", "512"], says: "did you mean 512MiB or 512GiB?" },
    { argv: ["--memory", "4096"], says: "did you mean 4096MiB?" },
    { argv: ["--memory", "4GiB", "--disk", "1"], says: "--disk 1 has no unit and would be 1B; did you mean 1GiB?" },
  ])("with a small number without a unit fails, and the error names the size that is probably meant: $argv", async ({
    argv,
    says,
  }) => {
    const ran = await run("create", ...WANTED, ...IDS, ...argv);
    expect([ran.code, ran.asked]).toEqual([2, []]);
    expect(ran.err()).toContain(says);
  });

  test.each([
    { argv: [...WANTED, ...IDS], says: "--memory-bytes" },
    { argv: [...WANTED, ...IDS, "--memory-bytes", "lots"], says: "--memory must be a number of bytes or a size" },
    {
      argv: [...WANTED, ...IDS, "--memory-bytes", "1GiB", "--disk-bytes", "-1"],
      says: "--disk must be a number of bytes",
    },
    { argv: ["--name", "x", "--cpu", "two", ...IDS, "--memory-bytes", "1GiB"], says: "--cpu" },
    { argv: [...WANTED, "--memory-bytes", "1GiB", "--image-id", IMAGE_ID], says: "--primary-subnet-id" },
    {
      argv: [...WANTED, ...IDS, "--memory-bytes", "1GiB", "--nic", ":eth1"],
      says: "--nic must be SUBNET or SUBNET:NAME",
    },
    { argv: [...WANTED, ...IDS, "--memory-bytes", "1GiB", "--nic", `${SUBNET.id}:`], says: "--nic must be SUBNET" },
    {
      argv: [...WANTED, ...IDS, "--memory-bytes", "1GiB", "--user-data-file", "/nowhere/x"],
      says: "cannot read /nowhere/x",
    },
  ])("fails before any request: $argv", async ({ argv, says }) => {
    const ran = await run("create", ...argv);
    expect(ran.code).not.toBe(0);
    expect(ran.err()).toContain(says);
    expect(ran.asked).toEqual([]);
  });
});

describe("a refused placement in a placement group", () => {
  const ID = "77777777-0000-4000-8000-000000000077";
  const message = "no eligible compute node for placement; capacity, traits, affinity, or scope pinning rejected " +
    "every candidate";
  const answering = (group: object): Server => ({ method, path }) => {
    if (method === "POST") return { status: 503, body: { message } };
    return path === `/v1/placement-groups/${ID}` ? { body: { id: ID, name: "web", ...group } } : { status: 404 };
  };
  const create = async (group: object, ...argv: string[]) => {
    const wanted = ["instance", "create", ...WANTED, ...IDS, "--memory", "1GiB", ...argv];
    return (await tenantctl(wanted, { env: SCOPED, server: answering(group) })).err();
  };

  test.each([
    [
      "anti_affinity",
      "node",
      "Each instance of placement group web needs a node of its own, and perhaps no node is left.",
    ],
    ["anti_affinity", "fault_domain", "needs a fault domain of its own, and perhaps no fault domain is left."],
    ["affinity", "node", "All instances of placement group web are on one node, which perhaps has no room."],
  ])("names the rule of a required group: %s, %s", async (policy, level, rule) => {
    const err = await create({ policy, level, strictness: "required" }, "--placement-group", ID);
    expect(err).toMatch(new RegExp(`^error: ${message}`));
    expect(err).toContain(rule);
    expect(err).toContain("use another group, made with --strictness preferred, or no group");
  });

  test("names no rule if the group is preferred, or if the request names no group", async () => {
    const group = { policy: "affinity", level: "node", strictness: "preferred" };
    for (const argv of [["--placement-group", ID], []]) {
      expect(await create(group, ...argv)).toBe(`error: ${message}\n`);
    }
  });
});
