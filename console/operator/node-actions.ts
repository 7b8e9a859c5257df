// Defines the actions of an operator on a node.
import type { CnPlacement, CnPlacementPatch } from "../../src/contract/cn-placement.ts";
import type { CnReservoirBody, CnRoleBody, CnView } from "../../src/contract/cn.ts";
import { CN_ROLES, type CnRole } from "../../src/contract/enums.ts";
import type { Action, Choice, Opening } from "../core/action.ts";
import { send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { editing } from "../core/editing.ts";
import { rootOnly } from "../core/session.ts";
import type { Read } from "../core/store.ts";
import { onlyWhile, words } from "../core/text.ts";

export function choicesOf(names: readonly string[]): Choice[] {
  return names.map((value) => ({ value, label: words(value) }));
}

const HOLDS = {
  cordoned: {
    begin: "Cordon",
    end: "Uncordon",
    notice: "The node takes no new instances. Its instances keep running.",
  },
  reserved: {
    begin: "Reserve",
    end: "End the reservation",
    notice: "The node stays free of new instances until the reservation ends.",
  },
} as const;

/** The action that starts or ends a hold, which keeps new instances off a node. */
export function holdAction(
  { server_uuid, hostname }: Pick<CnView, "server_uuid" | "hostname">,
  hold: keyof typeof HOLDS,
  isHeld: boolean,
): Action {
  const { begin, end, notice } = HOLDS[hold];
  return {
    title: isHeld ? end : begin,
    notice: isHeld ? "New instances may be placed on the node again." : notice,
    fields: isHeld ? [] : [{ name: "reason", label: "Reason", isOptional: true }],
    refused: rootOnly(),
    cli: ({ reason }) =>
      opsctl("cn placement set", [hostname], { [`--${hold}`]: String(!isHeld), [`--${hold}-reason`]: reason }),
    send: async ({ reason = "" }, key) => {
      const body = { [hold]: !isHeld, ...(reason !== "" && { [`${hold}_reason`]: reason }) };
      await send("PATCH", `/v1/cns/${server_uuid}/placement`, { body, key });
    },
  };
}

/** Returns the names of the placement rules that the user has emptied in the form. */
function cleared({ fault_domain, note }: Readonly<Record<"fault_domain" | "note", string | undefined>>) {
  return [fault_domain === "" && "fault_domain" as const, note === "" && "note" as const].filter((name) =>
    name !== false
  );
}

/**
 * Returns the actions of a node. The approvals of its claims come first. Actions on the placement rules (cordon,
 * reserve, edit) are refused until the rules are known.
 */
export function nodeActions(node: CnView, { data: placement, refusal }: Read<CnPlacement>): (Action | Opening)[] {
  const { server_uuid: id, hostname } = node;
  const path = `/v1/cns/${id}`;
  const root = rootOnly();
  const only = (...states: readonly string[]) =>
    root ?? (states.includes(node.state) ? null : onlyWhile("node", node.state, states));
  const unread = root ??
    (placement !== undefined
      ? null
      : refusal === undefined
      ? "The placement rules are being read"
      : `The placement rules could not be read: ${refusal.message}`);
  const patch = (body: CnPlacementPatch, key: string) => send("PATCH", `${path}/placement`, { body, key });

  const approve: Action[] = node.claims.map((claim) => ({
    title: `Approve ${claim.claim_code}`,
    key: "a",
    notice: `Registered from ${claim.source} as ${claim.hostname}, serial ${claim.serial ?? "unknown"}.` +
      (claim.differs.length > 0 ? ` It differs from the node's record in: ${claim.differs.join(", ")}.` : ""),
    isDangerous: claim.differs.length > 0,
    button: "Approve",
    refused: root,
    cli: () => opsctl("cn approve", [claim.claim_code]),
    send: async (_, key) => {
      await send("POST", "/v1/cn-approvals", { body: { code: claim.claim_code }, key });
      return { said: `${hostname} is approved` };
    },
  }));
  return [
    ...approve,
    { ...holdAction(node, "cordoned", placement?.cordoned === true), key: "t", refused: unread },
    { title: "Drain", key: "d", refused: only("approved"), opens: `/nodes/${id}/drain` },
    {
      title: "Set the role",
      fields: [{
        name: "role",
        label: "Role",
        type: "choice",
        choices: choicesOf(CN_ROLES),
        initial: node.role,
        hint: "Applies to future placements",
      }],
      refused: root,
      cli: ({ role }) => opsctl("cn label set", [hostname], { "--role": role }),
      send: async ({ role }, key) => {
        const wanted = CN_ROLES.find((each) => each === role) ?? node.role satisfies CnRole;
        await send("POST", `${path}/role`, { body: { role: wanted } satisfies CnRoleBody, key });
      },
    },
    { ...holdAction(node, "reserved", placement?.reserved === true), refused: unread },
    editing({
      title: "Edit the placement rules",
      key: "e",
      fields: [
        {
          name: "fault_domain",
          label: "Fault domain",
          isOptional: true,
          initial: placement?.fault_domain ?? "",
          hint: "Nodes that fail together, such as a rack",
        },
        { name: "note", label: "Note to other operators", isOptional: true, initial: placement?.note ?? "" },
      ],
      refused: unread,
      cli: ({ fault_domain, note }) =>
        opsctl("cn placement set", [hostname], {
          "--fault-domain": fault_domain,
          "--note": note,
          "--clear": cleared({ fault_domain, note }).join(","),
        }),
      send: async ({ fault_domain, note }, key) => {
        const clear = cleared({ fault_domain, note });
        await patch({
          ...(fault_domain && { fault_domain }),
          ...(note && { note }),
          ...(clear.length > 0 && { clear }),
        }, key);
      },
    }),
    {
      title: "Set the memory reservoir",
      notice: "Replaces the override of the node. An empty value means the cluster's default.",
      fields: [
        {
          name: "enabled",
          label: "Keeps a reservoir",
          type: "choice",
          isOptional: true,
          none: "default",
          choices: choicesOf(["true", "false"]),
        },
        {
          name: "percent",
          label: "Fraction of physical memory",
          type: "number",
          isOptional: true,
          hint: "0.5 is half",
        },
      ],
      refused: root,
      cli: ({ enabled, percent }) =>
        opsctl("cn reservoir set", [hostname], { "--enabled": enabled, "--percent": percent }),
      send: async ({ enabled = "", percent = "" }, key) => {
        const body: CnReservoirBody = {
          ...(enabled !== "" && { reservoir_enabled: enabled === "true" }),
          ...(percent !== "" && { reservoir_percent: Number(percent) }),
        };
        await send("POST", `${path}/reservoir`, { body, key });
      },
    },
    {
      title: "Set the root password",
      notice: "The server stores only a hash. An empty password removes the stored one.",
      fields: [{ name: "password", label: "Password", type: "secret", isOptional: true }],
      refused: root,
      cli: () => opsctl("cn root-password", [hostname]),
      send: async ({ password = "" }, key) => {
        await send("POST", `${path}/root-password`, { body: password === "" ? {} : { password }, key });
      },
    },
    ...(node.state === "disabled"
      ? [
        {
          title: "Enable",
          notice: "The node gets new work again, and new instances may be placed on it.",
          refused: root,
          cli: () => opsctl("cn enable", [hostname]),
          send: async (_, key) => {
            await send("POST", `${path}/enable`, { key });
          },
        } satisfies Action,
      ]
      : []),
    { title: "Evacuate", refused: only("approved"), opens: `/nodes/${id}/evacuate` },
    {
      title: "Disable",
      notice:
        "The node gets no new work, but its API key stays valid. Its instances keep running, but cannot be managed.",
      isDangerous: true,
      refused: only("approved"),
      cli: () => opsctl("cn disable", [hostname]),
      send: async (_, key) => {
        await send("POST", `${path}/disable`, { key });
      },
    },
    {
      title: "Remove",
      notice: "Deletes the record of the node and revokes its key. The audit log keeps its entries.",
      isDangerous: true,
      fields: [{ name: "confirm", label: `Type ${hostname} to remove it`, mustBe: hostname }],
      refused: only("disabled", "pending", "awaiting_setup"),
      cli: () => opsctl("cn remove", [hostname]),
      send: async ({ confirm = "" }, key) => {
        await send("DELETE", path, { query: { confirm }, key });
        return { to: "/nodes", said: `${hostname} is removed` };
      },
    },
  ];
}
