// Tests the commands for instances, disks and NICs with a real control plane. The test acts as the node.
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMint } from "../../../src/auth/mint.ts";
import { type ComputeFixture, GIB, openComputeFixture } from "../../compute/compute-fixture.ts";
import { ROOT_KEY, SECRET_KEY } from "../../support/control-plane.ts";
import { openTenant } from "../../tenancy/tenant.ts";
import { serverOf } from "../at-control-plane.ts";
import { ENDPOINT, fakeEnvironment, type FakeOptions } from "../fake-environment.ts";
import { type Ran, tenantctl } from "./run.ts";

let a: ComputeFixture;
let env: Record<string, string>;
let image_id: string;

beforeAll(async () => {
  a = await openComputeFixture();
  env = envOf(a.tenant);
  image_id = (await a.newImage({ name: "debian" })).id;
  await printed(`vpc update ${a.vpc.id} --name net`);
});
afterAll(() => a?.t.close());

function envOf({ key, tenant_id, project_id }: Pick<ComputeFixture["tenant"], "key" | "tenant_id" | "project_id">) {
  return {
    TENANTCTL_ENDPOINT: ENDPOINT,
    TENANTCTL_API_KEY: key,
    TENANTCTL_TENANT: tenant_id,
    TENANTCTL_PROJECT: project_id,
    NO_COLOR: "1",
  };
}

const at = (argv: string, options: FakeOptions = {}): Promise<Ran> =>
  tenantctl(argv.split(" "), { env, server: serverOf(a.t), newId: randomUUID, ...options });

async function printed(argv: string, options: FakeOptions = {}): Promise<string> {
  const ran = await at(argv, options);
  expect(ran.code, `tenantctl ${argv}: ${ran.err()}`).toBe(0);
  return ran.out();
}

const json = async (argv: string) => JSON.parse(await printed(`${argv} -o json`));

/** Runs a command, does the node's job while the command waits, and returns the output of the command. */
async function done(argv: string, job: string): Promise<string> {
  const [out] = await Promise.all([printed(argv), a.node.does(job)]);
  return out;
}

const createArgv = (name: string) =>
  `instance create --name ${name} --image debian --subnet front --vpc net --cpu 2 --memory 4GiB`;

