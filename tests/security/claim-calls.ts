// Sends registrations that get a claim code, as the machine itself and anonymously, and checks that no claim is left.
import { expect } from "vitest";
import { type Machine, newMachine } from "../setup/machine.ts";
import { type Answer, okOf, type TestControlPlane } from "../support/control-plane.ts";

export const STRANGER = "198.51.100.66";

type Body = Record<string, unknown> & { readonly server_uuid: string };

/** Registers the machine without a credential, from another address. */
export function registerAnonymously(
  t: TestControlPlane,
  { server_uuid, sysinfo }: { readonly server_uuid: string; readonly sysinfo: unknown },
  fields: Record<string, unknown> = {},
): Promise<Answer> {
  const body: Body = { server_uuid, hostname: "stranger", admin_ip: STRANGER, sysinfo, ...fields };
  return t.call("POST", "/v1/agent/register", { key: null, address: STRANGER, body });
}

/** The registration that the machine's own agent sends. */
export function registration({ server_uuid, hostname, sysinfo }: Machine) {
  return { server_uuid, hostname, admin_ip: "10.0.0.7", sysinfo };
}

/** Creates a machine whose node is approved. */
export async function approvedMachine(t: TestControlPlane) {
  const machine = newMachine();
  return { machine, node: await t.approvedNode(registration(machine)) };
}

/** Lets all claims expire, then expects that the doctor finds no violation and that no claim is stored or counted. */
export async function expectNoClaims(t: TestControlPlane): Promise<void> {
  await t.advance(3_600);
  await t.plane.pass();
  const { checks } = okOf(await t.call("GET", "/v1/system/doctor"));
  const broken = checks.filter(({ id, status }: { id: string; status: string }) =>
    id.startsWith("INV") && status === "fail"
  );
  expect(broken).toEqual([]);
  const { rows } = await t.db.query("select name, remaining from budget where name like 'claims%'");
  const live = await t.db.query("select from enrolment_claim");
  expect([rows, live.rows]).toEqual([[], []]);
}
