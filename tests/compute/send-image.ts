// Sends the image of a job in the way that a node's agent does.
import type { Job } from "../../src/contract/job.ts";
import { okOf, type TestControlPlane } from "../support/control-plane.ts";
import type { Node } from "./compute-fixture.ts";

export const uploadOf = (job: Job) => `/v1/agent/images/${job.kind["upload_id"]}`;

/** Sends the only part of an image. The content must have only ASCII characters. */
export async function sendPart({ call }: Pick<TestControlPlane, "call">, node: Node, path: string, content: string) {
  const headers = { "content-type": "application/octet-stream" };
  return await call("PUT", `${path}/parts?from=0`, { key: node.api_key, headers, text: content });
}

/** Sends a whole image. Returns the digest that the server computed. */
export async function sendImage(
  site: Pick<TestControlPlane, "call">,
  { node, job, content }: { readonly node: Node; readonly job: Job; readonly content: string },
): Promise<{ readonly sha256: string }> {
  okOf(await node.call("POST", uploadOf(job), { size_bytes: content.length }));
  okOf(await sendPart(site, node, uploadOf(job), content));
  return okOf(await node.call("POST", `${uploadOf(job)}/finish`, {}));
}
