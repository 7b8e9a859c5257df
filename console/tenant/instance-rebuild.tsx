// Rebuilds an instance. The page shows which data is lost and which data stays, and asks for the image.
import type { Instance, RebuildBody } from "../../src/contract/instance.ts";
import type { OperationSummary } from "../../src/contract/operation.ts";
import { send } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { go } from "../core/router.ts";
import { writersOnly } from "../core/session.ts";
import { words } from "../core/text.ts";
import { say } from "../core/toast.ts";
import { Heading, Link, Problem } from "../parts/basics.tsx";
import { Form } from "../parts/form.tsx";
import { useQuery } from "../parts/use-query.ts";
import { imagesQuery, instanceQuery } from "./queries.ts";

export function InstanceRebuild({ id }: { readonly id: string }) {
  const { data: instance, refusal } = useQuery(instanceQuery(id));
  if (instance === undefined) {
    return (
      <>
        <Heading title="Rebuild" />
        {refusal !== undefined && <Problem refusal={refusal} lookedFor={`instance ${id}`} />}
      </>
    );
  }
  return <Rebuild instance={instance} />;
}

function Rebuild({ instance }: { readonly instance: Instance }) {
  const { id, name, image_id, lifecycle: { state }, deletion_protection: isProtected } = instance;
  const { data: images = [] } = useQuery(imagesQuery({ tenant: instance.tenant_id, project: instance.project_id }));
  const nameOf = (image: string) => images.find((each) => each.id === image)?.name ?? image;
  const refused = writersOnly() ??
    (isProtected ? "The instance is protected against deletion. Allow its deletion first." : null) ??
    (["running", "stopped", "failed"].includes(state)
      ? null
      : `The instance is ${words(state)}. It must be running, stopped or failed.`);
  return (
    <>
      <Heading title={`Rebuild ${name}`} above={<Link to={`/instances/${id}`}>{name}</Link>} />
      <p class="sentence bad">The data on the boot disk is lost.</p>
      <p>
        The instance keeps its UUID, NICs, addresses, data disks, snapshots, user data and SSH keys.{" "}
        {state === "stopped" ? "It stays stopped." : "It stops, gets a new boot disk and starts."}
      </p>
      {refused === null
        ? (
          <Form
            button={`Rebuild ${name}`}
            isDangerous
            fields={[
              {
                name: "image_id",
                label: "Image",
                type: "choice",
                isOptional: true,
                choices: images.map((image) => ({ value: image.id, label: image.name })),
                none: `its present image, ${nameOf(image_id)}`,
              },
              { name: "confirm", label: `Type ${name} to rebuild it`, mustBe: name },
            ]}
            cli={({ image_id: image = "" }) =>
              tenantctl("instance rebuild", [name], { "--image": image === "" ? "" : nameOf(image) })}
            send={async ({ image_id: image = "" }, key) => {
              const body: RebuildBody = image === "" ? {} : { image_id: image };
              const path = `/v1/instances/${id}/rebuild`;
              const { id: operation } = await send<OperationSummary>("POST", path, { body, key, respondAsync: true });
              return { said: `${name} is being rebuilt`, to: `/operations/${operation}` };
            }}
            done={({ said = "", to = `/instances/${id}` }) => {
              say(said);
              go(to);
            }}
          />
        )
        : <p class="sentence warn">{refused}</p>}
    </>
  );
}
