// Defines the routes for booters (docs/booting.md). Unknown fields are ignored, so that booters and servers of
// different versions work together.
import { createRoute } from "@hono/zod-openapi";
import { findPolicy } from "../../actors/boot-policy/reads.ts";
import { findDeclarations } from "../../actors/boot-roster/reads.ts";
import { findAdminAddress, findRootPasswordHash } from "../../actors/cn/reads.ts";
import { withoutClaims } from "../../actors/cn/view.ts";
import type { CnMessage } from "../../actors/cn/messages.ts";
import { SeenBody, SeenRecord } from "../contract/boot.ts";
import { CnParam, CnView } from "../contract/cn.ts";
import { badRequest, conflict, type Fault } from "../contract/fault.ts";
import { FAILURE_REPORT_BYTES_MAX } from "../contract/limits.ts";
import {
  AnnounceBody,
  SetupBundle,
  SetupCompleteReport,
  SetupFailedReport,
  SetupProgressReport,
} from "../contract/setup.ts";
import { faultResponse } from "../http/fault-status.ts";
import { bootClientFacts } from "../lib/net/boot-client.ts";
import { redactSysinfo } from "../lib/text/redact-sysinfo.ts";
import { answers, jsonBody, REPEATABLE, rights } from "./answer.ts";
import { findBootArguments } from "../services/boot-arguments.ts";
import { admittedBy, lookUp } from "../services/boot-lookup.ts";
import { openSetupBundle } from "../services/setup-bundle.ts";
import { Mac, provenanceOf, underPolicy } from "./cn-boot.ts";
import type { App, Ctx, RouteDeps, Writes } from "./deps.ts";
import { isNoIdentity, NO_IDENTITY_RULE } from "./identity.ts";

type Deps = Writes & Pick<RouteDeps, "mint" | "newId" | "root_user_id" | "settings" | "signals">;
type Report = Extract<CnMessage, { type: "setup_progressed" | "setup_completed" | "setup_failed" }>;

const tags = ["Booter"];

