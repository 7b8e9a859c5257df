// Builds the blueprint of a job: everything that its node needs. It contains secrets of the instance, so only the node
// that claimed the job may read it.
import { findImage } from "../../actors/image/reads.ts";
import { findInstance, findSealedUserData, listDisks, listNicsOf } from "../../actors/instance/reads.ts";
import { findSshKey } from "../../actors/ssh-key/reads.ts";
import { findSubnet } from "../../actors/subnet/reads.ts";
import type { Instance } from "../contract/instance.ts";
import type { Blueprint, Job } from "../contract/job.ts";
import type { RouteDeps } from "../routes/deps.ts";

type Deps = Pick<RouteDeps, "kysely" | "mint">;
type Part = Omit<Blueprint, "job_id" | "kind" | "instance">;

export async function blueprintOf(deps: Deps, job: Job): Promise<Blueprint> {
  const { instance_id } = job.kind;
  const instance = typeof instance_id === "string" ? await findInstance(deps.kysely, instance_id) ?? null : null;
  const part = instance !== null && job.kind.kind === "provision" ? await wholePart(deps, instance) : NOTHING;
  return { job_id: job.id, kind: job.kind, instance, ...part };
}

const NOTHING: Part = {
  image: null,
  nics: [],
  subnets: [],
  disks: [],
  ssh_public_keys: [],
  user_data: null,
  managed_identity: null,
  imds_bindings: [],
  provision_metadata: [],
};

async function wholePart({ kysely, mint }: Deps, instance: Instance): Promise<Part> {
  const [image, nics, disks, keys, sealed_user_data] = await Promise.all([
    findImage(kysely, instance.image_id),
    listNicsOf(kysely, instance.id),
    listDisks(kysely, instance.id),
    Promise.all(instance.ssh_key_ids.map((id) => findSshKey(kysely, id))),
    findSealedUserData(kysely, instance.id),
  ]);
  const subnets = await Promise.all(
    [...new Set(nics.map(({ subnet_id }) => subnet_id))].map((id) => findSubnet(kysely, id)),
  );
  const identity = { instance_id: instance.id, tenant_id: instance.tenant_id, project_id: instance.project_id };
  return {
    image: image ?? null,
    nics,
    subnets: subnets.filter((subnet) => subnet !== undefined),
    disks,
    // Leaves out keys that were deleted after the instance was created.
    ssh_public_keys: keys.flatMap((key) => key === undefined ? [] : [key.public_key]),
    user_data: sealed_user_data === null ? null : mint.openUserData(instance.id, sealed_user_data),
    managed_identity: { ...identity, identity_hmac: mint.identityHmac(identity) },
    imds_bindings: [],
    provision_metadata: [{
      key: "instance/root_pw",
      value: mint.instanceRootPassword(instance.id),
      guest_visible: false,
      guest_writable: false,
      updated_by: "system",
      updated_at: instance.created_at,
    }],
  };
}
