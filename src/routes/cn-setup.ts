// Defines the routes with which operators set up and reset a node, and set its root password and placement traits
// (docs/nodes.md, "The netboot path").
import { createRoute } from "@hono/zod-openapi";
import { getRandomValues } from "node:crypto";
import { findAnnounced, findCnSettings, nextSetupEpoch } from "../../actors/cn/reads.ts";
import { CnConfirmation, CnParam, CnView } from "../contract/cn.ts";
import { badRequest, type Fault, isFault, NOT_FOUND } from "../contract/fault.ts";
import { LayoutProposal, RootPasswordBody, SetupApproval, SetupApproved, Traits } from "../contract/setup.ts";
import { faultResponse } from "../http/fault-status.ts";
import { layoutProposal } from "../lib/disk-layout/proposal.ts";
import { cryptPasswordError, isSha512Crypt, saltFromBytes, sha512Crypt } from "../lib/crypto/sha512-crypt.ts";
import { disksOf } from "../lib/disk-layout/disks.ts";
import { answers, jsonBody, rights } from "./answer.ts";
import type { App, Writes } from "./deps.ts";

type Deps = Writes;

const tags = ["Setup"];
const SALT_BYTES = 16;

export function cnSetupRoutes(app: App, deps: Deps): void {
  const proposalRoute = createRoute({
    method: "get",
    path: "/v1/cns/{server_uuid}/setup-layout-proposal",
    tags,
    summary: "Propose a disk layout",
    description:
      "Returns 200 for every known node, even for a node without a usable disk. Uses only the inventory that the " +
      "machine announced through a booter, not the inventory that a node agent sends when it registers. The " +
      "inventory has only the name and the size in GB of each disk, so the proposal assumes that every disk is " +
      "spinning and not removable. The layout tool on the node makes the final choice.",
    ...rights(deps, "CnSetupPropose"),
    request: { params: CnParam },
    responses: answers(LayoutProposal, "The announced disks, and a layout or the reason why no layout is possible"),
  });
  app.openapi(proposalRoute, async (c) => {
    const announced = await findAnnounced(deps.byKey, c.req.valid("param").server_uuid);
    if (announced === undefined) return faultResponse(c, NOT_FOUND);
    return c.json(LayoutProposal.parse(layoutProposal(disksOf(announced))), 200);
  });

  const approveRoute = createRoute({
    method: "post",
    path: "/v1/cns/{server_uuid}/approve-setup",
    tags,
    summary: "Approve a disk layout and start the setup; destroys the data on every disk of the layout",
    description:
      "A key with a scope other than `full` gets 403. The setup fails if it takes longer than 45 minutes. To follow " +
      "the setup, read the operation `operation_id`.",
    ...rights(deps, "CnSetupApprove"),
    request: { params: CnParam, body: jsonBody(SetupApproval) },
    responses: answers(SetupApproved, "The node in setup, and the operation"),
  });
  app.openapi(approveRoute, async (c) => {
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const { server_uuid } = c.req.valid("param");
    // The operation has the id of the message, so that a repeated request returns the same operation.
    const outcome = await deps.send(c, { kind: "cn", id: server_uuid }, {
      type: "approve_setup",
      approval: c.req.valid("json"),
      epoch: await nextSetupEpoch(deps.kysely),
      operation_id: idempotency.id,
    }, idempotency);
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    return c.json({ ...outcome.reply, operation_id: idempotency.id }, 200);
  });

  const resetRoute = createRoute({
    method: "post",
    path: "/v1/cns/{server_uuid}/factory-reset",
    tags,
    summary: "Reset a node's record to the state awaiting_setup",
    description: "Revokes the node's key at once. The node keeps running until its next boot, and its disks are " +
      "not touched. 409 if the node is neither approved nor disabled, if something is placed on it, if no " +
      "booter has staged the enrollment image of the boot policy, or if `confirm` is not the hostname of the node.",
    ...rights(deps, "CnFactoryReset"),
    request: { params: CnParam, query: CnConfirmation },
    responses: answers(CnView, "The node, awaiting setup"),
  });
  app.openapi(resetRoute, async (c) => {
    const { server_uuid } = c.req.valid("param");
    const outcome = await deps.sendOnce(c, { kind: "cn", id: server_uuid }, {
      type: "factory_reset",
      ...c.req.valid("query"),
    });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  const passwordRoute = createRoute({
    method: "post",
    path: "/v1/cns/{server_uuid}/root-password",
    tags,
    summary: "Set the root password that a node gets at its next netboot, or clear it",
    description:
      "Send `password`, or a sha512-crypt `password_hash` ($6$salt$hash). If both are absent, the password is " +
      "cleared. The control plane stores only the hash, and returns the hash only on the booter's routes. At each " +
      "netboot the machine gets the hash as a boot parameter over plain HTTP. Anyone on the admin network can read " +
      "the hash, so choose a strong password.",
    ...rights(deps, "CnRootPassword"),
    request: { params: CnParam, body: jsonBody(RootPasswordBody) },
    responses: answers(CnView, "The node, without the hash"),
  });
  app.openapi(passwordRoute, async (c) => {
    const { password, password_hash } = c.req.valid("json");
    const hash = hashOf(password ?? "", password_hash ?? "");
    if (hash !== null && typeof hash === "object") return faultResponse(c, hash);
    const { server_uuid } = c.req.valid("param");
    const message = { type: "set_root_password", root_password_hash: hash } as const;
    const outcome = await deps.sendOnce(c, { kind: "cn", id: server_uuid }, message);
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });

  const traitsRoute = createRoute({
    method: "get",
    path: "/v1/cns/{server_uuid}/traits",
    tags,
    summary: "Show the placement traits of a node",
    ...rights(deps, "CnTraitsGet"),
    request: { params: CnParam },
    responses: answers(Traits, "The traits"),
  });
  app.openapi(traitsRoute, async (c) => {
    const row = await findCnSettings(deps.byKey, c.req.valid("param").server_uuid);
    return row === undefined ? faultResponse(c, NOT_FOUND) : c.json({ traits: row.traits }, 200);
  });

  const setTraitsRoute = createRoute({
    method: "post",
    path: "/v1/cns/{server_uuid}/traits",
    tags,
    summary: "Replace the placement traits of a node",
    ...rights(deps, "CnTraitsSet"),
    request: { params: CnParam, body: jsonBody(Traits) },
    responses: answers(Traits, "The new traits"),
  });
  app.openapi(setTraitsRoute, async (c) => {
    const { server_uuid } = c.req.valid("param");
    const { traits } = c.req.valid("json");
    const outcome = await deps.sendOnce(c, { kind: "cn", id: server_uuid }, { type: "set_traits", traits });
    return outcome.ok ? c.json(outcome.reply, 200) : faultResponse(c, outcome.fault);
  });
}

/** Returns the hash to store, null to clear it, or a Fault. */
function hashOf(password: string, password_hash: string): string | null | Fault {
  if (password !== "" && password_hash !== "") return badRequest("password, password_hash: send only one of the two");
  if (password_hash !== "") {
    return isSha512Crypt(password_hash)
      ? password_hash
      : badRequest("password_hash: must be sha512-crypt, $6$salt$hash");
  }
  if (password === "") return null;
  const error = cryptPasswordError(password);
  if (error !== null) return badRequest(`password: ${error}`);
  return sha512Crypt(password, saltFromBytes(getRandomValues(new Uint8Array(SALT_BYTES))));
}
