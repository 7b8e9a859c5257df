// Describes the changes of a new boot policy or roster, so that an operator can confirm them.
import type { BootPolicy, Roster } from "../../src/contract/boot.ts";
import { counted } from "./text.ts";

const POLICY_FIELDS: Readonly<Record<keyof BootPolicy, string>> = {
  auto_enroll: "whether new machines enrol by themselves",
  allowlist: "the machines that may enrol by themselves",
  enrollment_pi: "the platform image of new machines",
  enrollment_kernel_args: "the kernel arguments",
  admin_network: "the admin network",
  rack_networks: "the racks behind relays",
  label_arguments: "the arguments of nodes with a label",
};

/** The largest number of machines that a sentence names. */
const NAMED_MAX = 5;

/** Returns what a new policy changes. The new policy may be any JSON, because only the server checks it. */
export function policyChanges(old: BootPolicy, next: Readonly<Record<keyof BootPolicy, unknown>>): string {
  const fields = Object.keys(POLICY_FIELDS) as (keyof BootPolicy)[];
  const changed = fields.filter((field) => text(old[field]) !== text(next[field]));
  return changed.length === 0
    ? "Nothing changes."
    : `Machines boot by this policy from their next netboot on. Changes: ${
      changed.map((field) => POLICY_FIELDS[field]).join(", ")
    }.`;
}

/** Returns which machines a new roster adds, removes and changes. The new roster may be any JSON. */
export function rosterChanges(old: Roster, next: unknown): string {
  const before = byHostname(old);
  const after = byHostname(next);
  const names = {
    Adds: [...after.keys()].filter((name) => !before.has(name)),
    Removes: [...before.keys()].filter((name) => !after.has(name)),
    Changes: [...after.keys()].filter((name) => before.has(name) && before.get(name) !== after.get(name)),
  };
  const sentences = Object.entries(names).filter(([, { length }]) => length > 0).map(([verb, list]) =>
    `${verb} ${counted(list.length, "machine")}: ${list.slice(0, NAMED_MAX).join(", ")}${
      list.length > NAMED_MAX ? " and more" : ""
    }.`
  );
  return sentences.length === 0
    ? "Nothing changes."
    : `The roster is replaced as a whole. Machines boot with its networking. ${sentences.join(" ")}`;
}

function byHostname(roster: unknown): ReadonlyMap<string, string> {
  const entries: readonly unknown[] = Array.isArray(roster) ? roster : [];
  return new Map(entries.map((entry) => {
    const name = typeof entry === "object" && entry !== null && "hostname" in entry ? String(entry.hostname) : "?";
    return [name, text(entry)];
  }));
}

/** Returns JSON for a comparison: with sorted keys, and without the keys whose value is null or an empty list. */
function text(value: unknown): string {
  return JSON.stringify(
    value ?? null,
    (_, part) =>
      typeof part !== "object" || part === null || Array.isArray(part) ? part : Object.fromEntries(
        Object.entries(part)
          .filter(([, each]) => each !== null && !(Array.isArray(each) && each.length === 0))
          .toSorted(([a], [b]) => a < b ? -1 : 1),
      ),
  );
}
