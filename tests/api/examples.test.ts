// Tests every example of the API description. A control plane must accept the body of each request. Each example of a
// record must fit its schema and have the fields of a real answer.
import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { z } from "zod";
import { ANSWER_EXAMPLES } from "../../src/contract/answer-examples.ts";
import { BODY_EXAMPLES } from "../../src/contract/body-examples.ts";
import { namedSchemas } from "../../src/contract/named.ts";
import { addNode, type Node } from "../compute/compute-fixture.ts";
import { type Answer, okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { sendImage, sendPart } from "../compute/send-image.ts";
import { addUpload } from "../compute/upload.ts";
import { openFolderStore } from "../../src/image-store/folder.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { bareMachine } from "./bare-machine.ts";
import { fill, makeObjects, type Objects, selectorsOf } from "./objects.ts";
import { readRoutes, type RouteDescription } from "./description.ts";

type Fields = Readonly<Record<string, unknown>>;
/** The values that replace parts of an example before it is sent: ids in the path, fields of the body, and the key. */
type Stage = {
  readonly objects?: Objects;
  readonly fields?: Fields;
  readonly key?: string | null;
  /** The work that a node does while the request waits. */
  readonly work?: () => Promise<void>;
};

/** Fields that hold ids, secrets or epochs. The test may replace only these fields of an example. */
const NAMING = new Set([
  "claimed_by",
  "server_uuid",
  "code",
  "current_password",
  "epoch",
  "image_id",
  "nat_gateway_id",
  "networks",
  "nic_id",
  "primary_subnet_id",
  "subnet_id",
  "realizer",
  "resource",
  "refresh_token",
  "route_table_id",
  "ssh_key_ids",
]);
/**
 * The platform version of the examples' image. Only `host` and `spare` report this version, and `spare` is cordoned
 * until the migration.
 */
const PLATFORM = "29990101T000000Z";

let t: TestControlPlane;
let folder: TemporaryFolder;
/** The node that hosts the instances. */
let host: Node;
/** A node that takes a migrating instance. */
let spare: Node;
/** The node that sends the examples of agent routes. */
let agent: Node;
/** A node without recent heartbeats. */
let dead: Node;
let ids: Objects;
let routes: readonly RouteDescription[];
// deno-lint-ignore no-explicit-any -- the tests read many different fields of the document
let document: any;
/** One record from an answer for each schema, by the schema's name. */
const answered = new Map<string, Fields>();
/** The ids of created objects, by the route that created the object. */
const made = new Map<string, string>();

const exampleOf = (route: string) => BODY_EXAMPLES[route] as Fields;
const make = async (path: string, body: unknown) => okOf(await t.call("POST", path, { body }));
const login = async () =>
  okOf(await t.call("POST", "/v1/auth/login", { key: null, body: exampleOf("POST /v1/auth/login") }));

beforeAll(async () => {
  folder = await temporaryFolder("examples");
  t = await openTestControlPlane({ env: { BERTH_IMAGE_DIR: folder.path } });
  document = (await t.call("GET", "/openapi.json")).body;
  routes = readRoutes(document);
  agent = await addNode(t);
  dead = await addNode(t);
  const objects = await makeObjects(t);
  // `host` joins after makeObjects, so that placement cannot put the instance that makeObjects creates on `host`.
  host = await addNode(t, { platform_version: PLATFORM, hvm_supported: true });
  spare = await addNode(t, { platform_version: PLATFORM, hvm_supported: true });
  await spare.alive();
  await host.alive();
  okOf(await t.call("PATCH", `/v1/cns/${spare.server_uuid}/placement`, { body: { cordoned: true } }));
  const mac = "02:be:57:00:00:02";
  await make("/v2/booter/seen", { mac });
  okOf(await t.call("PUT", "/v2/platform-images", { body: exampleOf("PUT /v2/platform-images") }));
  await make("/v1/system/nic-tags", { name: "ground", mtu: 1_500 });
  const block = { name: "ground", nic_tag: "ground", ipv4_block: "198.19.0.0/24" };
  const network = await make("/v1/system/external-subnets", block);
  const pool = await make("/v1/system/network-pools", { name: "ground", networks: [network.id] });
  const { username, password } = exampleOf("POST /v1/auth/login");
  const user = await make("/v1/system/users", { username, password });
  const compatibility = { brand: "bhyve", arch: "x86_64", min_platform: PLATFORM };
  const sha256 = "5e".repeat(32);
  const image = await make("/v1/images", {
    name: "ground",
    os: "linux",
    version: "1",
    size_bytes: 1,
    sha256,
    compatibility,
  });
  ids = {
    ...objects,
    mac,
    server_uuid: agent.server_uuid,
    image: image.id,
    image_id: image.id,
    external_subnet_id: network.id,
    network_pool_id: pool.id,
    user_id: user.id,
    key: "reservoir.percent_default",
  };
  const body = {
    name: "ground",
    image_id: image.id,
    primary_subnet_id: ids.subnet,
    cpu: 1,
    memory_bytes: 2 ** 30,
  };
  const query = `?tenant=${ids.tenant}&project=${ids.project}`;
  const { id: instance } = await host.done(t.call("POST", `/v1/instances${query}`, { body }), "provision");
  const [disk] = okOf(await t.call("GET", `/v1/disks?instance=${instance}`)).items;
  const [nic] = okOf(await t.call("GET", `/v1/nics?instance=${instance}`)).items;
  ids = { ...ids, instance_id: instance, disk_id: disk.id, nic: nic.id, nic_of_objects: ids.nic! };
});
afterAll(async () => {
  await t.close();
  await folder.remove();
});

/** For some routes, a function that prepares the request of the route and returns the values for this request. */
const STAGES: Readonly<Record<string, () => Stage | Promise<Stage>>> = {
  "POST /v1/cns/{server_uuid}/evacuate": async () => {
    const silent = "update cn_signal set last_seen = berth_now() - interval '1 hour' where server_uuid = $1";
    await t.db.query(silent, [dead.server_uuid]);
    return { objects: { server_uuid: dead.server_uuid } };
  },
  "POST /v1/agent/register": () => ({ key: null }),
  "POST /v1/agent/claim": () => ({ fields: { claimed_by: agent.server_uuid } }),
  "POST /v1/agent/poll": () => ({ fields: { server_uuid: agent.server_uuid } }),
  "POST /v1/agent/network-realization": async () => {
    const vpc_id = ids.vpc;
    await t.db.query("insert into vpc_realization (vpc_id, server_uuid) values ($1, $2)", [vpc_id, agent.server_uuid]);
    return {
      fields: {
        resource: { kind: "vpc", id: vpc_id },
        realizer: { kind: "cn", id: agent.server_uuid },
      },
    };
  },
  "POST /v1/agent/network/trace": async () => {
    const { trace_id } = BODY_EXAMPLES["POST /v1/agent/network/trace"] as { readonly trace_id: string };
    const asked = "insert into network_trace (id, server_uuid, question) values ($1, $2, '{}')";
    await t.db.query(asked, [trace_id, agent.server_uuid]);
    return {};
  },
  "POST /v1/agent/jobs/{job_id}/progress": jobInHand,
  "POST /v1/agent/jobs/{job_id}/complete": jobInHand,
  "POST /v1/image-uploads/{upload_id}/finish": async () => {
    const upload_id = randomUUID();
    const silo = await make("/v1/silos", { name: upload_id });
    const { id: tenant_id } = await make(`/v1/silos/${silo.id}/tenants`, { name: upload_id });
    // The example's sha256 is the digest of these bytes.
    const bytes = new TextEncoder().encode("test");
    await addUpload(t, upload_id, tenant_id, { size_bytes: bytes.length, received_bytes: bytes.length });
    await (await openFolderStore(folder.path)).write(upload_id, 0, bytes);
    return { objects: { upload_id } };
  },
  "POST /v1/cn-approvals": async () => ({ fields: { code: (await t.register()).claim_code } }),
  "POST /v1/cns/{server_uuid}/approve-setup": async () => ({
    objects: { server_uuid: await bareMachine(t, "awaiting_setup") },
  }),
  "PUT /v2/booter/cns/{server_uuid}/setup-script": () => settingUp(scriptExample().mac),
  "POST /v2/booter/cns/{server_uuid}/setup-script/bundle": async () => {
    const stage = await settingUp(scriptExample().mac);
    const { token } = exampleOf("POST /v2/booter/cns/{server_uuid}/setup-script/bundle") as { readonly token: string };
    const token_sha256 = createHash("sha256").update(token).digest("hex");
    const script = { ...scriptExample(), ...stage.fields, token_sha256 };
    okOf(await t.call("PUT", `/v2/booter/cns/${stage.objects?.server_uuid}/setup-script`, { body: script }));
    return stage;
  },
  "POST /v2/booter/cns/{server_uuid}/setup-progress": () => settingUp(),
  "POST /v2/booter/cns/{server_uuid}/setup-complete": () => settingUp(),
  "POST /v2/booter/cns/{server_uuid}/setup-failed": () => settingUp(),
  "POST /v1/auth/login": () => ({ key: null }),
  "POST /v1/console/session": () => ({ key: null }),
  "POST /v1/auth/refresh": async () => ({ key: null, fields: { refresh_token: (await login()).refresh_token } }),
  "POST /v1/auth/password": async () => ({ key: (await login()).access_token }),
  "POST /v1/subnets": () => ({ objects: { vpc: made.get("POST /v1/vpcs") ?? "" } }),
  "PUT /v1/subnets/{subnet_id}/route-table": () => ({ fields: { route_table_id: ids.route_table } }),
  "POST /v1/floating-ips/{floating_ip_id}/attach": attachable,
  "POST /v1/tenants/{tenant_id}/projects/{project_id}/floating-ips/{floating_ip_id}/attach": attachable,
  "POST /v1/system/network-pools": () => ({ fields: { networks: [ids.external_subnet_id] } }),
  "PUT /v1/system/network-pools/{network_pool_id}": () => ({ fields: { networks: [ids.external_subnet_id] } }),
  "POST /v1/instances/{instance_id}/migrate": async () => {
    // The migration occupies this instance, so no other example uses it. The target node `spare` was cordoned until
    // now, so it hosts no other instance.
    const body = {
      name: "moves",
      image_id: ids.image_id,
      primary_subnet_id: ids.subnet,
      cpu: 1,
      memory_bytes: 2 ** 30,
    };
    const path = `/v1/instances?tenant=${ids.tenant}&project=${ids.project}`;
    const { id: instance_id } = await host.done(t.call("POST", path, { body }), "provision");
    okOf(await t.call("PATCH", `/v1/cns/${spare.server_uuid}/placement`, { body: { cordoned: false } }));
    return { objects: { instance_id } };
  },
  "POST /v1/instances/{instance_id}/rebuild": () => ({
    objects: { instance_id: ids.instance_id! },
    fields: { image_id: ids.image_id },
  }),
  "POST /v1/port-forwards": () => ({ fields: { nat_gateway_id: ids.nat_gateway_id, nic_id: ids.nic_of_objects } }),
  "POST /v1/disks": () => ({ objects: { instance: ids.instance_id! } }),
  "POST /v1/snapshots": () => ({ objects: { disk: ids.disk_id! } }),
  "POST /v1/agent/images/{upload_id}": async () => ({
    objects: { upload_id: await imageInHand("first") },
    key: host.api_key,
  }),
  "POST /v1/agent/images/{upload_id}/finish": async () => {
    // The previous example began the upload.
    const { upload_id, size_bytes } = (await t.db.query(
      "select id as upload_id, size_bytes::int from image_upload where operation_id is not null",
    )).rows[0] as { upload_id: string; size_bytes: number };
    okOf(await sendPart(t, host, `/v1/agent/images/${upload_id}`, "1".repeat(size_bytes)));
    return { objects: { upload_id }, key: host.api_key };
  },
  "POST /v1/snapshots/{snapshot_id}/image": async () => {
    const { rows } = await t.db.query(
      "select id, saga_id from job where kind = 'create_image' and state = 'in_progress'",
    );
    const outcome = { kind: "completed" };
    for (const { id, saga_id } of rows) {
      okOf(await host.call("POST", `/v1/agent/jobs/${id}/complete`, { outcome }));
      // Until the operation ends, no other operation can begin on the instance.
      expect(okOf(await t.call("GET", `/v1/operations/${saga_id}?wait=20`)).state).toBe("succeeded");
    }
    return { objects: { snapshot_id: made.get("POST /v1/snapshots") ?? "" }, work: makesImage };
  },
  "POST /v1/nics": async () => {
    // The previous example began to resize a disk. The NIC needs a stopped instance.
    await host.does("resize_disk");
    await host.done(t.call("POST", `/v1/instances/${ids.instance_id}/stop`), "stop");
    return { objects: { instance: ids.instance_id! }, fields: { subnet_id: ids.subnet } };
  },
  "PATCH /v1/nics/{nic_id}": async () => {
    // The example's address is in the subnet of the example of POST /v1/subnets.
    const subnet_id = made.get("POST /v1/subnets");
    const nic = await make(`/v1/nics?instance=${ids.instance_id}`, { name: "patched", subnet_id });
    return { objects: { nic_id: nic.id } };
  },
  "POST /v1/instances": () => ({
    fields: { image_id: ids.image, primary_subnet_id: ids.subnet, ssh_key_ids: [ids.key_id] },
  }),
};

/** For routes that wait for a node: the kinds of the jobs that the node must finish before the route answers. */
const JOBS: Readonly<Record<string, string | readonly string[]>> = {
  "POST /v1/floating-ips/{floating_ip_id}/attach": "fip_claim",
  "POST /v1/tenants/{tenant_id}/projects/{project_id}/floating-ips/{floating_ip_id}/attach": "fip_claim",
  "POST /v1/instances": "provision",
  "POST /v1/disks": "create_disk",
  "POST /v1/snapshots": "create_snapshot",
  "POST /v1/instances/{instance_id}/rebuild": ["rebuild", "start"],
};

/** Allocates an IPv4 floating IP, because the examples' NIC has an IPv4 address. */
async function attachable(): Promise<Stage> {
  const query = `?tenant=${ids.tenant}&project=${ids.project}`;
  const { id } = await make(`/v1/floating-ips${query}`, { name: randomUUID(), family: "v4" });
  return { objects: { floating_ip_id: id }, fields: { nic_id: ids.nic } };
}

function scriptExample() {
  return exampleOf("PUT /v2/booter/cns/{server_uuid}/setup-script") as { readonly mac: string };
}

/** Starts the setup of a node with this port. Returns the node for the path, and the epoch of the setup. */
async function settingUp(mac?: string): Promise<Stage> {
  const server_uuid = await bareMachine(t, "setting_up", mac);
  const { epoch } = await make(`/v2/booter/cns/${server_uuid}/bundle`, {});
  return { objects: { server_uuid }, fields: { epoch } };
}

/** Begins to make an image of the examples' snapshot. Returns the id of the image's upload. */
async function imageInHand(name: string): Promise<string> {
  const path = `/v1/snapshots/${made.get("POST /v1/snapshots")}/image`;
  okOf(await t.call("POST", path, { body: { name }, headers: { prefer: "respond-async" } }));
  return String((await host.take()).kind["upload_id"]);
}

/** Does the node's job that makes an image. */
async function makesImage(): Promise<void> {
  const job = await host.take();
  await sendImage(t, { node: host, job, content: "2" });
  await host.complete(job);
}

/** Inserts a job that `agent` has claimed. */
async function jobInHand(): Promise<Stage> {
  const job_id = randomUUID();
  await t.db.query(
    `insert into job (id, incarnation, version, state, kind, target_cn, payload, saga_id, created_at, claimed_by,
       claimed_at, lease_s, lease_until)
     values ($1, $1, 1, 'in_progress', 'fip_release', $2::uuid, '{}', gen_random_uuid(), berth_now(), $2::text,
       berth_now(), 600, berth_now() + interval '600 s')`,
    [job_id, agent.server_uuid],
  );
  return { objects: { job_id } };
}

async function send(route: RouteDescription): Promise<Answer> {
  const { objects = {}, fields = {}, key, work }: Stage = await STAGES[route.name]?.() ?? {};
  const at = { ...ids, ...objects };
  const example = BODY_EXAMPLES[route.name];
  expect(Object.keys(fields).filter((name) => !NAMING.has(name) || !(name in (example as Fields)))).toEqual([]);
  const body = Array.isArray(example) ? example : { ...example as Fields, ...fields };
  const path = fill(route.path, at) + selectorsOf(route, at);
  const isAgents = route.path.startsWith("/v1/agent/") && key === undefined;
  const asked = isAgents ? agent.call(route.method, path, body) : t.call(route.method, path, { body, key });
  const job = JOBS[route.name];
  if (job !== undefined) await host.done(asked, ...[job].flat());
  await work?.();
  return await asked;
}

test("every route with a request body has an example, and every example belongs to a route", () => {
  const takers = routes.filter(({ body }) => body !== null).map(({ name }) => name);
  expect(Object.keys(BODY_EXAMPLES).sort()).toEqual(takers.sort());
  for (const name of takers) {
    const [method = "", path = ""] = name.split(" ");
    const { example } = document.paths[path][method.toLowerCase()].requestBody.content["application/json"];
    expect(example).toEqual(BODY_EXAMPLES[name]);
  }
});

describe("the example is accepted:", () => {
  test.each(Object.keys(BODY_EXAMPLES))("%s", async (name) => {
    const route = routes.find((each) => each.name === name);
    if (route === undefined) throw new Error(`there is no route ${name}`);
    const answer = await send(route);
    const record = okOf(answer);
    if (typeof record?.id === "string") made.set(name, record.id);
    const { content } = document.paths[route.path][route.method.toLowerCase()].responses[answer.status];
    const schema = content?.["application/json"].schema.$ref?.split("/").at(-1);
    if (schema !== undefined) answered.set(schema, record);
  });
});

describe("the record", () => {
  beforeAll(async () => {
    answered.set("ErrorBody", (await t.call("GET", `/v1/vpcs/${randomUUID()}`)).body);
  });

  test.each(Object.entries(ANSWER_EXAMPLES))(
    "%s fits its schema and has the fields of a real answer",
    (name, example) => {
      const schema: z.ZodType = namedSchemas[name as keyof typeof namedSchemas];
      expect(schema.parse(example)).toEqual(example);
      expect(Object.keys(example as Fields).sort()).toEqual(Object.keys(answered.get(name) ?? {}).sort());
      expect(document.components.schemas[name].example).toEqual(example);
    },
  );
});
