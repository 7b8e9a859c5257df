// An image that is being uploaded (docs/instances.md, "Uploaded images"). The record has the number of stored bytes, so
// an upload can continue after an interruption. When all bytes are stored, one commit creates the image and ends the
// upload. An upload without a new part for a day expires. For an image from a snapshot, the node sends the bytes. A
// tenant cannot end such an upload. Only the operation that makes the image, or the expiry, ends it.
import type { AuditAction } from "../../src/contract/audit-actions.ts";
import { conflict, type Fault, NOT_FOUND } from "../../src/contract/fault.ts";
import { IMAGE_UPLOAD_IDLE_S } from "../../src/contract/limits.ts";
import { lockKey } from "../../src/lib/ids/lock-key.ts";
import { labelsFault } from "../../src/lib/text/labels.ts";
import { addMs } from "../../src/lib/text/instant.ts";
import { nameFault } from "../../src/lib/text/resource-name.ts";
import { audit, go, guard, lock, refuse, reply, tell, withActor } from "../engine/effects.ts";
import { type At, type Of, runTable, type Table } from "../engine/table.ts";
import type { Behavior, Out } from "../engine/types.ts";
import type { SagaMessage } from "../saga/messages.ts";
import { madeImage } from "./made-image.ts";
import type { ImageUploadColumns, ImageUploadState, StoredImage } from "./state.ts";
import { imageUploadView, placeOfPart } from "./view.ts";

export type ImageUploadMessage =
  /**
   * `bytes_max` is the tenant's limit of uploaded bytes. A process of an earlier release sends neither labels nor an
   * operation.
   */
  | Omit<ImageUploadColumns, Later> & Partial<Pick<ImageUploadColumns, Later>> & {
    readonly type: "create";
    readonly bytes_max: number;
  }
  /** A part is stored. `from` is the position of its first byte. */
  | { readonly type: "receive"; readonly from: number; readonly bytes: number }
  /** The digest of the stored bytes was computed. */
  | { readonly type: "finish"; readonly sha256: string }
  | { readonly type: "cancel" }
  /** The digest of an operation's upload was computed. The operation continues when the node's job ends. */
  | { readonly type: "seal"; readonly sha256: string }
  /** The operation asks for the digest of its upload. The answer is `job_ended` with the id `told_as`. */
  | { readonly type: "report"; readonly told_as: string }
  /** The operation creates the image. */
  | { readonly type: "publish" }
  /** The operation failed. */
  | { readonly type: "discard" }
  | { readonly type: "tick" };

type Later = "labels" | "project_id" | "operation_id";
type Open = At<ImageUploadState, "open">;

const NOT_STORED = "the node did not store the image";

export const imageUploadTable: Table<ImageUploadState, ImageUploadMessage> = {
  create: { absent: create, open: "the upload exists already" },
  receive: { absent: "missing", open: receive },
  finish: { absent: "missing", open: finish },
  cancel: { absent: "missing", open: cancel },
  seal: { absent: "missing", open: seal },
  report: { absent: NOT_STORED, open: report },
  publish: { absent: NOT_STORED, open: publish },
  discard: { absent: "ignore", open: discard },
  tick: { absent: "ignore", open: expire },
};

function create(_s: null, m: Of<ImageUploadMessage, "create">, now: Date): Out<ImageUploadState> {
  const { type: _type, bytes_max, labels = {}, project_id = null, operation_id = null, ...columns } = m;
  const { tenant_id, size_bytes, name } = m;
  const wrong = nameFault(name) ?? labelsFault(labels);
  if (wrong !== null) return refuse(wrong);
  return go<ImageUploadState>(
    {
      ...columns,
      ...{ labels, project_id, operation_id },
      state: "open",
      received_bytes: 0,
      sha256: null,
      created_at: now,
      expires_at: idleEnd(now),
    },
    ...operation_id === null ? [] : [guard("operation_runs", { id: operation_id }, "the operation has ended")],
    lock(lockKey("tenant", tenant_id), true),
    lock(lockKey("image-uploads", tenant_id)),
    guard(
      "image_upload_fits",
      { tenant_id, size_bytes, max: bytes_max },
      `the uploaded images of the tenant may have at most ${bytes_max} bytes; delete one, or ask the operator for more`,
    ),
    audit("image_upload_begin", resource(m), { tenant_id, name, size_bytes }),
  );
}