test("a tenant creates an instance, finds its address, uses it by its name and deletes it", async () => {
  const before = await a.dump();
  const back = await json("subnet create --vpc net --name back --ipv4-block 10.0.2.0/24");
  const file = join(fakeEnvironment().home_dir, "user-data");
  await writeFile(file, "#cloud-config\nhostname: web-1\n");
  const made = await done(
    `${createArgv("web-1")} --nic back:eth1 --user-data-file ${file} --disk-bytes 3GiB`,
    "provision",
  );
  const { id } = await json("instance show web-1");
  const lines = (state: string) =>
    new RegExp(`^id: +${id}\nname: +web-1\n[^]*^state: +${state}\n[^]*^image: +${image_id}$`, "m");
  expect(made).toMatch(lines("running"));
  const stored = await a.t.db.query("select sealed from sealed_user_data where instance_id = $1", [id]);
  const { openUserData } = createMint(Buffer.from(SECRET_KEY, "hex"));
  expect(openUserData(id, stored.rows[0].sealed)).toBe("#cloud-config\nhostname: web-1\n");

  expect(await printed("instance list --state RUNNING --no-headers -o wide --columns name,id,state,image")).toBe(
    `web-1  ${id}  running  ${image_id}\n`,
  );
  expect(await printed("instance list --state stopped")).toBe("(no instances)\n");
  expect((await json("instance list --image debian")).items).toHaveLength(1);
  expect(await printed("instance list -o csv --columns addresses,host --no-headers")).toContain(
    `"10.0.1.2,fd00:10:0:1::2,10.0.2.2",${a.node.server_uuid}`,
  );
  const nics = (await json("nic list --instance web-1")).items;
  expect(nics.map(({ name }: { name: string }) => name).sort()).toEqual(["eth1", "primary"]);
  expect((await json("nic list --subnet back --vpc net")).items).toMatchObject([{ name: "eth1" }]);
  expect((await json("nic list --ip 10.0.1.2")).items).toMatchObject([{ instance_id: id, name: "primary" }]);
  expect(await printed("nic show eth1 --instance web-1")).toContain("primary_ipv4:    10.0.2.2\n");

  const [disk] = (await json("disk list --instance web-1")).items;
  expect((await json("disk list")).items).toContainEqual(disk);
  expect(await printed("disk list --instance web-1 --no-headers -o wide")).toBe(
    `boot  ${disk.id}  ${id}  boot  3GiB  yes\n`,
  );
  expect(await done("disk resize boot --instance web-1 --size-bytes 4GiB", "resize_disk")).toMatch(
    new RegExp(`^Disk ${disk.id} resized to ${4 * GIB} bytes\\.\nReboot required: `),
  );

  expect(await done("instance reboot web-1", "restart")).toMatch(lines("running"));
  const refused = await at("instance delete web-1 --yes");
  expect([refused.code, refused.out()]).toEqual([5, ""]);
  expect(refused.err()).toContain(`instance ${id} is not deletable in state running; stop it first`);
  expect(await done("instance stop web-1 --wait", "stop")).toMatch(lines("stopped"));
  expect(await printed(`disk resize ${disk.id} --size-bytes ${5 * GIB}`)).toContain("available on the next start.\n");
  await a.node.does("resize_disk");
  expect(await done("instance start web-1", "start")).toMatch(lines("running"));
  expect(await printed("instance update web-1 --name web-2")).toMatch(/^name: +web-2$/m);
  await done("instance stop web-2", "stop");
  expect(await done("instance delete web-2 --wait --yes", "delete")).toBe(`Instance ${id} deleted.\n`);
  expect((await at("instance show web-2")).code).toBe(3);
  await printed(`subnet delete ${back.id}`);
  expect(await a.left(before)).toEqual([]);
});

test("a tenant adds a NIC to a stopped instance, changes the NIC and removes it", async () => {
  await done(createArgv("nics-1"), "provision");
  expect((await at("nic create --name back --instance nics-1 --subnet front --vpc net")).err()).toContain(
    "nics-1 is running; NICs can be added and removed only while it is stopped",
  );
  await done("instance stop nics-1", "stop");
  const made = await printed(
    "nic create --name back --instance nics-1 --subnet front --vpc net --ipv4 10.0.1.120 --additional-ip 10.0.1.121",
  );
  expect(made).toContain("primary_ipv4:    10.0.1.120\n");
  expect(made).toContain("additional_ips:  10.0.1.121\n");
  const changed = await printed("nic update back --instance nics-1 --no-additional-ips --allow-cidr 10.0.1.192/28");
  expect(changed).toContain("additional_ips:  -\n");
  expect(changed).toContain("allowed_cidrs:   10.0.1.192/28\n");
  expect((await at("nic update back --instance nics-1")).code).toBe(2);
  const { id } = await json("nic show back --instance nics-1");
  expect(await printed("nic delete back --instance nics-1")).toBe(`NIC ${id} deleted.\n`);
  await done("instance delete nics-1 --wait --yes", "delete");
});

