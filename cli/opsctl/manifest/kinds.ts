// Lists the kinds of records in the manifest of a site, and their references.
import type { AddressFamily } from "../../../src/contract/enums.ts";
import { parseProvisionRange } from "../../../src/lib/net/provision-range.ts";
import type { Entry, ManifestKind } from "../../internal/manifest/kind.ts";
import type { Reference, Schema } from "../../internal/manifest/plan.ts";
import { completePolicy } from "./boot-policy.ts";

const name = { type: "text", change: "fixed", required: true } as const;
const parent = name;
const description = { type: "text", change: "patch" } as const;
const fixed = <const T extends string>(type: T) => ({ type, change: "fixed" }) as const;
const patched = <const T extends string>(type: T) => ({ type, change: "patch" }) as const;
const required = <const F extends object>(field: F) => ({ ...field, required: true }) as const;
const chosen = <const T extends string>(type: T) => ({ ...fixed(type), chosen: true }) as const;

/**
 * Returns the field with the start of the range as the server stores it. The first address after the network address is
 * never allocated. If this address is given as the start, the server stores the next one. Returns no field if the
 * manifest has no start or no block.
 */
function startOf(family: AddressFamily, values: Entry["values"]): Entry["values"] {
  const field = `provision_start_ip${family}`;
  // parseManifest has checked the types of the fields.
  const given = (name: string) => (values[`${name}_ip${family}`] ?? null) as string | null;
  const [start, block] = [given("provision_start"), values[`ip${family}_block`]];
  if (start === null || typeof block !== "string") return {};
  const parsed = parseProvisionRange(family, { block, start, end: given("provision_end"), gateway: given("gateway") });
  // The server will refuse an invalid range.
  return "error" in parsed ? {} : { [field]: parsed.range.start };
}

const KINDS = [
  { list: "silos", singular: "silo", path: "/v1/silos", key: ["name"], fields: { name, description } },
  {
    list: "tenants",
    singular: "tenant",
    path: "/v1/silos",
    key: ["silo", "name"],
    fields: { silo: parent, name, description },
  },
  {
    list: "projects",
    singular: "project",
    path: "/v1/tenants",
    key: ["silo", "tenant", "name"],
    fields: { silo: parent, tenant: parent, name, description, labels: patched("object") },
  },
  {
    list: "quotas",
    singular: "quota",
    path: "/v1/tenants",
    key: ["silo", "tenant", "project"],
    fields: {
      silo: parent,
      tenant: parent,
      project: fixed("text"),
      cpu_limit: required(patched("number")),
      memory_bytes: required(patched("bytes")),
      disk_bytes: required(patched("bytes")),
      instance_limit: required(patched("number")),
    },
  },
  {
    list: "nic_tags",
    singular: "NIC tag",
    path: "/v1/system/nic-tags",
    key: ["name"],
    fields: { name, description: fixed("text"), mtu: required(fixed("number")) },
  },
  {
    list: "external_subnets",
    singular: "external subnet",
    path: "/v1/system/external-subnets",
    key: ["name"],
    fields: {
      name,
      description,
      nic_tag: required(fixed("text")),
      vlan_id: fixed("number"),
      ipv4_block: fixed("block"),
      ipv6_block: fixed("block"),
      provision_start_ipv4: chosen("address"),
      provision_end_ipv4: chosen("address"),
      provision_start_ipv6: chosen("address"),
      provision_end_ipv6: chosen("address"),
      gateway_ipv4: chosen("address"),
      gateway_ipv6: chosen("address"),
      owner_silos: patched("texts"),
    },
    complete: (values) => ({ ...values, ...startOf("v4", values), ...startOf("v6", values) }),
  },
  {
    list: "network_pools",
    singular: "network pool",
    path: "/v1/system/network-pools",
    key: ["name"],
    fields: { name, description, networks: required(patched("texts")), owner_silos: patched("texts") },
  },
  {
    list: "settings",
    singular: "setting",
    path: "/v1/config",
    key: ["key"],
    fields: { key: parent, value: required(patched("json")) },
  },
  {
    list: "boot_policy",
    singular: "boot policy",
    path: "/v2/cn-boot-policy",
    key: [],
    single: true,
    fields: {
      auto_enroll: patched("boolean"),
      allowlist: patched("objects"),
      enrollment_pi: patched("text"),
      enrollment_kernel_args: patched("texts"),
      admin_network: patched("object"),
      rack_networks: patched("objects"),
      label_arguments: patched("objects"),
    },
    complete: completePolicy,
  },
] as const satisfies readonly ManifestKind[];

export type ListName = (typeof KINDS)[number]["list"];

export const SITE: Schema = { place: "the site", kinds: KINDS, referencesOf };

export function kindOf(list: ListName): ManifestKind {
  return KINDS.find((kind) => kind.list === list)!;
}

/** The name of the tenant that a new silo has. */
export const DEFAULT_TENANT = "default";

function referencesOf({ list, values }: Entry): Reference[] {
  const { silo, tenant, project, nic_tag } = values;
  // parseManifest has checked that these are lists of names.
  const owners = (values.owner_silos ?? []) as readonly string[];
  const networks = (values.networks ?? []) as readonly string[];
  const to = (of: ListName, ...names: unknown[]): Reference[] =>
    names.includes(undefined) || names.includes(null) ? [] : [{ list: of, key: names.join("/") }];
  return [
    ...to("silos", silo),
    ...to("tenants", silo, tenant),
    ...(list === "quotas" ? to("projects", silo, tenant, project) : []),
    ...to("nic_tags", nic_tag),
    ...owners.flatMap((owner) => to("silos", owner)),
    ...networks.flatMap((network) => to("external_subnets", network)),
  ];
}
