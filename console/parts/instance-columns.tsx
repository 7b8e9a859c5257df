// Defines the columns of a list of instances.
import type { Instance } from "../../src/contract/instance.ts";
import { bytes } from "../core/text.ts";
import { Link, State } from "./basics.tsx";
import { createdColumn, UUID_COLUMN } from "../parts/columns.tsx";
import type { Column } from "./list.tsx";

export const INSTANCE_COLUMNS: readonly Column<Instance>[] = [
  {
    name: "name",
    title: "Name",
    sorts: true,
    text: ({ name }) => name,
    cell: ({ id, name }) => <Link to={`/instances/${id}`} tabIndex={-1}>{name}</Link>,
  },
  {
    name: "state",
    title: "State",
    sorts: true,
    text: ({ lifecycle }) => lifecycle.state,
    cell: ({ lifecycle, host_live }) => (
      <>
        <State of={lifecycle.state} /> {host_live === false && <span class="warn">its node sends no heartbeat</span>}
      </>
    ),
  },
  {
    name: "cpu",
    title: "vCPUs",
    width: "76px",
    isNumeric: true,
    isWideOnly: true,
    sorts: true,
    text: ({ cpu }) => cpu,
    cell: ({ cpu }) => cpu,
  },
  {
    name: "memory",
    title: "Memory",
    width: "90px",
    isNumeric: true,
    isWideOnly: true,
    sorts: true,
    text: ({ memory_bytes }) => memory_bytes,
    cell: ({ memory_bytes }) => bytes(memory_bytes),
  },
  {
    name: "brand",
    title: "Brand",
    width: "110px",
    isWideOnly: true,
    text: ({ brand }) => brand,
    cell: ({ brand }) => brand === "not-applicable" ? <span class="dim">–</span> : brand,
  },
  UUID_COLUMN,
  createdColumn(),
];

/** The names of these columns, which a search text can contain as fields: `state:failed`. */
export const INSTANCE_FIELDS = INSTANCE_COLUMNS.map(({ name }) => name);
