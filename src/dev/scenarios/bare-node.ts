// A bare machine becomes a node and is removed again.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bareMachine } from "../bare-machine.ts";
import { check, type Run, say } from "../stage.ts";

/** Takes a bare machine through announcement, setup plan, approval, setup, factory reset and removal. */
export async function bareNode(opsctl: Run, endpoint: string, folder: string): Promise<void> {
  say("A bare machine asks to boot; the policy gives it an address and lets it enrol");
  const policy = join(folder, "boot-policy.json");
  await writeFile(policy, JSON.stringify(BOOT_POLICY));
  await opsctl("cn", "boot", "policy", "apply", "-f", policy);
  const made = await opsctl("api-key", "create", "--description", "demo booter", "--scope", "booter", "--json");
  const machine = bareMachine({ endpoint, booterKey: JSON.parse(made).secret, ...MACHINE });
  await machine.stage([BOOT_POLICY.enrollment_pi]);
  const record = await machine.seen();
  check(
    "the machine enrols with the lowest free address",
    record.state === "enrolling" && record.address === "10.99.0.10",
  );

  say("The machine announces its hardware; the operator looks at the plan and approves a layout");
  await machine.announce();
  check("the plan lists the disks to destroy", /c0t1d0/.test(await opsctl("cn", "setup", "plan", MACHINE.hostname)));
  const approved = opsctl("cn", "setup", "approve", MACHINE.hostname, "--layout", "mirror", "--yes", "--wait");
  await machine.installWhenApproved();
  check("the setup succeeded", /is set up \(state=approved\)/.test(await approved));
  check("the boot record of the machine is enrolled", /enrolled/.test(await opsctl("cn", "boot", "list")));

  say("The operator resets the node, and then removes it");
  await opsctl("cn", "factory-reset", MACHINE.hostname, "--yes");
  check("the node awaits setup", /awaiting_setup/.test(await opsctl("cn", "list")));
  await opsctl("cn", "remove", MACHINE.hostname, "--yes");
  check("the boot record of the machine is decommissioned", /decommissioned/.test(await opsctl("cn", "boot", "list")));
  check("the audit chain is intact", /verified to seq \d+/.test(await opsctl("audit", "verify")));
}

const MACHINE = {
  server_uuid: "7c1f2a60-4f6e-4a52-9d0b-3a6d0a5b1c01",
  hostname: "bare-node",
  mac: "02:99:00:00:00:01",
} as const;

const BOOT_POLICY = {
  auto_enroll: true,
  allowlist: [],
  enrollment_pi: "20261001T000000Z",
  enrollment_kernel_args: [],
  admin_network: {
    ipv4_block: "10.99.0.0/24",
    provision_start_ipv4: "10.99.0.10",
    provision_end_ipv4: "10.99.0.99",
    gateway: "10.99.0.1",
    resolvers: ["10.99.0.1"],
  },
} as const;
