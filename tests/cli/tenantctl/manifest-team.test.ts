// Tests that all users of a project can apply one manifest, with a real control plane. The test acts as the node.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ComputeFixture, openComputeFixture } from "../../compute/compute-fixture.ts";
import { newPublicKey } from "../../compute/public-key.ts";
import { okOf } from "../../support/control-plane.ts";
import { serverOf } from "../at-control-plane.ts";
import { ENDPOINT } from "../fake-environment.ts";
import { tenantctl } from "./run.ts";

const PASSWORD = "correct horse battery";
const NOTHING = "0 to create, 0 to change, 0 to replace, 0 to delete, 1 unchanged\n";
const INSTANCE = "image: debian, vpc: net, primary_subnet: front, cpu: 1, memory_bytes: 1GiB, ssh_keys: [laptop]";
const WEB = `{ name: web, ${INSTANCE} }`;

type User = { readonly token: string; run(argv: string, typed?: string): ReturnType<typeof tenantctl> };

let a: ComputeFixture;
let alice: User;
let bob: User;
let laptop: string;

beforeAll(async () => {
  a = await openComputeFixture();
  alice = await newUser("alice");
  bob = await newUser("bob");
  await a.newImage({ name: "debian" });
  await alice.run(`vpc update ${a.vpc.id} --name net`);
  laptop = await newKey(alice);
  const [made] = await Promise.all([alice.run("apply -f -", `instances: [${WEB}]`), a.node.does("provision")]);
  expect(made.code, made.err()).toBe(0);
});
afterAll(() => a?.t.close());

async function newUser(username: string): Promise<User> {
  const { tenant_id, project_id } = a.tenant;
  okOf(await a.t.call("POST", "/v1/system/users", { body: { username, password: PASSWORD, tenant_id } }));
  const login = await a.t.call("POST", "/v1/auth/login", { key: null, body: { username, password: PASSWORD } });
  const token = okOf(login).access_token;
  const env = { TENANTCTL_ENDPOINT: ENDPOINT, TENANTCTL_ACCESS_TOKEN: token, TENANTCTL_PROJECT: project_id };
  const options = { env: { ...env, NO_COLOR: "1" }, server: serverOf(a.t), newId: randomUUID, isTTY: false };
  return { token, run: (argv, typed = "") => tenantctl(argv.split(" "), { ...options, typed }) };
}

/** Creates the user's SSH key `laptop` and returns its id. */
async function newKey({ token: key }: User): Promise<string> {
  const body = { name: "laptop", public_key: newPublicKey() };
  return okOf(await a.t.call("POST", "/v1/auth/ssh-keys", { key, body })).id;
}

async function applied(user: User, text: string): Promise<string> {
  const ran = await user.run("apply -f - -o table", text);
  expect(ran.code, ran.err()).toBe(0);
  return ran.out();
}

test("a user without the SSH key that the manifest names can apply the manifest, and an existing instance does not change", async () => {
  expect(await applied(bob, `instances: [${WEB}]`)).toBe(NOTHING);
});

test("an instance cannot be created with an SSH key that the user does not have", async () => {
  const ran = await bob.run("apply -f -", `instances: [${WEB}, { name: more, ${INSTANCE} }]`);
  expect([ran.code, ran.asked.filter(({ method }) => method !== "GET")]).toEqual([1, []]);
  expect(ran.err()).toBe(
    "error: instance more refers to ssh_keys laptop, which is neither in the manifest nor in the project\n",
  );
});

test("a user without the SSH keys of an instance can change it; an unknown record in a changed field is refused", async () => {
  const changed = `instances: [${WEB.replace("name: web", "name: web, description: changed")}]`;
  expect(await applied(bob, changed)).toContain("0 created, 1 changed");
  const lost = await bob.run("apply -f -", changed.replace("primary_subnet: front", "primary_subnet: none"));
  expect(lost.err()).toContain("instance web refers to subnets net/none, which is neither");
});

test("if users replace their SSH keys, a manifest that names the keys does not change the instance", async () => {
  await newKey(bob);
  expect(await applied(bob, `instances: [${WEB}]`)).toBe(NOTHING);
  okOf(await a.t.call("DELETE", `/v1/ssh-keys/${laptop}`, { key: alice.token }));
  expect(await applied(alice, `instances: [${WEB}]`)).toBe(NOTHING);
  await newKey(alice);
  expect(await applied(alice, `instances: [${WEB}]`)).toBe(NOTHING);
});

test("an export contains no SSH keys, and every user can apply it", async () => {
  for (const user of [alice, bob]) {
    const exported = (await user.run("export")).out();
    expect(exported).toContain('name: "web"');
    expect(exported).not.toContain("ssh_keys");
    for (const reader of [alice, bob]) {
      expect(await applied(reader, exported)).toMatch(/^0 to create, 0 to change, 0 to replace, 0 to delete, /);
    }
  }
});
