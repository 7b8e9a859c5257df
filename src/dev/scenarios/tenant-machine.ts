// An image comes from an index, and an instance of it runs on a node: bound to a public address, stopped, started, given
// a larger disk, deleted.
import { startImageIndex } from "../image-index.ts";
import { check, idOf, type Run, say } from "../stage.ts";

/** The tenant has the VPC `main` with the subnet `front`, and the floating IP `www`. `on` prints tables. */
export async function tenantMachine(opsctl: Run, on: Run): Promise<void> {
  say("The operator takes an image from an index, once the vendor's own list confirms its digest");
  const index = await startImageIndex();
  try {
    const imported = await opsctl("image", "import", "demo/latest", "--index", index.url, "--name", "demo");
    check("its digest is the vendor's", /vendor/.test(imported));

    say("The tenant makes an instance of it: placed, fetched and verified by a node, running");
    const made = await on(
      ...["instance", "create", "--name", "web1", "--image-id", "demo", "--vpc", "main"],
      ...["--primary-subnet-id", "front", "--cpu", "2", "--memory-bytes", "1GiB", "--disk-bytes", "4GiB"],
    );
    check("it runs", /running/.test(made));
    const nics = await on("nic", "list", "--instance", "web1");
    check("it has the subnet's first free address", nics.includes("10.0.1."));

    say("A public address is bound to it");
    await on("floating-ip", "attach", "www", "--nic", idOf(nics));
    check("the address names its NIC", (await on("floating-ip", "show", "www")).includes(`nic=${idOf(nics)}`));

    say("It stops, starts, and its disk grows");
    check("stopped", /stopped/.test(await on("instance", "stop", "web1")));
    check("running again", /running/.test(await on("instance", "start", "web1")));
    await on("instance", "stop", "web1");
    await on("disk", "resize", idOf(await on("disk", "list", "--instance", "web1")), "--size-bytes", "8GiB");
    check("the disk has its size", (await on("disk", "list", "--instance", "web1")).includes(`${8 * 2 ** 30}`));

    say("It goes, and lets its address go");
    await on("floating-ip", "detach", "www");
    await on("instance", "delete", "web1");
    check("no instance is left", !/web1/.test(await on("instance", "list")));
    const operations = await opsctl("operation", "list");
    for (const kind of ["instance-create", "floating-ip-attach", "disk-resize", "instance-delete"]) {
      check(`${kind} is told`, new RegExp(`${kind}\\s+succeeded`).test(operations));
    }
    await opsctl("image", "delete", "demo");
  } finally {
    await index.close();
  }
}