test("a tenant labels, resizes and protects an instance, and must remove the protection to delete it", async () => {
  const before = await a.dump();
  await done(`${createArgv("db-1")} --label env=test --label tier=db --protect`, "provision");
  const { id } = await json("instance show db-1");
  const set = await printed("instance update db-1 --label env=live --remove-label tier");
  expect(set).toContain("labels:               env=live\n");
  expect(set).toContain("deletion_protection:  true\n");
  expect(await printed("instance list --label env=live --no-headers -o wide --columns name,labels")).toBe(
    "db-1  env=live\n",
  );
  expect(await printed("instance list --label tier")).toBe("(no instances)\n");
  await done("instance stop db-1", "stop");
  expect(await printed("instance resize db-1 --cpu 3 --memory 5GiB")).toMatch(/^memory: +5GiB$/m);
  const typed = (answer: string) => ({ isTTY: true, typed: answer });
  expect((await at("instance rebuild db-1 --yes")).err()).toContain("db-1 is protected against deletion;");
  await printed("instance update db-1 --protection off");
  expect((await at("instance rebuild db-1", typed("db-2"))).err()).toContain(
    "The data on the boot disk of db-1 is lost.",
  );
  expect((await at("instance rebuild db-1", { isTTY: false })).err()).toContain("pass --yes to confirm");
  const [rebuilt] = await Promise.all([
    printed("instance rebuild db-1 --image debian", typed("db-1")),
    a.node.does("rebuild"),
  ]);
  expect(rebuilt).toMatch(/^state: +stopped$/m);
  await printed("instance update db-1 --protection on");
  for (const argv of ["instance update db-1", "instance resize db-1", "instance update db-1 --label env"]) {
    expect((await at(argv)).code).toBe(2);
  }

  for (const argv of ["instance delete db-1", "instance delete db-1 --yes", "instance rebuild db-1 --yes"]) {
    const refused = await at(argv, typed("db-1"));
    expect([refused.code, refused.out()]).toEqual([5, ""]);
    expect(refused.err()).toContain(
      "error: db-1 is protected against deletion; first run: tenantctl instance update db-1 --protection off (",
    );
  }
  expect((await json("instance show db-1")).deletion_protection).toBe(true);
  await printed("instance update db-1 --protection off");
  const [deleted] = await Promise.all([printed("instance delete db-1 --yes"), a.node.does("delete")]);
  expect(deleted).toBe(`Instance ${id} deleted.\n`);
  expect(await a.left(before)).toEqual([]);
});

test("a tenant creates a data disk, detaches and attaches it, and deletes it", async () => {
  const before = await a.dump();
  await done(createArgv("db-2"), "provision");
  const created = await done("disk create --name data --instance db-2 --size 3GiB", "create_disk");
  expect(created).toContain("attached:    true\n");
  expect(await done("disk detach data --instance db-2", "detach_disk")).toContain("attached:    false\n");
  const { id } = await json("disk show data --instance db-2");
  expect(await done(`disk attach ${id} --wait`, "attach_disk")).toContain("attached:    true\n");
  const refused = await at(`disk delete ${id} --yes`);
  expect([refused.code, refused.err()]).toEqual([5, expect.stringContaining("detach it first")]);
  await done("disk detach data --instance db-2", "detach_disk");
  expect(await done("disk delete data --instance db-2 --yes", "delete_disk")).toBe(`Disk ${id} deleted.\n`);
  await done("instance stop db-2", "stop");
  await done("instance delete db-2 --yes", "delete");
  expect(await a.left(before)).toEqual([]);
});

test("a tenant takes a snapshot, restores it into a disk, and deletes both", async () => {
  const before = await a.dump();
  await done(createArgv("db-3"), "provision");
  const argv = "snapshot create boot --instance db-3 --name monday";
  expect(await done(argv, "create_snapshot")).toContain("consistency:  crash\n");
  expect(await printed("snapshot list --instance db-3 --no-headers --columns name,consistency")).toBe(
    "monday  crash\n",
  );
  const { id, size_bytes } = await json("snapshot show monday --instance db-3");
  const restored = await done("disk create --name old --instance db-3 --snapshot monday", "create_disk");
  expect(restored).toContain(`size_bytes:  ${size_bytes}\n`);
  await done("disk detach old --instance db-3", "detach_disk");
  await done("disk delete old --instance db-3 --yes", "delete_disk");
  expect(await done("snapshot delete monday --instance db-3 --yes", "delete_snapshot")).toBe(
    `Snapshot ${id} deleted.\n`,
  );
  expect(await printed("snapshot list")).toBe("(no snapshots)\n");
  await done("instance stop db-3", "stop");
  await done("instance delete db-3 --yes", "delete");
  expect(await a.left(before)).toEqual([]);
});

