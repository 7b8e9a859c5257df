// Runs the commands of the guide that leads from a Linux machine to its first virtual machine. The test replaces the
// guide's system folders by folders of the test, and the guide's image by a guest of one sector. The node has its own
// network. Its agent has the capabilities of the packaged service.
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { tinyGuest } from "../../src/dev/tiny-guest.ts";
import { type ImageServer, serveImage } from "../compute/image-server.ts";
import { TEST_NETWORKS } from "../compute/instance-fixture.ts";
import { runGuides, SESSION } from "../guides/run.ts";
import { openSite, type Site } from "../guides/site.ts";
import { AS_AGENT_SERVICE } from "../release/agent-unit.ts";
import { needs, present } from "../support/optional-programs.ts";
import { TENANT } from "./guide-tenant.ts";
import { withMachine } from "./machine.ts";
import { type Nodes, openNodes } from "./nodes.ts";

const DISK_BYTES = 2 ** 20;

let site: Site;
let images: ImageServer;
let place: Nodes;

withMachine(async () => {
  place = await openNodes(1);
  const fetched = { BERTH_FETCH_ALLOWED_PRIVATE: JSON.stringify(TEST_NETWORKS) };
  site = await openSite({ HOST: place.address, ...fetched });
  // The users of the QEMU processes must be able to enter the folder.
  await chmod(site.folder, 0o711);
  images = await serveImage(tinyGuest(DISK_BYTES), place.address);
  await writeFile(join(site.folder, "image.raw"), images.bytes);
  return async () => {
    await images.close();
    await site.close();
    await place.close();
  };
});

test("a Linux machine becomes a node with a virtual machine", async (context) => {
  needs(context, ...SESSION, "curl", "dpkg");
  const { folder, env } = site;
  await mkdir(join(folder, "lib"));
  await runGuides(["linux-node"], {
    folder,
    wrap: (argv) => [present("nsenter"), ...place.nodes[0]!.enter.slice(1), ...argv],
    env: { ...env, IMAGE_FILE: join(folder, "image.raw"), IMAGE_URL: images.url, HOME: folder },
    before: TENANT,
    instead: {
      // The machine of the test has the agent's program and these packages, so the test only checks the packages.
      "apt-get install --yes --no-install-recommends ./nodeagent_*.deb": "dpkg --status",
      "/var/lib/berth-nodeagent": join(folder, "state"),
      "/var/lib/berth/vm": join(folder, "lib/vm"),
      "nodeagent run --driver qemu": `${quoted(AS_AGENT_SERVICE)} nodeagent run --driver qemu ` +
        `--machine-dir ${join(folder, "lib")} --run-dir ${join(folder, "r")} ` +
        "--server-uuid 3f2a9c1e-0000-4000-8000-00000000c0de",
    },
  });
});

/** Returns a command line for bash. The words contain no single quotes. */
function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(" ");
}
