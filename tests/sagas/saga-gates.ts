// Adds gates to the production sagas of instances, disks, images and floating IPs. A test closes a gate to refuse a
// step.
import type { Plan, SagaDefinition, StepDefinition } from "../../actors/engine/saga.ts";
import { sagas as all } from "../../actors/registry.ts";
import { testGuard } from "../engine/probe.ts";

/**
 * Matches every saga of instances, disks, images and floating IPs except floating-ip-allocate. So a new saga fails the
 * suite until it has scenarios.
 */
const IN_SUITE = /^(?:instance-|disk-|image-|floating-ip-(?!allocate$))/;
export const SAGAS = (all as readonly SagaDefinition<never>[]).filter(({ name }) => IN_SUITE.test(name));
export const OTHERS = (all as readonly SagaDefinition<never>[]).filter(({ name }) => !IN_SUITE.test(name));

/** Adds a gate, a guard that a test can close, to each step and undo; for example `instance-create:finish:do`. */
export function gated(definition: SagaDefinition<never>): SagaDefinition<never> {
  const before = (name: string, plan: Plan<unknown>): Plan<unknown> => ({
    ...plan,
    parts: [testGuard("saga_gate", { name }, `the gate ${name} is closed`), ...plan.parts],
  });
  const steps = definition.steps.map((step): StepDefinition => {
    const { name, undo } = step;
    const of = `${definition.name}:${name}`;
    return {
      ...step,
      do: (context) => before(`${of}:do`, step.do(context)),
      undo: undo === null ? null : (context) => before(`${of}:undo`, undo(context)),
    };
  });
  return { ...definition, steps };
}

/** Creates the table of the closed gates. */
export const GATE_SQL = `
create table saga_gate (name text primary key);
create function guard_saga_gate(args jsonb) returns boolean language sql as
  $$ select not exists (select from saga_gate where name = args->>'name') $$;
grant select on saga_gate to berth_app;
`;
