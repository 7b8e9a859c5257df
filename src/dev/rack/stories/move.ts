// The story "move": web1 moves to the other node while it runs. The story checks that web1 keeps its address, its
// memory and its disk.
import { operate, operateJson } from "../command-line.ts";
import { MACHINES } from "../plan.ts";
import { check } from "../report.ts";
import { addressOf, rent, ssh, sshUntil } from "../tenant.ts";
import { GUEST_LIMIT_MS } from "./tenant.ts";

const BOOT_ID = "cat /proc/sys/kernel/random/boot_id";
const COUNT = "cat /persist/count";

export async function move(): Promise<void> {
  const address = await addressOf("www");
  const { id, host_cn_uuid } = await rent("instance", "show", "web1");
  const target = MACHINES.find(({ uuid }) => uuid !== host_cn_uuid)!;
  const boot = await sshUntil(address, BOOT_ID, /\S/, GUEST_LIMIT_MS);
  const before = Number((await ssh(address, COUNT)).stdout);
  await operate("instance", "migrate", id, "--target", target.hostname);
  const moved = await rent("instance", "show", "web1");
  check(`web1 has moved to ${target.hostname}`, moved.host_cn_uuid === target.uuid, moved.host_cn_uuid);
  const after = await sshUntil(address, BOOT_ID, /\S/, GUEST_LIMIT_MS);
  check("the guest has the same address and has not booted again", after === boot, after);
  const count = Number((await ssh(address, COUNT)).stdout);
  check("the guest continued to count on its disk", before > 0 && count >= before, { before, count });
  const { items: [newest] } = await operateJson("instance", "migrations", id);
  check("the migration is recorded as successful", newest.state === "completed", newest);
}
