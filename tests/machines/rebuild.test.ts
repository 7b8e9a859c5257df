// A real guest gets a new boot disk, and keeps its data disk and its snapshot. See docs/instances.md, "Rebuild".
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Driver } from "../../nodeagent/driver.ts";
import { BOOT, inGuest, openMachine, ready, type TestMachine, vmOf, withMachine } from "./machine.ts";

/** A signal that is never aborted. */
const { signal } = new AbortController();

const MIB = 2 ** 20;

let machine: TestMachine;
const driver = (): Driver => machine.driver();

withMachine(async () => {
  machine = await openMachine({ halt_wait_ms: 60_000 });
  return machine.remove;
});

test("a rebuilt guest boots from the image, without the data that it wrote; its data disk and snapshot keep their data", async () => {
  const plan = await machine.plan();
  const { id } = plan.instance;
  const { vms } = driver();
  await vms.createDisks(plan);
  await vms.createNics(plan);
  await vms.create(plan);
  await vms.boot(id);
  await ready(driver(), id);
  const [boot] = vms.disksOf(id);
  const disk = (name: string) => ({ id: randomUUID(), name, size_bytes: 128 * MIB });
  const [data, snapshot, restored] = [disk("data"), disk("snapshot"), disk("restored")];
  const device = (of: { readonly id: string }) =>
    `$(grep -l ${of.id.slice(0, 8)} /sys/block/sd*/device/vpd_pg80 | cut -d/ -f4)`;
  const appears = (of: { readonly id: string }) =>
    expect.poll(() => inGuest(driver(), id, `echo ${device(of)}`), BOOT).toMatch(/^sd[a-z]$/);
  const mark = randomUUID();
  // `tr` removes the zeros of the disk, because grep keeps a whole line in memory, and the guest has too little memory
  // for a line of all these zeros.
  const marked = (of: { readonly id: string }) =>
    inGuest(driver(), id, `tr -d '\\000' < /dev/${device(of)} | grep -c ${mark}`);

  await vms.createDisk(id, data, { source: null, signal });
  await appears(data);
  await inGuest(
    driver(),
    id,
    `echo ${mark} > /persist/mark; echo ${mark} | dd of=/dev/${device(data)} conv=sync; sync`,
  );
  await vms.halt(id);
  await vms.createSnapshot(id, snapshot, { source_disk_id: boot!.id, signal });

  const wanted = { ...boot!, image_sha256: plan.image!.sha256, image_path: plan.image_path };
  await vms.rebuild(id, { ...wanted, image_path: `${plan.image_path}.missing` }).then(
    () => expect.unreachable(),
    (error) => expect(error).toBeInstanceOf(Error),
  );
  // A rebuild that fails keeps the old disk.
  await vms.boot(id);
  await ready(driver(), id);
  expect(await inGuest(driver(), id, "cat /persist/mark")).toBe(mark);
  await vms.halt(id);

  await vms.rebuild(id, wanted);
  await vms.boot(id);
  await ready(driver(), id);
  expect(await inGuest(driver(), id, "ls /persist/mark 2>/dev/null || echo none")).toBe("none");
  await appears(data);
  expect(await marked(data)).toMatch(/^[1-9]/);
  await vms.createDisk(id, restored, { source: { disk_id: snapshot.id }, signal });
  await appears(restored);
  expect(await marked(restored)).toMatch(/^[1-9]/);
  expect(await vmOf(driver(), id)).toMatchObject({ state: "running" });
});
