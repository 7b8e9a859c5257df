// Opens a control plane in this process with its own database. Creates one node, one VPC and one image through the API.
// Then age-fill.ts adds the rows of years of use. After that, background work runs only if a probe (age-probes.ts) runs
// it.
import { randomBytes } from "node:crypto";
import type { Vpc } from "../../src/contract/network.ts";
import { KEY_LOOKUP_CHARS, KEY_SECRET_CHARS } from "../../src/contract/limits.ts";
import { readConfig } from "../../src/config.ts";
import { formatApiKey } from "../../src/lib/ids/api-key.ts";
import { type ControlPlane, openControlPlane } from "../../src/wiring.ts";
import { joining, type TestControlPlane } from "../support/control-plane.ts";
import { benchDatabase } from "./bench-database.ts";
import { type AgePlaces, type AgeSize, fillWithAge } from "./age-fill.ts";
import { capacityFor } from "./creates-site.ts";

export type AgeSite = AgePlaces & {
  readonly databaseUrl: string;
  readonly plane: ControlPlane;
  /** The keys of the root operator, of the tenant, and of the node. */
  readonly keys: { readonly root: string; readonly tenant: string; readonly node: string };
  readonly call: TestControlPlane["call"];
  close(): Promise<void>;
};

/** The address of the client. It is in a range for documentation (RFC 5737). */
const ADDRESS = "192.0.2.10";
/** The number of slots of the node. It is larger than the number of instances that age-fill.ts inserts. */
const SLOTS = 200_000;

export async function openAgeSite(
  serverUrl: string,
  { name, size, note }: { readonly name: string; readonly size: AgeSize; readonly note: (line: string) => void },
): Promise<AgeSite> {
  const url = await benchDatabase(serverUrl, name);
  const root = formatApiKey(letters(KEY_LOOKUP_CHARS), letters(KEY_SECRET_CHARS));
  const many = "1000000000";
  const config = readConfig({
    BERTH_ROOT_KEY: root,
    BERTH_SECRET_KEY: randomBytes(32).toString("hex"),
    BERTH_LIMITS_CALLER_REQUESTS_PER_MINUTE: many,
    BERTH_LIMITS_CALLER_WRITES_PER_MINUTE: many,
  });
  const open = () => openControlPlane({ config, databaseUrl: url, resident: false, show: () => {} });
  let plane = await open();
  const call: TestControlPlane["call"] = async (method, path, { key = root, body, headers } = {}) => {
    const sent = new Headers(headers);
    if (key !== null) sent.set("authorization", `Bearer ${key}`);
    if (body !== undefined) sent.set("content-type", "application/json");
    const text = body === undefined ? undefined : JSON.stringify(body);
    const request = new Request(`http://berth.test${path}`, { method, headers: sent, body: text });
    const response = await plane.fetch(request, { remoteAddress: ADDRESS });
    const answer = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer}`);
    const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    return {
      status: response.status,
      headers: response.headers,
      text: answer,
      body: isJson ? JSON.parse(answer) : undefined,
    };
  };
  const make = async <T = { id: string; secret: string }>(path: string, body: unknown, key = root): Promise<T> =>
    (await call("POST", path, { body, key })).body;
  const silo = await make("/v1/silos", { name: "silo" });
  const tenant = await make(`/v1/silos/${silo.id}/tenants`, { name: "tenant" });
  const project = await make(`/v1/tenants/${tenant.id}/projects`, { name: "project" });
  const { secret } = await make(`/v1/tenants/${tenant.id}/api-keys`, { description: "bench" });
  const image = await make(`/v1/tenants/${tenant.id}/images`, {
    name: "image",
    os: "linux",
    version: "1",
    size_bytes: 2 ** 30,
    sha256: "0".repeat(64),
    source_url: "https://images.example/image",
  });
  const vpcBody = { name: "vpc", ipv4_block: "10.0.0.0/8" };
  const vpc = await make<Vpc>(`/v1/vpcs?tenant=${tenant.id}&project=${project.id}`, vpcBody, secret);
  const subnet = await make(`/v1/subnets?vpc=${vpc.id}`, { name: "subnet", ipv4_block: "10.0.0.0/12" }, secret);
  const node = await joining(call).approvedNode({ hostname: "node-0" });
  await call("POST", "/v1/agent/capacity", { key: node.api_key, body: capacityFor(SLOTS) });
  await call("POST", "/v1/agent/heartbeat", { key: node.api_key, body: { server_uuid: node.server_uuid } });
  await plane.pass();
  const places: AgePlaces = {
    tenant_id: tenant.id,
    project_id: project.id,
    vpc_id: vpc.id,
    subnet_id: subnet.id,
    image_id: image.id,
    route_table_id: vpc.main_route_table_id,
    server_uuid: node.server_uuid,
  };
  await fillWithAge(url, places, { size, note });
  const started_ms = performance.now();
  await plane.pass();
  note(`chained the audit entries: ${((performance.now() - started_ms) / 1_000).toFixed(1)} s`);
  // Opens new connections, so that prepared statements get plans for the filled tables.
  await plane.close();
  plane = await open();
  return {
    ...places,
    databaseUrl: url,
    get plane() {
      return plane;
    },
    keys: { root, tenant: secret, node: node.api_key },
    call,
    close: () => plane.close(),
  };
}

function letters(count: number): string {
  return randomBytes(count).toString("base64url").slice(0, count);
}
