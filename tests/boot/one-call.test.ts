// Sends concurrent messages in one process. The process can commit several messages in one database call. The call
// checks all conditions before it writes the first row. So messages that exclude each other must not share a call.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Outcome } from "../../actors/engine/types.ts";
import { expectInvariants } from "../setup/invariants.ts";
import { newMac } from "../setup/machine.ts";
import { openSetupFixture, seenMessage, type SetupFixture } from "../setup/setup-fixture.ts";

let fixture: SetupFixture;
let version = 0;
beforeAll(async () => {
  fixture = await openSetupFixture();
});
afterAll(() => fixture.close());

/** Puts a policy with the network 10.<second>.0.0/24. */
function put(second: number): Promise<Outcome> {
  const network = `10.${second}.0.0`;
  const admin_network = {
    ipv4_block: `${network}/24`,
    provision_start_ipv4: `10.${second}.0.10`,
    provision_end_ipv4: `10.${second}.0.20`,
    gateway: `10.${second}.0.1`,
    resolvers: [],
  };
  const standard = { auto_enroll: true, allowlist: [], enrollment_pi: null, enrollment_kernel_args: [] };
  const span = { network, low: 10, high: 20, except: [] };
  const policy = { ...standard, admin_network, rack_networks: [], label_arguments: [] };
  return fixture.send({ kind: "boot-policy", id: "site" }, {
    type: "put",
    policy,
    span,
    expected: null,
    current: version,
  });
}

/** Reports a machine as seen. The current policy must have the network 10.<second>.0.0/24. */
function seen(second: number): Promise<Outcome> {
  const mac = newMac();
  return fixture.send(
    { kind: "boot-record", id: mac },
    seenMessage(mac, { version, prefix_len: 24, gateway: `10.${second}.0.1` }),
  );
}

test.each([["policy"], ["machine"]])(
  "if a change of the policy and a report of a machine are concurrent, the report is refused, or its record fits the earlier policy (first: the %s)",
  async (first) => {
    const base = first === "policy" ? 1 : 101;
    expect((await put(base)).ok).toBe(true);
    version += 1;
    for (let round = 0; round < 5; round += 1) {
      const now = base + round;
      const early = first === "machine" ? seen(now) : null;
      const policy = put(now + 1);
      const outcome = await (early ?? seen(now));
      expect((await policy).ok).toBe(true);
      version += 1;
      if (outcome.ok) {
        const networking = { gateway: `10.${now}.0.1` };
        expect(outcome.reply).toMatchObject({ address: expect.stringMatching(`^10[.]${now}[.]`), networking });
      } else expect(outcome.fault.error_code).toBe("PolicyChanged");
      await expectInvariants(fixture.db);
    }
  },
);
