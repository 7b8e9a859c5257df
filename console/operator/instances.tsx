// Shows the instances of all tenants.
import { INSTANCE_STATES } from "../../src/contract/enums.ts";
import type { Instance } from "../../src/contract/instance.ts";
import { opsctl } from "../core/command.ts";
import { INSTANCE_COLUMNS } from "../parts/instance-columns.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { allInstancesQuery } from "../core/all-instances.ts";

export function Instances() {
  return (
    <ListPage<Instance>
      title="All instances"
      noun="instance"
      query={allInstancesQuery}
      columns={INSTANCE_COLUMNS}
      idOf={({ id }) => id}
      open={({ id }) => `/instances/${id}`}
      states={INSTANCE_STATES}
      stateOf={({ lifecycle }) => lifecycle.state}
      empty={<p>No tenant has created an instance.</p>}
      cli={opsctl("instance list")}
    />
  );
}
