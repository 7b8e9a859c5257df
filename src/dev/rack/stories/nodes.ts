// The story "nodes": two bare machines become nodes. It follows docs/guides/netboot.md.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checkOpsctl, operate, operateJson } from "../command-line.ts";
import { opsctl } from "../control-plane.ts";
import { consoleEnd, mustRedfish } from "../machines.ts";
import { ADMIN, type BareMachine, DEBIAN, EXTERNAL, MACHINES } from "../plan.ts";
import { until } from "../processes.ts";
import { check, say } from "../report.ts";

/** Without KVM, the boot of a machine takes minutes, and two machines share the processors. */
const BOOT_LIMIT_MS = 1_800_000;

const WINDOW_S = 3_600;

/** Writes the boot policy and the roster, authorizes both machines, and opens the auto-approve window. */
async function prepare(stamp: string): Promise<void> {
  await writeFile(
    join(DEBIAN, "root/policy.json"),
    JSON.stringify({
      ...{ enrollment_pi: null, enrollment_kernel_args: [], auto_enroll: false, allowlist: [] },
      admin_network: {
        ipv4_block: ADMIN.block,
        provision_start_ipv4: ADMIN.provision_start,
        provision_end_ipv4: ADMIN.provision_end,
        gateway: ADMIN.booter,
        resolvers: [ADMIN.booter],
      },
    }),
  );
  const roster = MACHINES.map(({ hostname, mac }) => ({ hostname, macs: [mac], nic_tags: [EXTERNAL.tag] }));
  await writeFile(join(DEBIAN, "root/roster.json"), JSON.stringify(roster));
  await operate("cn", "boot", "policy", "apply", "--file", "/root/policy.json");
  await until("the booter has staged the image", BOOT_LIMIT_MS, async () => {
    return (await opsctl(["cn", "boot", "policy", "set", "--enrollment-pi", stamp])).code === 0 ? true : null;
  }, async () => (await opsctl(["pi", "list"])).stdout);
  await operate("cn", "boot", "roster", "apply", "--file", "/root/roster.json");
  for (const { mac } of MACHINES) await operate("cn", "boot", "authorize", mac);
  // While auto_enroll is off, a new machine can announce itself only during an auto-approve window.
  await operate("cn", "auto-approve", "open", "--duration-secs", String(WINDOW_S));
}

async function stateOf({ uuid }: BareMachine): Promise<string | null> {
  const { code, stdout } = await opsctl(["cn", "show", uuid, "-o", "json"]);
  return code === 0 ? JSON.parse(stdout).state : null;
}

/** Waits until `opsctl cn doctor` finds nothing that prevents instances on the node. */
export async function usable(machine: BareMachine, limit_ms = BOOT_LIMIT_MS): Promise<void> {
  const doctor = () => opsctl(["cn", "doctor", machine.hostname]);
  await until(
    `${machine.hostname} is usable`,
    limit_ms,
    async () => (await doctor()).code === 0 ? true : null,
    async () => `${(await doctor()).stdout}\n${await consoleEnd(machine)}`,
  );
}

/** Switches on one machine, and makes it a usable node. */
async function joined(machine: BareMachine): Promise<void> {
  const { hostname, uuid, mac } = machine;
  await mustRedfish(machine, "set-onetime-boot", "--target", "pxe");
  await mustRedfish(machine, "power-cycle");
  say(`${hostname} is switched on by its BMC`);
  await until(
    `${hostname} announces itself`,
    BOOT_LIMIT_MS,
    async () => await stateOf(machine) === "awaiting_setup" ? true : null,
    () => consoleEnd(machine),
  );
  say(`${hostname} announced itself`);
  const plan = await operate("cn", "setup", "plan", uuid);
  check(
    `a mirror of both disks is proposed for ${hostname}`,
    /mirror/.test(plan) && plan.indexOf("vda") >= 0 && plan.lastIndexOf("vdb") > plan.indexOf("vda"),
    plan,
  );
  const approve = ["--layout", "mirror", "--hostname", hostname, "--yes", "--wait"];
  await checkOpsctl(`${hostname} is set up`, "cn", "setup", "approve", uuid, ...approve);
  await usable(machine);
  const record = await operateJson("cn", "boot", "show", mac);
  check(`${hostname} is ready, and its boot record is enrolled`, record.state === "enrolled", record);
}

export async function nodes(stamp: string): Promise<void> {
  await prepare(stamp);
  await Promise.all(MACHINES.map(joined));
  await operate("cn", "auto-approve", "close");
}
