// Tests the commands for a tenant's own projects, API keys, images and operations, with a real control plane.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiKeyView } from "../../../src/contract/api-key.ts";
import type { OperationSummary } from "../../../src/contract/operation.ts";
import { type ComputeFixture, openComputeFixture } from "../../compute/compute-fixture.ts";
import { serverOf } from "../at-control-plane.ts";
import { ENDPOINT } from "../fake-environment.ts";
import { type Ran, tenantctl } from "./run.ts";

const IMAGE = {
  os: "linux",
  version: "1",
  size_bytes: 1_073_741_824,
  sha256: "ab".repeat(32),
  source_url: "https://images.example/linux",
  compatibility: { brand: "kvm", arch: "x86_64" },
};

let a: ComputeFixture;
let key: string;

beforeAll(async () => {
  a = await openComputeFixture();
  key = a.tenant.key;
});
afterAll(() => a?.t.close());

function at(argv: readonly string[], as = key): Promise<Ran> {
  const env = {
    TENANTCTL_ENDPOINT: ENDPOINT,
    TENANTCTL_API_KEY: as,
    TENANTCTL_TENANT: a.tenant.tenant_id,
    TENANTCTL_PROJECT: a.tenant.project_id,
    NO_COLOR: "1",
  };
  return tenantctl([...argv], { env, server: serverOf(a.t), newId: randomUUID });
}

async function printed(argv: string): Promise<string> {
  const ran = await at(argv.split(" "));
  expect(ran.code, `tenantctl ${argv}: ${ran.err()}`).toBe(0);
  return ran.out();
}

const json = async <T>(argv: string): Promise<T> => JSON.parse(await printed(`${argv} -o json`));

/** Runs a list command and returns the items. */
const items = async <T>(argv: string): Promise<readonly T[]> => (await json<{ items: readonly T[] }>(argv)).items;

test("a tenant creates a project with labels and deletes it", async () => {
  const { id } = await json<{ id: string }>("project create --name blue --label team=web");
  expect(await printed("project list --label team=web --no-headers --columns name,id -o wide")).toBe(`blue  ${id}\n`);
  expect(await printed("project delete blue")).toBe(`Project ${id} deleted.\n`);
  expect((await at(["project", "show", "blue"])).code).toBe(3);
});

test("a tenant creates an API key and deletes it; the secret is printed only at the creation", async () => {
  const argv = ["api-key", "create", "--description", "nightly job", "--scope", "read_only", "--expires-at"];
  const made = await at([...argv, "2999-01-31"]);
  expect(made.code, made.err()).toBe(0);
  const secret = made.out().trim();
  expect(secret).toMatch(/^opsk_[A-Za-z0-9_-]{12}_[A-Za-z0-9_-]{32}$/);
  expect(made.err()).not.toContain(secret);
  const id = /Created API key (\S+) /.exec(made.err())![1]!;

  const listed = await items<ApiKeyView>("api-key list");
  expect(listed.find((each) => each.id === id)).toMatchObject({
    description: "nightly job",
    scope: "read_only",
    expires_at: "2999-01-31T00:00:00.000Z",
  });
  expect(JSON.stringify(listed)).not.toContain(secret);
  expect((await at(["vpc", "list"], secret)).code).toBe(0);
  expect((await at(["vpc", "create", "--name", "no", "--ipv4-block", "10.9.0.0/16"], secret)).code).not.toBe(0);

  expect(await printed(`api-key delete ${id}`)).toBe(`API key ${id} deleted.\n`);
  expect((await at(["vpc", "list"], secret)).code).not.toBe(0);
});

test("a tenant deletes its own image by name, and cannot delete an image of the site", async () => {
  const made = await a.t.call("POST", `/v1/tenants/${a.tenant.tenant_id}/images`, {
    key,
    body: { ...IMAGE, name: "mine" },
  });
  expect(made.status, made.text).toBe(201);
  await a.newImage({ name: "theirs" });
  expect(await printed("image delete mine --yes")).toBe(`Image ${made.body.id} deleted.\n`);
  const names = async () => (await printed("image list --no-headers --columns name")).trim().split("\n");
  expect(await names()).toContain("theirs");
  expect(await names()).not.toContain("mine");
  expect((await at(["image", "delete", "theirs", "--yes"])).code).not.toBe(0);
  expect(await names()).toContain("theirs");
});

test("a tenant lists its operations by state and kind, with the newest first", async () => {
  const argv = `instance create --name web-1 --image theirs --subnet ${a.subnet.id} --vpc ${a.vpc.id} --cpu 1`;
  await Promise.all([printed(`${argv} --memory 1GiB`), a.node.does("provision")]);
  await Promise.all([printed("instance stop web-1"), a.node.does("stop")]);
  const kinds = (found: readonly OperationSummary[]) => found.map(({ kind }) => kind);
  expect(kinds(await items("operation list"))).toEqual(["instance-lifecycle", "instance-create"]);
  expect(kinds(await items("operation list --kind instance-create --state succeeded"))).toEqual(["instance-create"]);
  expect(await printed("operation list --state failed")).toBe("(no operations)\n");
  const cut = await at(["operation", "list", "--limit", "1", "-o", "table"]);
  expect(cut.out()).toContain("instance-lifecycle");
  expect(cut.err()).toContain("Older operations exist; raise --limit to see them");
});
