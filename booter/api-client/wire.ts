// Validates the control plane's answers, because values of a record become part of packets, paths and boot scripts.
// Ignores unknown keys, so that a booter works with a newer control plane.
import type { BootArguments, BootRecord } from "../../src/contract/boot.ts";
import { BOOT_CONSOLES, BOOT_RECORD_STATES } from "../../src/contract/enums.ts";
import { MACS_PER_NODE_MAX, VLAN_ID_MAX } from "../../src/contract/limits.ts";
import { isHostname } from "../../src/lib/net/hostname.ts";
import { isKernelArgument, reservedKernelArgument } from "../../src/lib/text/kernel-argument.ts";
import { canonicalMac, isMulticastMac } from "../../src/lib/net/mac.ts";
import { isSha512Crypt } from "../../src/lib/crypto/sha512-crypt.ts";
import { isStamp } from "../../src/lib/ids/stamp.ts";
import { ipv4Number } from "../ipv4.ts";

/** A boot record, with the root password hash of its node if the control plane sends this hash. */
export type BootFacts = Omit<BootRecord, "kernel_args" | "console"> & {
  /** The kernel arguments and the console from the boot record and from the labels of the record's node. */
  readonly boot_arguments: BootArguments;
  /** Null if the node has no password hash. Also null if the hash is unknown: then `root_password_known` is false. */
  readonly root_password_hash: string | null;
  /**
   * Whether the hash, or its absence, is known from an answer about this machine. The list of records contains no
   * hashes.
   */
  readonly root_password_known: boolean;
};
export type PolicyFacts = { readonly enrollment_pi: string | null; readonly enrollment_kernel_args: readonly string[] };

/**
 * The largest accepted speed of a serial console, in bits per second. No serial port is faster. The control plane
 * limits the speeds that operators may choose.
 */
const SPEED_MAX = 4_000_000;

type Bag = Readonly<Record<string, unknown>>;

/**
 * Validates a boot record.
 * @throws Error that names the invalid field
 */
export function bootFacts(value: unknown): BootFacts {
  const bag = bagOf(value, "boot record");
  const mac = textOf(bag, "mac");
  if (canonicalMac(mac) !== mac || isMulticastMac(mac)) throw wrong("mac");
  const state = BOOT_RECORD_STATES.find((each) => each === bag.state);
  if (state === undefined) throw wrong("state");
  const address = orNull(bag.address, "address", (text) => ipv4Number(text) !== null);
  const networking = bag.networking === null || bag.networking === undefined ? null : networkingOf(bag.networking);
  if ((address === null) !== (networking === null) || (networking !== null && networking.address !== address)) {
    throw wrong("networking");
  }
  if (typeof bag.rescue !== "boolean") throw wrong("rescue");
  return {
    mac,
    state,
    address,
    networking,
    rescue: bag.rescue,
    provenance: bag.provenance as BootRecord["provenance"],
    server_uuid: orNull(
      bag.server_uuid,
      "server_uuid",
      (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text),
    ),
    assigned_pi: orNull(bag.assigned_pi, "assigned_pi", isStamp),
    hostname: orNull(bag.hostname, "hostname", isHostname),
    created_at: String(bag.created_at ?? ""),
    updated_at: String(bag.updated_at ?? ""),
    boot_arguments: argumentsOf(bag.boot_arguments),
    root_password_hash: orNull(bag.root_password_hash, "root_password_hash", isSha512Crypt),
    // Only the cache file contains this field. In a file of an earlier release, a null hash can also mean that the hash
    // is unknown.
    root_password_known: bag.root_password_known === true || typeof bag.root_password_hash === "string",
  };
}

/** A control plane of an earlier release sends no arguments. */
function argumentsOf(value: unknown): BootArguments {
  if (value === undefined || value === null) return { kernel_args: [], console: null };
  const bag = bagOf(value, "boot_arguments");
  const kernel_args = listOf(bag.kernel_args, "boot_arguments.kernel_args", isOwnKernelArgument);
  if (bag.console === undefined || bag.console === null) return { kernel_args, console: null };
  const { port: name, speed } = bagOf(bag.console, "boot_arguments.console");
  const port = BOOT_CONSOLES.find((each) => each === name);
  if (port === undefined || typeof speed !== "number" || !Number.isInteger(speed) || speed < 1 || speed > SPEED_MAX) {
    throw wrong("boot_arguments.console");
  }
  return { kernel_args, console: { port, speed } };
}

function isOwnKernelArgument(text: string): boolean {
  return isKernelArgument(text) && reservedKernelArgument(text) === null;
}

function networkingOf(value: unknown): NonNullable<BootRecord["networking"]> {
  const bag = bagOf(value, "networking");
  const prefix_len = bag.prefix_len;
  if (typeof prefix_len !== "number" || !Number.isInteger(prefix_len) || prefix_len < 1 || prefix_len > 32) {
    throw wrong("networking.prefix_len");
  }
  const isAddress = (text: string) => ipv4Number(text) !== null;
  const base = {
    address: orNull(bag.address, "networking.address", isAddress) ?? "",
    prefix_len,
    gateway: orNull(bag.gateway, "networking.gateway", isAddress),
    ...vlanOf(bag.vlan_id),
    resolvers: listOf(bag.resolvers, "networking.resolvers", isAddress),
    hostname: orNull(bag.hostname, "networking.hostname", isHostname),
    nic_tags: listOf(bag.nic_tags, "networking.nic_tags", isTag),
  };
  if (bag.aggregate === undefined || bag.aggregate === null) return base;
  const aggregate = bagOf(bag.aggregate, "networking.aggregate");
  const mode = (["off", "active", "passive"] as const).find((each) => each === aggregate.mode);
  const name = orNull(aggregate.name, "networking.aggregate.name", isTag);
  if (mode === undefined || name === null) throw wrong("networking.aggregate");
  const macs = listOf(aggregate.macs, "networking.aggregate.macs", (text) => canonicalMac(text) === text);
  if (macs.length === 0 || macs.length > MACS_PER_NODE_MAX) throw wrong("networking.aggregate.macs");
  return { ...base, aggregate: { name, mode, macs } };
}

/**
 * Validates the boot policy.
 * @throws Error that names the invalid field
 */
export function policyFacts(value: unknown): PolicyFacts {
  const bag = bagOf(value, "boot policy");
  return {
    enrollment_pi: orNull(bag.enrollment_pi, "enrollment_pi", isStamp),
    enrollment_kernel_args: listOf(bag.enrollment_kernel_args, "enrollment_kernel_args", isKernelArgument),
  };
}

function vlanOf(value: unknown): { readonly vlan_id?: number } {
  if (value === undefined || value === null) return {};
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > VLAN_ID_MAX) {
    throw wrong("networking.vlan_id");
  }
  return { vlan_id: value };
}

function isTag(text: string): boolean {
  return /^[A-Za-z0-9_.-]{1,63}$/.test(text);
}

export function bagOf(value: unknown, name: string): Bag {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(name);
  return value as Bag;
}

export function textOf(bag: Bag, name: string): string {
  const value = bag[name];
  if (typeof value !== "string") throw wrong(name);
  return value;
}

function orNull(value: unknown, name: string, isValid: (text: string) => boolean): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value !== "string" || !isValid(value)) throw wrong(name);
  return value;
}

function listOf(value: unknown, name: string, isValid: (text: string) => boolean): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((each) => typeof each === "string" && isValid(each))) throw wrong(name);
  return value as string[];
}

function wrong(name: string): Error {
  return new Error(`the control plane's answer cannot be used: ${name}`);
}