function receive(s: Open, { from, bytes }: Of<ImageUploadMessage, "receive">, now: Date): Out<ImageUploadState> {
  const place = placeOfPart(s, { from, bytes });
  if (place === "repeated") return { out: "ignore" };
  if (place !== "next") return refuse(place);
  return go<ImageUploadState>({ ...s, received_bytes: from + bytes, expires_at: idleEnd(now) });
}

function finish(s: Open, { sha256 }: Of<ImageUploadMessage, "finish">, now: Date): Out<ImageUploadState> {
  const kept = incomplete(s) ?? ofOperation(s);
  return kept === null ? becomesImage(s, sha256, now) : refuse(kept);
}

function cancel(s: Open): Out<ImageUploadState> {
  const kept = ofOperation(s);
  return kept === null ? removed(s, "image_upload_cancel") : refuse(kept);
}

function seal(s: Open, { sha256 }: Of<ImageUploadMessage, "seal">): Out<ImageUploadState> {
  const missing = incomplete(s);
  return missing === null ? go<ImageUploadState>({ ...s, sha256 }) : refuse(missing);
}

function report(s: Open, { told_as }: Of<ImageUploadMessage, "report">): Out<ImageUploadState> {
  const { sha256, operation_id, size_bytes } = s;
  if (sha256 === null || operation_id === null) return refuse(unsealed(s));
  const result: StoredImage = { sha256, size_bytes };
  const ended = { type: "job_ended", job_id: told_as, outcome: "completed", result } satisfies SagaMessage;
  return go<ImageUploadState>(s, tell({ kind: "saga", id: operation_id }, ended));
}

function publish(s: Open, _m: Of<ImageUploadMessage, "publish">, now: Date): Out<ImageUploadState> {
  const { sha256 } = s;
  return sha256 === null ? refuse(unsealed(s)) : becomesImage(s, sha256, now);
}

function discard(s: Open): Out<ImageUploadState> {
  return removed(s, "image_upload_cancel");
}

function expire(s: Open, _m: Of<ImageUploadMessage, "tick">, now: Date): Out<ImageUploadState> {
  return now < s.expires_at ? { out: "ignore" } : removed(s, "image_upload_expire");
}

/** Returns the 409 for an upload whose bytes are not all stored, or null. */
function incomplete({ received_bytes, size_bytes }: Open): Fault | null {
  return received_bytes < size_bytes ? conflict(`the upload has ${received_bytes} of ${size_bytes} bytes`) : null;
}

/** Returns the 409 for an upload that belongs to an operation, or null. */
function ofOperation({ operation_id }: Open): Fault | null {
  return operation_id === null ? null : conflict(`the upload belongs to operation ${operation_id}`);
}

/** Returns the 409 for an upload whose digest the server has not computed. */
function unsealed(s: Open): Fault {
  return incomplete(s) ?? conflict("the digest of the image was not computed");
}

/** Creates the image and ends the upload. */
function becomesImage(s: Open, sha256: string, now: Date): Out<ImageUploadState> {
  const { tenant_id, name, size_bytes } = s;
  const image = madeImage(s, { upload_id: s.id, sha256, size_bytes }, now);
  const { id: image_id, created_at: _now, ...columns } = image;
  return go<ImageUploadState>(
    null,
    lock(lockKey("image-uploads", tenant_id)),
    withActor({ kind: "image", id: image_id }, { type: "create", id: image_id, ...columns }),
    audit("image_upload_finish", resource(s), { tenant_id, name, sha256, image_id }),
    reply({ image_id, image }),
  );
}

function removed(s: Open, action: AuditAction): Out<ImageUploadState> {
  return go<ImageUploadState>(null, audit(action, resource(s), { tenant_id: s.tenant_id, name: s.name }));
}

function idleEnd(now: Date): Date {
  return addMs(now, IMAGE_UPLOAD_IDLE_S * 1_000);
}

function resource({ id }: { readonly id: string }): string {
  return `ImageUpload::"${id}"`;
}

export const imageUpload: Behavior<ImageUploadState, ImageUploadMessage> = {
  kind: "image-upload",
  table: "image_upload",
  key: "id",
  step: (s, m, now) => runTable(imageUploadTable, s, m, now),
  deadline: (s) => s.expires_at,
  view: imageUploadView,
  constraints: { image_upload_tenant_fkey: NOT_FOUND, image_upload_project_fkey: NOT_FOUND },
};
