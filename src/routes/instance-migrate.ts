// Defines the routes for migrations of instances between nodes (docs/instances.md, "Migration").
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { operates } from "../auth/authorization.ts";
import { atRow } from "../auth/resource-scope.ts";
import { Uuid } from "../contract/common.ts";
import { CAPACITY_EXHAUSTED, fault, isFault } from "../contract/fault.ts";
import type { Outcome } from "../../actors/engine/types.ts";
import { findOperationStatus } from "../../actors/saga/reads.ts";
import { MIGRATIONS_LISTED_MAX, PLACEMENT_TRIES_MAX } from "../contract/limits.ts";
import { MigrateBody, Migration, MigrationStarted } from "../contract/migration.ts";
import { faultResponse } from "../http/fault-status.ts";
import { decideAgain } from "../services/decide-again.ts";
import { listMigrations, newMigration } from "../services/migrations.ts";
import { answers, answersCreated, jsonBody, refuses, rights } from "./answer.ts";
import type { App, Operates, RouteDeps } from "./deps.ts";

type Deps = Operates & Pick<RouteDeps, "audit" | "mint" | "nodesToPlace">;

const tags = ["Instances"];
const params = z.object({ instance_id: Uuid });
const atInstance = atRow("instance", "instance_id");

const OPERATORS_ONLY = fault("forbidden", "only operators may name the node; leave out target_server_uuid", {
  error_code: "Forbidden",
});

export function instanceMigrateRoutes(app: App, deps: Deps): void {
  const migrateRoute = createRoute({
    method: "post",
    path: "/v1/instances/{instance_id}/migrate",
    tags,
    summary: "Move an instance to another node",
    description:
      "Answers immediately; the operation instance-migrate ends when the instance belongs to the other node. A " +
      "running guest keeps running while its disks and memory are copied, is paused for a moment, and continues on " +
      "the other node with its addresses and connections. The disks of a stopped instance are copied. Data disks " +
      "move with their instance, including detached disks. A migration that fails, or that an operator abandons, " +
      "changes nothing: the instance stays on its node. 409 while another operation runs. 503 when no other node " +
      "can take the instance.",
    ...rights(deps, "InstanceMigrate", atInstance),
    ...refuses(403, 409),
    request: { params, body: jsonBody(MigrateBody) },
    responses: answersCreated(MigrationStarted, "The migration"),
  });
  app.openapi(migrateRoute, async (c) => {
    const id = c.req.valid("param").instance_id;
    const body = c.req.valid("json");
    if ((body.target_server_uuid ?? null) !== null && !operates(c.get("principal"))) {
      await deps.audit.denied(c, "instance_migrate", `Instance::"${id}"`);
      return faultResponse(c, OPERATORS_ONLY);
    }
    const idempotency = await deps.idempotency(c);
    if (isFault(idempotency)) return faultResponse(c, idempotency);
    const operation_id = deps.mint.idFrom(idempotency.id, "operation");
    const started = { migration_id: operation_id, operation_id };
    // A repeated request whose migration has started gets the same answer. The server does not choose a node again,
    // because no node might be able to take the instance now.
    if (idempotency.repeated && await findOperationStatus(deps.byKey, operation_id) !== undefined) {
      return c.json(started, 201);
    }
    const again = {
      tries_max: PLACEMENT_TRIES_MAX,
      isStale: ({ error_code }: { readonly error_code?: string }) => error_code === CAPACITY_EXHAUSTED.error_code,
    };
    const outcome = await decideAgain(idempotency, again, async (at, tries): Promise<Outcome> => {
      const message = await newMigration(deps, { instance_id: id, body, operation_id, tries });
      if (isFault(message)) return { ok: false, fault: message };
      return await deps.send(c, { kind: "instance", id }, message, at);
    });
    return outcome.ok ? c.json(started, 201) : faultResponse(c, outcome.fault);
  });

  const listRoute = createRoute({
    method: "get",
    path: "/v1/instances/{instance_id}/migrations",
    tags,
    summary: "List the migrations of an instance",
    description: `Newest first, at most ${MIGRATIONS_LISTED_MAX}. \`progress\` shows what the source node does now.`,
    ...rights(deps, "MigrationList", atInstance),
    request: { params },
    responses: answers(z.array(Migration), "The migrations"),
  });
  app.openapi(listRoute, async (c) => {
    const { instance_id } = c.req.valid("param");
    return c.json(await listMigrations(deps.kysely, { instance_id, rows: MIGRATIONS_LISTED_MAX }), 200);
  });
}
