// Attaches and detaches floating IPs (docs/networking.md, "Floating IPs"). Each of the two actions has two paths: one
// below the project, and one with only the id.
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import type { FloatingIpMessage } from "../../actors/floating-ip/messages.ts";
import { findFloatingIp } from "../../actors/floating-ip/reads.ts";
import { findInstance, findNic } from "../../actors/instance/reads.ts";
import { scopeOf } from "../auth/authorize.ts";
import { atFloatingIpOfProject, atRow, type Locate } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { type Fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { FloatingIp, FloatingIpAttachBody } from "../contract/network.ts";
import { faultResponse } from "../http/fault-status.ts";
import { answers, jsonBody, rights } from "./answer.ts";
import type { App, Ctx, IdempotencyClaim, Operates, RouteDeps } from "./deps.ts";
import { ACCEPTED, operate, PREFER } from "./operation-answer.ts";

type Deps = Operates & Pick<RouteDeps, "mint">;

const tags = ["Networking"];
const byId = { floating_ip_id: Uuid };

const OF_PROJECT = {
  path: "/v1/tenants/{tenant_id}/projects/{project_id}/floating-ips/{floating_ip_id}",
  params: z.object({ tenant_id: Uuid, project_id: Uuid, ...byId }),
  at: atFloatingIpOfProject,
};
const ALONE = {
  path: "/v1/floating-ips/{floating_ip_id}",
  params: z.object(byId),
  at: atRow("floating_ip", "floating_ip_id"),
};

type Where = {
  readonly path: string;
  readonly params: typeof OF_PROJECT.params | typeof ALONE.params;
  readonly at: Locate;
};

export function floatingIpBindingRoutes(app: App, deps: Deps): void {
  for (const where of [OF_PROJECT, ALONE]) {
    attachRoute(app, deps, where);
    detachRoute(app, deps, where);
  }
}

function attachRoute(app: App, deps: Deps, { path, params, at }: Where): void {
  const route = createRoute({
    method: "post",
    path: `${path}/attach`,
    tags,
    summary: "Bind a floating IP to a NIC",
    description:
      "Moves a floating IP that is bound to another NIC. If the new node fails, the old binding is restored. Waits " +
      "for the nodes and returns the floating IP; the message of 502 OperationFailed gives the reason of a failure. " +
      "The operation floating-ip-attach continues if the caller disconnects. 409 NicTagNotProvided if the node of " +
      "the NIC does not offer the NIC tag of the address.",
    ...rights(deps, "FloatingIpAttach", at),
    request: { params, headers: PREFER, body: jsonBody(FloatingIpAttachBody) },
    responses: { ...answers(FloatingIp, "The floating IP"), ...ACCEPTED },
  });
  app.openapi(route, async (c) => {
    const { floating_ip_id } = c.req.valid("param");
    const { nic_id } = c.req.valid("json");
    const { project_id } = scopeOf(c);
    return await bind(c, deps, {
      id: floating_ip_id,
      verb: "attach",
      message: (begins) => attaching(deps, { nic_id, project_id, ...begins }),
    });
  });
}

function detachRoute(app: App, deps: Deps, { path, params, at }: Where): void {
  const route = createRoute({
    method: "post",
    path: `${path}/detach`,
    tags,
    summary: "Unbind a floating IP from its NIC",
    description:
      "Waits for the node and returns the floating IP. Succeeds if the floating IP is not bound. Does not wait for a " +
      "node that is not live. Until such a node has released the address, a request to delete the floating IP gets " +
      "409.",
    ...rights(deps, "FloatingIpDetach", at),
    request: { params, headers: PREFER },
    responses: { ...answers(FloatingIp, "The floating IP"), ...ACCEPTED },
  });
  app.openapi(route, async (c) => {
    const { floating_ip_id } = c.req.valid("param");
    return await bind(c, deps, {
      id: floating_ip_id,
      verb: "detach",
      message: (begins) => Promise.resolve({ type: "detach", ...begins }),
    });
  });
}

type Begins = { readonly operation_id: string; readonly limit_ms: number };
type Binding = {
  readonly id: string;
  readonly verb: "attach" | "detach";
  readonly message: (begins: Begins) => Promise<FloatingIpMessage | Fault>;
};

async function bind(c: Ctx, deps: Deps, { id, verb, message }: Binding) {
  const idempotency = await deps.idempotency(c);
  if (isFault(idempotency)) return faultResponse(c, idempotency);
  const operation_id = deps.mint.idFrom(idempotency.id, "operation");
  const limit_ms = await deps.settings.instanceWaitS() * 1_000;
  const ended = await operate(c, deps, {
    to: { kind: "floating-ip", id },
    message: () => message({ operation_id, limit_ms }),
    idempotency,
    operation_id,
    failure: { what: verb, error_code: "OperationFailed" },
  });
  if (ended.ended === "accepted") return ended.answer;
  if (ended.ended === "refused") return faultResponse(c, ended.fault);
  return c.json(await nowOrThen(deps, { id, idempotency, output: ended.output }), 200);
}

/** Returns the message that attaches the floating IP, or a 404 if the NIC is not in the floating IP's project. */
async function attaching(
  { kysely }: Deps,
  { nic_id, project_id, ...begins }: Begins & { readonly nic_id: string; readonly project_id: string | null },
): Promise<FloatingIpMessage | Fault> {
  const nic = await findNic(kysely, nic_id);
  if (nic === undefined || nic.project_id !== project_id) return NOT_FOUND;
  const instance = await findInstance(kysely, nic.instance_id);
  if (instance === undefined) return NOT_FOUND;
  const { id: instance_id, host_cn_uuid } = instance;
  return { type: "attach", nic_id, instance_id, vpc_id: nic.vpc_id, host_cn_uuid, ...begins };
}

/**
 * Returns the current floating IP. If the request is repeated, or if the floating IP was deleted, returns the
 * operation's result.
 */
async function nowOrThen(
  { kysely }: Deps,
  { id, idempotency, output }: {
    readonly id: string;
    readonly idempotency: IdempotencyClaim;
    readonly output: unknown;
  },
): Promise<FloatingIp> {
  const { floating_ip: then } = output as { readonly floating_ip: FloatingIp };
  return idempotency.repeated ? then : await findFloatingIp(kysely, id) ?? then;
}
