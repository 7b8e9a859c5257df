// The story "power-cut": the BMC cuts the power of the node that runs web1. The operator evacuates the node, so its
// instances are created again on the other node. Later, the node gets power again. It follows docs/guides/dead-node.md.
import { checkOpsctl, operate } from "../command-line.ts";
import { opsctl } from "../control-plane.ts";
import { mustRedfish } from "../machines.ts";
import { MACHINES } from "../plan.ts";
import { until } from "../processes.ts";
import { check, say } from "../report.ts";
import { addressOf, rent, sshUntil, waitFor } from "../tenant.ts";
import { usable } from "./nodes.ts";
import { GUEST_LIMIT_MS } from "./tenant.ts";

/**
 * The longest wait until the node counts as dead, and the longest wait until it may be evacuated. A node counts as live
 * for 60 s after it was last seen.
 */
const SILENT_LIMIT_MS = 300_000;

export async function powerCut(): Promise<void> {
  const address = await addressOf("www");
  const { host_cn_uuid } = await rent("instance", "show", "web1");
  const dead = MACHINES.find(({ uuid }) => uuid === host_cn_uuid)!;
  await mustRedfish(dead, "power-off");
  say(`the BMC has cut the power of ${dead.hostname}`);
  await until(
    `${dead.hostname} counts as dead`,
    SILENT_LIMIT_MS,
    async () => (await opsctl(["cn", "doctor", dead.hostname])).code === 1 ? true : null,
  );
  const without = await operate("cn", "evacuate", dead.hostname, "--dry-run");
  check("without --lose-local-disks every instance remains", /^0 of \d+ instances/m.test(without), without);
  const argv = ["cn", "evacuate", dead.hostname, "--fenced", "--lose-local-disks", "--yes"];
  await until("the evacuation may begin", SILENT_LIMIT_MS, async () => {
    return (await opsctl(["cn", "evacuate", dead.hostname, "--dry-run", "--lose-local-disks"])).code === 0
      ? true
      : null;
  });
  await checkOpsctl(`the instances of ${dead.hostname} are created on the other node`, ...argv);
  await waitFor("web1", "running", GUEST_LIMIT_MS);
  const { host_cn_uuid: now } = await rent("instance", "show", "web1");
  check("web1 runs on the other node", now !== dead.uuid, now);
  const name = await sshUntil(address, "hostname", /^web1\n$/, GUEST_LIMIT_MS);
  check("web1 answers at its floating IP", name === "web1\n", name);
  await mustRedfish(dead, "power-cycle");
  await operate("cn", "uncordon", dead.hostname);
  await usable(dead);
  check(`${dead.hostname} is switched on again and usable`, true);
}
