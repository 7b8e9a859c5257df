// Reads the kernel arguments with which machines boot: the arguments of their nodes' labels, and their own arguments.
import type { Kysely } from "kysely";
import { findPolicy } from "../../actors/boot-policy/reads.ts";
import { findLabels } from "../../actors/cn/reads.ts";
import type { BootArguments } from "../contract/boot.ts";
import type { Database } from "../db/tables.ts";
import { bootArguments } from "../lib/net/boot-arguments.ts";

type Machine = BootArguments & { readonly mac: string; readonly server_uuid: string | null };

/**
 * Returns a function that returns the arguments of one of these machines by its MAC. For any other MAC, the function
 * returns no arguments and no console.
 */
export async function findBootArguments(
  kysely: Kysely<Database>,
  machines: readonly Machine[],
): Promise<(mac: string) => BootArguments> {
  const { policy: { label_arguments } } = await findPolicy(kysely);
  const nodes = machines.flatMap(({ server_uuid }) => server_uuid === null ? [] : [server_uuid]);
  const labels = label_arguments.length === 0 ? new Map() : await findLabels(kysely, nodes);
  const found = new Map(machines.map(({ mac, server_uuid, kernel_args, console }) => [
    mac,
    bootArguments({ kernel_args, console }, labels.get(server_uuid ?? "") ?? null, label_arguments),
  ]));
  return (mac) => found.get(mac) ?? { kernel_args: [], console: null };
}
