// Shows the placement groups of a project: instances that are kept apart or together.
import type { PlacementGroup } from "../../src/contract/placement-group.ts";
import { useMemo } from "preact/hooks";
import type { Action } from "../core/action.ts";
import { isCut, send } from "../core/client.ts";
import { tenantctl, updates } from "../core/command.ts";
import { editing } from "../core/editing.ts";
import { labelAction } from "../core/labels.ts";
import { memberCounts } from "../core/members.ts";
import { writersOnly } from "../core/session.ts";
import { createdColumn, LABELS_COLUMN } from "../parts/columns.tsx";
import type { Column } from "../parts/list.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { useQuery } from "../parts/use-query.ts";
import type { Place } from "./place.ts";
import { useKept } from "./projects.tsx";
import { instancesQuery, placementGroupsQuery } from "./queries.ts";

/** A few words that explain each combination of policy and level. */
const RULES = {
  anti_affinity: { node: "each on a different node", fault_domain: "each in a different fault domain" },
  affinity: { node: "all on one node", fault_domain: "all in one fault domain" },
} as const;

const ruleText = ({ policy, level }: PlacementGroup) => RULES[policy][level];
const ELSE = { required: "is refused", preferred: "is placed elsewhere" } as const;

export function PlacementGroups({ place }: { readonly place: Place }) {
  useKept(place);
  const { data: instances } = useQuery(instancesQuery(place));
  const counts = useMemo(() => memberCounts(instances ?? []), [instances]);
  const members = ({ id }: PlacementGroup) => counts.get(id) ?? 0;
  const columns: readonly Column<PlacementGroup>[] = [
    { name: "name", title: "Name", sorts: true, text: ({ name }) => name, cell: ({ name }) => name },
    { name: "rule", title: "Its instances are", sorts: true, text: ruleText, cell: ruleText },
    {
      name: "else",
      title: "One that does not fit",
      isWideOnly: true,
      text: ({ strictness }) => ELSE[strictness],
      cell: ({ strictness }) => ELSE[strictness],
    },
    {
      name: "members",
      title: "Instances",
      width: "110px",
      isNumeric: true,
      sorts: true,
      text: members,
      cell: (group) => `${members(group)}${isCut(instances) ? " or more" : ""}`,
    },
    LABELS_COLUMN,
    createdColumn(true),
  ];
  return (
    <ListPage<PlacementGroup>
      title="Placement groups"
      noun="placement group"
      query={placementGroupsQuery(place)}
      columns={columns}
      idOf={({ id }) => id}
      actionsOf={(group) => [change(group), label(group), remove(group, members(group))]}
      actions={[create(place)]}
      empty={<p>The project has no placement groups. Instances join one when they are created.</p>}
      cli={tenantctl("placement-group list")}
    />
  );
}

function create(place: Place): Action {
  return {
    title: "Create a placement group",
    key: "c",
    button: "Create",
    notice: "The rule of a group never changes.",
    fields: [
      { name: "name", label: "Name" },
      {
        name: "policy",
        label: "Keep the instances",
        type: "choice",
        initial: "anti_affinity",
        choices: [{ value: "anti_affinity", label: "apart" }, { value: "affinity", label: "together" }],
      },
      {
        name: "level",
        label: "By",
        type: "choice",
        initial: "node",
        choices: [{ value: "node", label: "node" }, { value: "fault_domain", label: "fault domain, such as a rack" }],
      },
      {
        name: "strictness",
        label: "An instance that does not fit",
        type: "choice",
        initial: "required",
        choices: [{ value: "required", label: "is refused" }, { value: "preferred", label: "is placed elsewhere" }],
      },
    ],
    refused: writersOnly(),
    cli: ({ name, policy, level, strictness }) =>
      tenantctl("placement-group create", [], {
        "--name": name || "NAME",
        "--policy": policy,
        "--level": level,
        "--strictness": strictness,
      }),
    send: async (values, key) => {
      await send("POST", "/v1/placement-groups", { query: { ...place }, body: { ...values }, key });
      return { said: `Placement group ${values["name"]} is created` };
    },
  };
}

function change({ id, name, description }: PlacementGroup): Action {
  return editing({
    title: `Rename ${name}`,
    button: "Save",
    fields: [
      { name: "name", label: "Name", initial: name },
      { name: "description", label: "Description", isOptional: true, initial: description },
    ],
    refused: writersOnly(),
    cli: ({ name: to, description: text }) =>
      tenantctl("placement-group update", [name], updates({ "--name": to, "--description": text })),
    send: async (values, key) => {
      await send("PATCH", `/v1/placement-groups/${id}`, { body: values, key });
    },
  });
}

function label({ id, name, labels }: PlacementGroup): Action {
  const argv = ["tenantctl", "placement-group", "update", name];
  return labelAction({ path: `/v1/placement-groups/${id}`, argv, labels, name });
}

function remove({ id, name }: PlacementGroup, members: number): Action {
  return {
    title: `Delete ${name}`,
    button: "Delete",
    isDangerous: true,
    refused: writersOnly() ?? (members === 0 ? null : "Delete its instances first"),
    cli: () => tenantctl("placement-group delete", [name]),
    send: async (_, key) => {
      await send("DELETE", `/v1/placement-groups/${id}`, { key });
    },
  };
}
