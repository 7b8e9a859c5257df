// Runs the commands of the guide to the first netboot. No machine boots here: tests/booter boots emulated machines.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "vitest";
import { needs } from "../support/optional-programs.ts";
import { runGuides, SESSION } from "./run.ts";
import { openSite, type Site } from "./site.ts";

let site: Site;
beforeEach(async () => {
  site = await openSite();
}, 300_000);
afterEach(() => site?.close());

test("the commands of the guide to the first netboot work", async (context) => {
  needs(context, ...SESSION);
  await writeFile(join(site.folder, "booter.toml"), config(site));
  await runGuides(["netboot"], { folder: site.folder, env: site.env });
}, 300_000);

function config({ folder, server }: Site): string {
  return `state_dir = "${folder}/booter-state"
files_dir = "${folder}"
[control_plane]
url = "${server.url}"
key_file = "${folder}/booter.key"
[[segment]]
address = "127.0.0.1"
prefix_len = 24
[dhcp]
port = 6768
[tftp]
port = 6970
`;
}
