// An image from a snapshot. The operation occupies the instance (see OperationKind) while its node sends the bytes, but
// the instance itself does not change (docs/instances.md, "Images from snapshots").
import { NOT_FOUND } from "../../src/contract/fault.ts";
import { labelsFault } from "../../src/lib/text/labels.ts";
import { nameFault } from "../../src/lib/text/resource-name.ts";
import { go, refuse } from "../engine/effects.ts";
import type { Of } from "../engine/table.ts";
import type { Out } from "../engine/types.ts";
import { readyHost } from "./data-disks.ts";
import { noted, stays } from "./lifecycle.ts";
import type { InstanceMessage } from "./messages.ts";
import { begin, IMAGE_CREATE, type ImageCreateParams } from "./operation.ts";
import { IDLE, type InstanceState } from "./state.ts";

type Msg<T extends InstanceMessage["type"]> = Of<InstanceMessage, T>;

export function createImage(s: InstanceState, m: Msg<"create_image">, now: Date): Out<InstanceState> {
  const { operation_id, snapshot_id, upload_id, image, limit_ms } = m;
  const misnamed = nameFault(image.name) ?? labelsFault(image.labels);
  if (misnamed !== null) return refuse(misnamed);
  const snapshot = s.disks.find(({ id, kind }) => id === snapshot_id && kind === "snapshot");
  if (snapshot === undefined) return refuse(NOT_FOUND);
  const host_cn_uuid = readyHost(s, "create_image");
  if (typeof host_cn_uuid !== "string") return refuse(host_cn_uuid);
  const next: InstanceState = { ...s, ...IDLE, operation_id, operation_kind: "create_image", updated_at: now };
  const params: ImageCreateParams = {
    instance_id: s.id,
    tenant_id: s.tenant_id,
    project_id: s.project_id,
    snapshot_id,
    size_bytes: snapshot.size_bytes,
    upload_id,
    image: { ...image, content_bytes: snapshot.size_bytes },
    host_cn_uuid,
    limit_ms,
  };
  return go(
    next,
    stays(s.id),
    begin(next, { id: operation_id, saga: IMAGE_CREATE.saga, params, done: { [IMAGE_CREATE.begun]: { upload_id } } }, [
      { scope: "disk", id: snapshot_id },
    ]),
    noted(s, "image_create_begin", { snapshot_id, name: image.name, operation_id }),
  );
}

/** Ends the operation. The image itself has an audit entry of its own. */
export function imageEnded(s: InstanceState, { operation_id, reason }: Msg<"image_ended">, now: Date) {
  if (s.operation_id !== operation_id) return { out: "ignore" } as const;
  const next: InstanceState = { ...s, ...IDLE, updated_at: now };
  return reason === null ? go(next) : go(next, noted(s, "image_create_failed", { operation_id, reason }));
}
