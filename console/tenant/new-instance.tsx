// Creates one or more instances on one page, which also shows the usage of the quota and can create a VPC.
import type { InstanceBody } from "../../src/contract/instance.ts";
import type { OperationSummary } from "../../src/contract/operation.ts";
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { queryText, Refusal, refusalOf, send } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { run, useActions, type Values } from "../core/action.ts";
import { go } from "../core/router.ts";
import { store } from "../core/store.ts";
import { isOperator, writersOnly } from "../core/session.ts";
import { parseBytes } from "../core/text.ts";
import { Heading, Link, Problem } from "../parts/basics.tsx";
import { say } from "../core/toast.ts";
import { Form } from "../parts/form.tsx";
import { UsageBars } from "../parts/usage.tsx";
import { useQuery } from "../parts/use-query.ts";
import { attachLater } from "./attach-when-running.tsx";
import { createVpc } from "./create-vpc.ts";
import { inProject, type Place } from "./place.ts";
import { usageQuery } from "./project-queries.ts";
import { useKept } from "./projects.tsx";
import { floatingIpsQuery, imagesQuery, placementGroupsQuery, projectSubnetsQuery, sshKeysQuery } from "./queries.ts";

export function NewInstance({ place }: { readonly place: Place }) {
  useKept(place);
  const images = useQuery(imagesQuery(place));
  const subnets = useQuery(projectSubnetsQuery(place));
  const keys = useQuery(sshKeysQuery(place));
  const addresses = useQuery(floatingIpsQuery(place));
  const groups = useQuery(placementGroupsQuery(place));
  /** The ids of the instances that earlier attempts of this form created, by name. */
  const made = useRef(new Map<string, string>());
  const { data: usage } = useQuery(usageQuery(place.tenant, place.project));
  const values = useSignal<Values>({});
  useActions([createVpc(place)]);
  const above = <Link to={inProject(place, "instances")}>Instances</Link>;
  const read = [images, subnets, keys, addresses, groups];
  const isRead = read.every(({ data }) => data !== undefined);
  const refusal = read.find((each) => each.refusal !== undefined)?.refusal;
  const imageName = images.data?.find(({ id }) => id === values.value["image_id"])?.name;
  return (
    <>
      <Heading title="Create an instance" above={above} />
      {!isRead && refusal !== undefined && <Problem refusal={refusal} />}
      {usage !== undefined && <UsageBars usage={usage} />}
      {subnets.data?.length === 0 && (
        <p class="sentence warn">
          The project has no VPC. <button type="button" onClick={() => run(createVpc(place))}>Create a VPC</button>
        </p>
      )}
      {images.data?.length === 0 && (
        <p class="sentence warn">No image is offered to this project. An operator or you must add one.</p>
      )}
      {isRead && (
        <Form
          // The first image and the first subnet set the initial values. If other images or subnets arrive later, they
          // must not clear a filled form.
          key={`${(images.data?.length ?? 0) > 0} ${(subnets.data?.length ?? 0) > 0}`}
          button="Create"
          onValues={(next) => (values.value = next)}
          fields={[
            { name: "name", label: "Name", hint: "1 to 63 bytes; unique in the project" },
            {
              name: "count",
              label: "Count",
              type: "number",
              initial: "1",
              hint: `At most ${COUNT_MAX}. With more than one, the names end in -1, -2 and so on`,
            },
            {
              name: "image_id",
              label: "Image",
              type: "choice",
              initial: images.data?.[0]?.id ?? "",
              choices: (images.data ?? []).map(({ id, name, os, version }) => ({
                value: id,
                label: `${name} (${os} ${version})`,
              })),
            },
            {
              name: "primary_subnet_id",
              label: "Subnet",
              type: "choice",
              initial: subnets.data?.[0]?.id ?? "",
              choices: (subnets.data ?? []).map(({ id, name, vpc_name, ipv4_block, ipv6_block }) => ({
                value: id,
                label: `${vpc_name} / ${name} ${ipv4_block ?? ipv6_block ?? ""}`,
              })),
            },
            { name: "cpu", label: "vCPUs", type: "number", initial: "1" },
            { name: "memory", label: "Memory", type: "bytes", initial: "1 GiB" },
            { name: "disk", label: "Boot disk", type: "bytes", isOptional: true, hint: "Default: the image's size" },
            {
              name: "ssh_key",
              label: "SSH key",
              type: "choice",
              isOptional: true,
              choices: (keys.data ?? []).map(({ id, name, fingerprint }) => ({
                value: id,
                label: `${name} ${fingerprint}`,
              })),
            },
            {
              name: "floating_ip",
              label: "Floating IP",
              type: "choice",
              isOptional: true,
              hint: "Attached when the instance runs, if its page is open and was not reloaded. Only for one instance",
              choices: (addresses.data ?? []).filter(({ attached_to }) => attached_to === null).map((each) => ({
                value: each.id,
                label: `${each.name} ${each.address}`,
              })),
            },
            {
              name: "placement_group",
              label: "Placement group",
              type: "choice",
              isOptional: true,
              hint: "The instance stays in the group",
              choices: (groups.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
            },
            {
              name: "user_data",
              label: "User data",
              type: "lines",
              isOptional: true,
              hint: "For cloud-init, up to 64 KiB",
            },
          ]}
          cli={(given) => commandOf(given, imageName)}
          send={async (given, key) => {
            const created = await createAll(place, given, key, made.current);
            const [only] = created;
            const said = made.current.size > 1 ? "The instances are being created" : "The instance is being created";
            if (only === undefined || created.length > 1) return { said, to: inProject(place, "instances") };
            if (given["floating_ip"]) attachLater(only, given["floating_ip"]);
            return { said, to: `/instances/${only}` };
          }}
          done={({ said = "", to }) => {
            say(said);
            store.changed("all");
            if (to !== undefined) go(to);
          }}
        >
          {writersOnly() !== null && <p class="sentence warn">{writersOnly()}</p>}
        </Form>
      )}
      <WhyNot place={place} values={values.value} />
    </>
  );
}

/**
 * Links operators to the page that shows which nodes can take the instance. Other users cannot open that page, so they
 * get a hint instead.
 */
function WhyNot({ place, values: { cpu = "1", memory = "1 GiB" } }: {
  readonly place: Place;
  readonly values: Values;
}) {
  if (!isOperator()) return <p class="dim">If no node can take the instance, an operator can see the reason.</p>;
  return (
    <p class="dim">
      If no node can take the instance,{" "}
      <Link to={`/placement${queryText({ cpu, memory, tenant: place.tenant })}`}>see why</Link>.
    </p>
  );
}

/** The largest number of instances that one form creates. */
const COUNT_MAX = 20;

/**
 * Creates the instances of a form one after the other, except those in `made`, and adds them to `made`. Returns the ids
 * of all instances of the form. If an instance is refused, throws a Refusal that names the instances in `made`.
 */
async function createAll(place: Place, values: Values, key: string, made: Map<string, string>): Promise<string[]> {
  const count = Number(values["count"]);
  const { name = "" } = values;
  if (!Number.isInteger(count) || count < 1 || count > COUNT_MAX) {
    throw new Refusal(REFUSED_HERE, `count: must be from 1 to ${COUNT_MAX}`);
  }
  if (count > 1 && values["floating_ip"]) {
    throw new Refusal(REFUSED_HERE, "floating_ip: must be empty if the count is more than 1");
  }
  const names = count === 1 ? [name] : Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
  for (const [index, each] of names.entries()) {
    if (made.has(each)) continue;
    try {
      const { references } = await send<OperationSummary>("POST", "/v1/instances", {
        query: { ...place },
        body: { ...bodyOf(values), name: each },
        // A key may have only printable ASCII characters. The index makes the keys of two names different, even if the
        // names differ only in replaced characters.
        key: `${key}-${index}-${each.replaceAll(/[^!-~]/g, "_")}`,
        respondAsync: true,
      });
      made.set(each, references.find(({ scope }) => scope === "instance")?.id ?? "");
    } catch (error) {
      const refusal = refusalOf(error);
      if (made.size === 0) throw refusal;
      throw new Refusal(
        refusal.status,
        `${made.size} of ${count} are being created: ${[...made.keys()].join(", ")}. ${each}: ${refusal.message}`,
        refusal.request_id,
      );
    }
  }
  return names.flatMap((each) => made.get(each) || []);
}

/** The status of a refusal that the page itself makes. The server uses the same status for a wrong body. */
const REFUSED_HERE = 400;

function bodyOf(values: Values): Partial<InstanceBody> {
  const {
    name = "",
    image_id = "",
    primary_subnet_id = "",
    cpu = "",
    memory = "",
    disk = "",
    ssh_key = "",
    placement_group = "",
    user_data = "",
  } = values;
  return {
    name,
    image_id,
    primary_subnet_id,
    cpu: Number(cpu),
    memory_bytes: parseBytes(memory) ?? 0,
    ...(disk !== "" && { disk_bytes: parseBytes(disk) }),
    ...(ssh_key !== "" && { ssh_key_ids: [ssh_key] }),
    ...(placement_group !== "" && { placement_group_id: placement_group }),
    ...(user_data !== "" && { user_data }),
  };
}

function commandOf(values: Values, image: string | undefined): string {
  return tenantctl("instance create", [], {
    "--name": values["name"] || "NAME",
    "--image-id": image ?? values["image_id"],
    "--primary-subnet-id": values["primary_subnet_id"] || "SUBNET",
    "--cpu": values["cpu"],
    "--memory-bytes": values["memory"]?.replaceAll(" ", ""),
    "--disk-bytes": values["disk"]?.replaceAll(" ", ""),
    "--ssh-key-id": values["ssh_key"],
    "--placement-group-id": values["placement_group"],
    ...(values["user_data"] && { "--user-data-file": "-" }),
  });
}
