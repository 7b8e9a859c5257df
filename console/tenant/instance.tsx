// Shows one instance: its state with the reason, its network, its disks and its activity.
import type { Instance } from "../../src/contract/instance.ts";
import { useActions } from "../core/action.ts";
import type { Refusal } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { labelTexts } from "../core/labels.ts";
import { isOperator } from "../core/session.ts";
import { bytes } from "../core/text.ts";
import { operationsOfQuery } from "../operator/node-queries.ts";
import { AsCommand, Copyable, Facts, Link, Section, State, When } from "../parts/basics.tsx";
import { Named } from "../parts/named.tsx";
import { useQuery } from "../parts/use-query.ts";
import { AttachWhenRunning } from "./attach-when-running.tsx";
import { diskActions, Disks } from "./disks.tsx";
import { inProject } from "./place.ts";
import { instanceActions } from "./instance-actions.ts";
import { InstanceHeading } from "./instance-heading.tsx";
import { addNic, nicActions, Nics } from "./nics.tsx";
import {
  disksQuery,
  imagesQuery,
  instanceQuery,
  nicsQuery,
  placementGroupsQuery,
  projectSubnetsQuery,
} from "./queries.ts";

export function InstancePage({ id }: { readonly id: string }) {
  const { data: instance, refusal } = useQuery(instanceQuery(id));
  if (instance === undefined) return <InstanceHeading id={id} instance={instance} refusal={refusal} part="Instance" />;
  return <Details instance={instance} refusal={refusal} />;
}

function Details({ instance, refusal }: { readonly instance: Instance; readonly refusal: Refusal | undefined }) {
  const { id } = instance;
  const { data: disks = [] } = useQuery(disksQuery(id));
  const { data: nics = [] } = useQuery(nicsQuery(id));
  const place = { tenant: instance.tenant_id, project: instance.project_id };
  const { data: subnets = [] } = useQuery(projectSubnetsQuery(place));
  useActions([
    ...instanceActions(instance),
    ...disks.flatMap((disk) => diskActions(disk, instance.name)),
    addNic(instance, subnets),
    ...nics.flatMap((nic) => nicActions(nic, instance)),
  ]);
  const { state, reason } = instance.lifecycle;
  return (
    <>
      <InstanceHeading id={id} instance={instance} refusal={refusal} part="Instance" />
      {reason !== undefined && <p class="sentence bad">Failed: {reason}</p>}
      {instance.host_live === false && (
        <p class="sentence warn">
          The instance's node sends no heartbeat, so the state may be old.{" "}
          {isOperator() && instance.host_cn_uuid !== null && (
            <Link to={`/nodes/${instance.host_cn_uuid}`}>Open the node</Link>
          )}
        </p>
      )}
      {state === "running" && !instance.found_on_host && (
        <p class="sentence warn">The last reports of its node do not list this instance.</p>
      )}
      <AttachWhenRunning instance={instance} />
      <InstanceFacts instance={instance} />
      <Nics instance={instance} />
      <Disks instance={instance} />
      <Activity id={id} />
      <AsCommand line={tenantctl("instance show", [instance.name])} />
    </>
  );
}

function InstanceFacts({ instance }: { readonly instance: Instance }) {
  const place = { tenant: instance.tenant_id, project: instance.project_id };
  const { data: images = [] } = useQuery(imagesQuery(place));
  const { data: groups = [] } = useQuery(placementGroupsQuery(place));
  const group = groups.find(({ id }) => id === instance.placement_group_id);
  const image = images.find(({ id }) => id === instance.image_id);
  return (
    <Facts
      of={{
        "vCPUs": instance.cpu,
        "Memory": bytes(instance.memory_bytes),
        "Image": image?.name ?? <code>{instance.image_id}</code>,
        "Brand": instance.brand === "not-applicable" ? null : instance.brand,
        "Description": instance.description,
        "Labels": labelTexts(instance.labels).join(", ") || null,
        "Placement group": instance.placement_group_id === null
          ? null
          : <Link to={inProject(place, "placement-groups")}>{group?.name ?? instance.placement_group_id}</Link>,
        "Deletion": instance.deletion_protection ? "refused: the instance is protected" : "allowed",
        // A tenant cannot open the page of a node, and a node's UUID helps only operators.
        ...(isOperator() && {
          "Node": instance.host_cn_uuid === null ? null : <Named scope="cn" id={instance.host_cn_uuid} />,
        }),
        "Created": <When at={instance.created_at} />,
        "UUID": <Copyable text={instance.id} label="the UUID" />,
      }}
    />
  );
}

function Activity({ id }: { readonly id: string }) {
  const { data: operations = [], refusal } = useQuery(operationsOfQuery("instance", id));
  const newest = operations.toSorted((a, b) => b.time_created.localeCompare(a.time_created));
  return (
    <Section title="Operations" count={newest.length} refusal={refusal}>
      <ul class="plain">
        {newest.map((operation) => (
          <li key={operation.id}>
            <Link to={`/operations/${operation.id}`}>{operation.kind}</Link>
            <State of={operation.state} />
            {operation.error !== null && <span class="bad">{operation.error}</span>}
            <span class="dim">
              <When at={operation.time_created} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
