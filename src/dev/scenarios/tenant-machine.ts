// An operator imports an image from an index. A tenant creates an instance from the image and attaches a public address
// to it. The tenant stops and starts the instance, grows its disk, and deletes the instance.
import { startImageIndex } from "../image-index.ts";
import { check, idOf, type Run, say } from "../stage.ts";
import { liveMigration, type Place } from "./live-migration.ts";

export type MachinePlace = Omit<Place, "image_server"> & { readonly runs_qemu: boolean };

/**
 * Runs the scenario. The tenant already has the VPC `main` with the subnet `front`, and the floating IP `www`. `on`
 * runs tenantctl and prints tables.
 */
export async function tenantMachine(opsctl: Run, on: Run, place: MachinePlace): Promise<void> {
  say("The operator imports an image from an index, after the vendor's own list confirms its digest");
  const index = await startImageIndex();
  try {
    const imported = await opsctl("image", "import", "demo/latest", "--index", index.url, "--name", "demo");
    check("the digest of the image is the vendor's", /vendor/.test(imported));

    say("The tenant creates an instance: a node fetches and verifies the image, and runs the instance");
    const made = await on(
      ...["instance", "create", "--name", "web1", "--image", "demo", "--vpc", "main"],
      ...["--subnet", "front", "--cpu", "2", "--memory", "1GiB", "--disk", "4GiB"],
    );
    check("the instance runs", /running/.test(made));
    const nics = await on("nic", "list", "--instance", "web1");
    check("the instance has an address of the subnet", nics.includes("10.0.1."));

    say("The tenant attaches a public address");
    await on("floating-ip", "attach", "www", "--nic", idOf(nics));
    check(
      "the floating IP names the NIC of the instance",
      (await on("floating-ip", "show", "www")).includes(`nic=${idOf(nics)}`),
    );

    say("The tenant stops and starts the instance, and grows its disk");
    check("the instance is stopped", /stopped/.test(await on("instance", "stop", "web1")));
    check("the instance is running again", /running/.test(await on("instance", "start", "web1")));
    await on("instance", "stop", "web1");
    await on("disk", "resize", idOf(await on("disk", "list", "--instance", "web1")), "--size-bytes", "8GiB");
    check("the disk has the new size", / 8GiB +yes$/m.test(await on("disk", "list", "--instance", "web1")));

    say("The tenant deletes the instance, which frees its address");
    await on("floating-ip", "detach", "www");
    await on("instance", "delete", "web1");
    check("no instance is left", !/web1/.test(await on("instance", "list")));
    const operations = await opsctl("operation", "list");
    for (const kind of ["instance-create", "floating-ip-attach", "disk-resize", "instance-delete"]) {
      check(`${kind} is listed`, new RegExp(`${kind}\\s.*\\bsucceeded`).test(operations));
    }
    if (place.runs_qemu) await liveMigration(opsctl, on, { ...place, image_server: index.url });
    else say("No live migration is shown, because the machines of this demo are simulated");
    await opsctl("image", "delete", "demo");
  } finally {
    await index.close();
  }
}
