// Defines the queries of the pages of a project.
import type { Image } from "../../src/contract/image.ts";
import type { Disk, Instance, Nic } from "../../src/contract/instance.ts";
import type { FloatingIp, Subnet, Vpc } from "../../src/contract/network.ts";
import type { PlacementGroup } from "../../src/contract/placement-group.ts";
import type { SshKey } from "../../src/contract/ssh-key.ts";
import type { Webhook } from "../../src/contract/webhook.ts";
import type { Choice, Field } from "../core/action.ts";
import { get, getAll, getArray, getFirst } from "../core/client.ts";
import type { Query } from "../core/store.ts";
import type { Place } from "./place.ts";

const name = ({ tenant, project }: Place) => `${tenant} ${project}`;

/** The first instances of a project, which can have 10,000. */
export function instancesQuery(place: Place, state = ""): Query<Instance[]> {
  return {
    key: `instances ${name(place)} ${state}`,
    kinds: ["instance"],
    read: (signal) => getFirst<Instance>("/v1/instances", { ...place, state }, signal),
  };
}

export function instanceQuery(id: string): Query<Instance> {
  return {
    key: `instance ${id}`,
    kinds: ["instance"],
    fresh_ms: 5_000,
    read: (signal) => get<Instance>(`/v1/instances/${id}`, undefined, signal),
  };
}

export function nicsQuery(instance: string): Query<Nic[]> {
  return {
    key: `nics of ${instance}`,
    kinds: ["instance", "floating-ip"],
    read: (signal) => getAll<Nic>("/v1/nics", { instance }, signal),
  };
}

/**
 * A field for a NIC of a project. If these are not all NICs of the project, the field also takes the UUID of another
 * NIC.
 */
export function nicField(nics: readonly Choice[], hasMore: boolean): Field {
  const field = { name: "nic_id", label: "To" };
  return hasMore
    ? { ...field, suggestions: nics, hint: "A NIC's UUID. The field offers only some of the project's many NICs" }
    : { ...field, type: "choice", choices: nics };
}

/** The first NICs of a project. */
export function projectNicsQuery(place: Place): Query<Nic[]> {
  return {
    key: `nics ${name(place)}`,
    kinds: ["instance"],
    read: (signal) => getFirst<Nic>("/v1/nics", { ...place }, signal),
  };
}

export function disksQuery(instance: string): Query<Disk[]> {
  return {
    key: `disks of ${instance}`,
    kinds: ["instance"],
    read: async (signal) => (await get<{ items: Disk[] }>("/v1/disks", { instance }, signal)).items,
  };
}

export function vpcsQuery(place: Place): Query<Vpc[]> {
  return {
    key: `vpcs ${name(place)}`,
    kinds: ["vpc"],
    read: (signal) => getAll<Vpc>("/v1/vpcs", { ...place }, signal),
  };
}

export function vpcQuery(id: string): Query<Vpc> {
  return {
    key: `vpc ${id}`,
    kinds: ["vpc"],
    read: (signal) => get<Vpc>(`/v1/vpcs/${id}`, undefined, signal),
  };
}

export function subnetsQuery(vpc: string): Query<Subnet[]> {
  return {
    key: `subnets ${vpc}`,
    kinds: ["subnet"],
    read: (signal) => getAll<Subnet>("/v1/subnets", { vpc }, signal),
  };
}

/** The subnets of all VPCs of a project, for a choice. */
export function projectSubnetsQuery(place: Place): Query<readonly (Subnet & { readonly vpc_name: string })[]> {
  return {
    key: `subnets of ${name(place)}`,
    kinds: ["subnet", "vpc"],
    read: async (signal) => {
      const vpcs = await getAll<Vpc>("/v1/vpcs", { ...place }, signal);
      const lists = await Promise.all(
        vpcs.map(async ({ id, name: vpc_name }) =>
          (await getAll<Subnet>("/v1/subnets", { vpc: id }, signal)).map((subnet) => ({ ...subnet, vpc_name }))
        ),
      );
      return lists.flat();
    },
  };
}

export function floatingIpsQuery(place: Place): Query<FloatingIp[]> {
  return {
    key: `floating ips ${name(place)}`,
    kinds: ["floating-ip"],
    read: (signal) => getAll<FloatingIp>("/v1/floating-ips", { ...place }, signal),
  };
}

/** The images that a project can use: its own, its tenant's, its silo's and the public ones. */
export function imagesQuery({ tenant, project }: Place): Query<Image[]> {
  return {
    key: `images ${tenant} ${project}`,
    kinds: ["image"],
    read: (signal) => getArray<Image>(`/v1/tenants/${tenant}/projects/${project}/images`, signal),
  };
}

/** The SSH keys that the caller can put on an instance: its own, the project's and the tenant's. */
export function sshKeysQuery({ tenant, project }: Place): Query<SshKey[]> {
  return {
    key: `ssh keys ${tenant} ${project}`,
    kinds: ["ssh-key"],
    read: async (signal) => {
      const lists = await Promise.all([
        getArray<SshKey>("/v1/auth/ssh-keys", signal),
        getArray<SshKey>(`/v1/tenants/${tenant}/projects/${project}/ssh-keys`, signal),
        getArray<SshKey>(`/v1/tenants/${tenant}/ssh-keys`, signal),
      ]);
      return lists.flat();
    },
  };
}

export function placementGroupsQuery(place: Place): Query<PlacementGroup[]> {
  return {
    key: `placement groups ${name(place)}`,
    kinds: ["placement-group"],
    read: (signal) => getAll<PlacementGroup>("/v1/placement-groups", { ...place }, signal),
  };
}

export function webhooksQuery(place: Place): Query<Webhook[]> {
  return {
    key: `webhooks ${name(place)}`,
    kinds: ["webhook"],
    read: (signal) => getAll<Webhook>("/v1/webhooks", { ...place }, signal),
  };
}