export function booterRoutes(app: App, deps: Deps): void {
  const seenRoute = createRoute({
    method: "post",
    path: "/v2/booter/seen",
    tags,
    summary: "Report a machine that requests to boot, and get its boot record",
    description:
      "Returns the machine's boot record. A missing record is created: in state enrolling if the policy admits the " +
      "machine and an address is free, otherwise in state discovered. A service_tag entry of the allowlist is " +
      "compared with the announced serial number, or with the service tag in `client.guid` (the GUID of a Dell " +
      "machine contains the tag). If the booter has no boot file for the machine, the machine does not start to " +
      "enrol. The server stores the last values of `client` and shows them with the record. The record of a node " +
      "includes the hash of its root password, for the boot parameters.",
    ...rights(deps, "BooterSeen"),
    ...REPEATABLE,
    request: { body: jsonBody(SeenBody.extend({ mac: Mac })) },
    responses: answers(SeenRecord.nullable(), "The record"),
  });
  app.openapi(seenRoute, async (c) => {
    const { mac: reported, client, follow_aggregate } = c.req.valid("json");
    const { bootMacs } = await findDeclarations(deps.kysely);
    const mac = (follow_aggregate ? bootMacs.get(reported) : undefined) ?? reported;
    const request = { ...bootClientFacts(client), seen_by: provenanceOf(c) };
    // A booter also calls this route when a machine fetches its boot script. Such a call contains no netboot request.
    const is_request = Object.keys(client).length > 0;
    const outcome = await underPolicy(undefined, async () => {
      const described = is_request ? { guid: client.guid, relay: request.relay } : null;
      const { enroll, ...found } = await lookUp(deps.kysely, mac, described);
      const message = {
        type: "seen" as const,
        mac,
        by: request.seen_by,
        enroll: enroll && request.has_boot_file,
        ...found,
      };
      return await deps.send(c, { kind: "boot-record", id: mac }, message);
    });
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    const refusal = is_request ? await deps.signals.bootRequest(mac, request) : null;
    if (refusal !== null) return faultResponse(c, refusal);
    const record = outcome.reply;
    const [hash, argumentsOf] = await Promise.all([
      findRootPasswordHash(deps.kysely, record),
      findBootArguments(deps.kysely, [record]),
    ]);
    const member = mac === reported ? {} : { member_mac: reported };
    const shown = { ...record, ...member, boot_arguments: argumentsOf(mac) };
    return c.json(hash === null ? shown : { ...shown, root_password_hash: hash }, 200);
  });

  const announceRoute = createRoute({
    method: "post",
    path: "/v2/booter/announce",
    tags,
    summary: "Announce a bare machine",
    description:
      "For a new machine, the server creates a record that awaits setup. If auto_enroll is off, it does so only while an " +
      "auto-approve window is open. A pending node that only an anonymous registration created counts as a new machine. " +
      "For a node that already awaits setup, the server replaces the inventory. For any other node, it updates " +
      "last_seen only. `mac` is the MAC address with which the machine logged in to the AMQP broker. If the node has " +
      "known network ports, the server refuses an announcement whose `mac` is not one of them, or that lists other " +
      "ports only. The answer is 409, and the node shows the conflict. If auto_enroll is on and a service_tag entry " +
      "matches the serial number, the discovered boot records of the announced ports are enrolled. `started` says that " +
      "the machine has just started. If the announcement also has `mac`, a setup run whose bundle was already fetched " +
      "then ends as failed.",
    ...rights(deps, "CnAnnounce"),
    ...REPEATABLE,
    request: { body: jsonBody(AnnounceBody.extend({ mac: Mac.nullish() })) },
    responses: answers(CnView, "The node"),
  });
  app.openapi(announceRoute, async (c) => {
    const { server_uuid, hostname, sysinfo, mac, started } = c.req.valid("json");
    if (isNoIdentity(server_uuid)) return faultResponse(c, badRequest(NO_IDENTITY_RULE));
    const outcome = await underPolicy(undefined, async () => {
      const [{ policy, version }, admitted] = await Promise.all([
        findPolicy(deps.kysely),
        admittedBy(deps.kysely, sysinfo),
      ]);
      return await deps.send(c, { kind: "cn", id: server_uuid }, {
        type: "announce",
        mac: mac ?? null,
        started: started ?? false,
        admitted,
        server_uuid,
        hostname: hostname ?? server_uuid.slice(0, 8),
        sysinfo: redactSysinfo(sysinfo),
        policy_version: version,
        window_needed: !policy.auto_enroll,
      });
    });
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    return "server_uuid" in outcome.reply
      ? c.json(withoutClaims(outcome.reply), 200)
      : faultResponse(c, conflict(outcome.reply.conflict));
  });

  const bundleRoute = createRoute({
    method: "post",
    path: "/v2/booter/cns/{server_uuid}/bundle",
    tags,
    summary: "Get the setup bundle of a node, once",
    description:
      "Creates the node's key. A request with the same Idempotency-Key gets the same answer until the first report.",
    ...rights(deps, "BooterBundle"),
    request: { params: CnParam },
    responses: answers(SetupBundle, "The bundle, including its secrets"),
  });
  app.openapi(bundleRoute, async (c) => {
    const { server_uuid } = c.req.valid("param");
    const key = deps.mint.nodeKey(server_uuid, { id: deps.newId(), user_id: deps.root_user_id });
    const outcome = await deps.sendOnce(c, { kind: "cn", id: server_uuid }, { type: "take_bundle", key });
    if (!outcome.ok) return faultResponse(c, outcome.fault);
    const { epoch } = outcome.reply;
    // Reads the stored bundle, because an earlier request with the same Idempotency-Key may have stored another key.
    const bundle = await openSetupBundle(deps, { server_uuid, epoch });
    return bundle === null ? faultResponse(c, TAKEN) : c.json(bundle, 200);
  });

  const progressRoute = createRoute({
    method: "post",
    path: "/v2/booter/cns/{server_uuid}/setup-progress",
    tags,
    summary: "Report the progress of a setup",
    ...rights(deps, "BooterReport"),
    request: { params: CnParam, body: jsonBody(SetupProgressReport) },
    responses: answers(CnView, "The node"),
  });
  app.openapi(progressRoute, async (c) => {
    const { epoch, step, message, percent } = c.req.valid("json");
    return await report(c, c.req.valid("param").server_uuid, {
      type: "setup_progressed",
      epoch,
      step,
      message: message ?? null,
      percent: percent ?? null,
    });
  });

  const completeRoute = createRoute({
    method: "post",
    path: "/v2/booter/cns/{server_uuid}/setup-complete",
    tags,
    summary: "Report that a setup succeeded",
    description:
      "The node's admin_ip becomes the address in the boot record of `mac`, the port that the machine booted from. " +
      "Without `mac`, the admin_ip becomes the address of the first port that has an address.",
    ...rights(deps, "BooterReport"),
    request: { params: CnParam, body: jsonBody(SetupCompleteReport.extend({ mac: Mac.nullish() })) },
    responses: answers(CnView, "The node, approved; its enrolling boot records become enrolled"),
  });
  app.openapi(completeRoute, async (c) => {
    const { epoch, mac } = c.req.valid("json");
    const { server_uuid } = c.req.valid("param");
    const [{ policy }, admin_ip] = await Promise.all([
      findPolicy(deps.kysely),
      findAdminAddress(deps.kysely, server_uuid, mac ?? null),
    ]);
    return await report(c, server_uuid, {
      type: "setup_completed",
      epoch,
      enrollment_pi: policy.enrollment_pi,
      admin_ip,
    });
  });

  const failedRoute = createRoute({
    method: "post",
    path: "/v2/booter/cns/{server_uuid}/setup-failed",
    tags,
    summary: "Report that a setup failed",
    ...rights(deps, "BooterReport"),
    request: { params: CnParam, body: jsonBody(SetupFailedReport) },
    responses: answers(CnView, "The node, awaiting setup again; its key is revoked"),
  });
  app.openapi(failedRoute, async (c) => {
    const { epoch, reason } = c.req.valid("json");
    const refusal = reasonRefusal(reason);
    if (refusal !== null) return faultResponse(c, refusal);
    return await report(c, c.req.valid("param").server_uuid, { type: "setup_failed", epoch, reason });
  });

  async function report(c: Ctx, server_uuid: string, message: Report) {
    const outcome = await deps.sendOnce(c, { kind: "cn", id: server_uuid }, message);
    return outcome.ok ? c.json(withoutClaims(outcome.reply), 200) : faultResponse(c, outcome.fault);
  }
}

const TAKEN = conflict("the setup bundle of this run was already fetched; it can be fetched only once");

function reasonRefusal(reason: string): Fault | null {
  const bytes = new TextEncoder().encode(reason).length;
  if (bytes <= FAILURE_REPORT_BYTES_MAX) return null;
  return badRequest(`reason: must not be longer than ${FAILURE_REPORT_BYTES_MAX} bytes`);
}