test("a failed --wait prints the node's reason; --no-wait prints the operation", async () => {
  const before = await a.dump();
  const failing = at(`${createArgv("bad")} --wait -o table`, { isTTY: false });
  const job = await a.node.take();
  await a.node.fail(job, "no such pool");
  const failed = await failing;
  expect([failed.code, failed.out()]).toEqual([1, ""]);
  expect(failed.err()).toContain("provisioning failed: ");
  expect(failed.err()).toContain("no such pool");
  expect(failed.err()).toContain("(ProvisionFailed, request ");

  const operation = await json(`${createArgv("later")} --no-wait`);
  expect(operation).toMatchObject({ kind: "instance-create", state: "running" });
  const { id } = await json("instance show later");
  expect(operation.references).toContainEqual({ scope: "instance", id });
  await a.node.does("provision");
  expect(await a.ended(id, "instance-create")).toMatchObject({ state: "succeeded" });
  await done("instance stop later", "stop");
  const leaving = await printed("instance delete later --no-wait --yes");
  expect(leaving).toContain("kind:       instance-delete\n");
  await a.node.does("delete");
  expect(await a.ended(id, "instance-delete")).toMatchObject({ state: "succeeded" });
  expect((await at(`instance show ${id}`)).code).toBe(3);
  expect(await a.left(before)).toEqual([]);
});

test("after a lost response the result is still printed, and nothing is created twice", async () => {
  const server = serverOf(a.t);
  let cut = false;
  const argv = createArgv("once").split(" ");
  const making = tenantctl(argv, {
    env,
    newId: randomUUID,
    server: async (asked, signal) => {
      if (asked.method !== "POST" || cut) return await server(asked, signal);
      cut = true;
      // The server processes the request, but its response is lost.
      void server(asked, signal);
      await a.node.does("provision");
      throw new TypeError("fetch failed", { cause: new Error("connection reset") });
    },
  });
  const ran = await making;
  expect([ran.code, ran.err()]).toEqual([0, ""]);
  expect((await json("instance list")).items).toHaveLength(1);
  await done("instance stop once", "stop");
  await done("instance delete once --yes", "delete");
});

test("without --project, lists and names refer to the tenant's only project, and a note names the project", async () => {
  const { TENANTCTL_PROJECT: _project, ...bare } = env;
  const { id } = await a.running({ name: "alone" });
  const listed = await at("instance list -o table --columns name --filter name=alone", { env: bare });
  expect([listed.err(), listed.out()]).toEqual([
    "In project acme-project, the only one of the tenant\n",
    "NAME\nalone\n",
  ]);
  const shown = await at("instance show alone -o json", { env: bare });
  expect([shown.err(), JSON.parse(shown.out()).name]).toEqual(["", "alone"]);
  await a.destroy(id);
  await json("vpc create --name sole --ipv4-block 10.90.0.0/16");
  const several = await at("subnet list -o table", { env: bare });
  expect(several.err()).toContain("--vpc");
});

test("the server rejects an operator's list without selectors, requests for another tenant's instance, and a tenant's forced delete", async () => {
  const { TENANTCTL_TENANT: _tenant, TENANTCTL_PROJECT: _project, ...bare } = env;
  const hint = "set `image=`, `cn=`, or `tenant=&project=` to scope the list; pass --";
  const operator = await at("instance list", { env: { ...bare, TENANTCTL_API_KEY: ROOT_KEY } });
  expect(operator.err()).toContain(`${hint}tenant (or TENANTCTL_TENANT) and --project`);
  const { id } = await a.running({ name: "mine" });
  const other = envOf(await openTenant(a.t, "other"));
  for (const argv of [`instance show ${id}`, `instance stop ${id}`, `disk list --instance ${id}`]) {
    expect((await at(argv, { env: other })).code, argv).toBe(3);
  }
  const forced = await at("instance delete mine --force --yes");
  expect(forced.code).toBe(4);
  expect(forced.err()).toContain("force delete is operator-only");
  await a.destroy(id);
  expect(await printed(`instance list --project ${a.tenant.project_id}`)).toBe("(no instances)\n");
});
