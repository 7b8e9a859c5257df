// Builds the message that rebuilds an instance, and checks that the caller may use the image in the body.
import { findImageToUse } from "../../actors/image/reads.ts";
import type { InstanceMessage } from "../../actors/instance/messages.ts";
import { findInstance } from "../../actors/instance/reads.ts";
import type { Principal } from "../auth/principal.ts";
import type { ResourceScope } from "../auth/resource-scope.ts";
import { type Fault, NOT_FOUND } from "../contract/fault.ts";
import type { RebuildBody } from "../contract/instance.ts";
import type { RouteDeps } from "../routes/deps.ts";
import { brandOf, imageToUse } from "./new-instance.ts";

type Rebuild = Extract<InstanceMessage, { type: "rebuild" }>;

export type Asked = {
  readonly instance_id: string;
  readonly body: RebuildBody;
  readonly place: ResourceScope & { readonly tenant_id: string; readonly project_id: string };
  readonly principal: Principal;
  readonly operation_id: string;
};

/**
 * Returns the message. Returns the 404 if the instance or the image is missing, or if the body names another image that
 * the caller may not use.
 */
export async function rebuildOf(
  deps: Pick<RouteDeps, "findOne" | "settings">,
  { instance_id, body, place, principal, operation_id }: Asked,
): Promise<Rebuild | Fault> {
  const instance = await deps.findOne(findInstance, instance_id);
  if (instance === null) return NOT_FOUND;
  const image_id = body.image_id ?? instance.image_id;
  const image = image_id === instance.image_id
    ? await deps.findOne(findImageToUse, instance.image_id)
    : await imageToUse(deps, { image_id, place, principal });
  if (!image) return NOT_FOUND;
  const { id, content_bytes, size_bytes, compatibility } = image;
  return {
    type: "rebuild",
    image: { id, bytes: content_bytes ?? size_bytes, brand: brandOf(compatibility?.brand) },
    operation_id,
    limit_ms: await deps.settings.instanceWaitS() * 1_000,
  };
}
