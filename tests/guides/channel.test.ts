// Tests the guide to the install channel: the reader makes a key and a release, starts a web server, and installs a
// program.
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readBooterConfig } from "../../booter/config.ts";
import { loopbackConfig, setupBlock } from "../../src/dev/booter-config.ts";
import { needs } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { settingsIn } from "./guide.ts";
import { guidePort } from "./ports.ts";
import { berth, ROOT, runGuides, SESSION } from "./run.ts";

/**
 * Limits the release to one program. A build of all programs for both architectures takes minutes. `task release-trial`
 * makes such a build.
 */
const PART = `--architecture ${process.arch === "arm64" ? "arm64" : "amd64"} --package opsctl`;

let folder: TemporaryFolder;
beforeEach(async () => void (folder = await temporaryFolder("guide-channel")));
afterEach(() => folder.remove());

test("the commands of the guide to the install channel work, from the key to an installed program", async (context) => {
  needs(context, ...SESSION, "gpg", "curl", "python3");
  const home = join(folder.path, "gnupg");
  await mkdir(home, { mode: 0o700 });
  await runGuides(["channel"], {
    folder: folder.path,
    // SOURCE_DATE_EPOCH sets the time of the release, so that the task does not ask git for it.
    env: { BERTH: berth(), GNUPGHOME: home, SOURCE_DATE_EPOCH: "1767312000" },
    instead: {
      "8090": String(await guidePort()),
      // Makes gpg ask for no passphrase, and runs the commands with this Deno instead of npx.
      "gpg --quick": "gpg --batch --passphrase '' --quick",
      "npx -y deno@2.9.6 task release": `"${process.execPath}" task release ${PART}`,
    },
    before: "trap 'gpgconf --kill all' EXIT",
  });
}, 300_000);

test("the booter settings in the guide are valid", async () => {
  const [block = expect.fail("the guide shows no settings")] = settingsIn(
    await readFile(join(ROOT, "docs/guides/channel.md"), "utf8"),
    "toml",
  );
  const sha256 = "0".repeat(64);
  const whole = setupBlock({
    endpoint: "https://berth.example",
    stamp: "1",
    platform_sha256: sha256,
    boot_sha256: sha256,
  });
  const more = whole.replace(/^install_sh_url.*\n/m, "").replace("[ur.setup]\n", `${block}\n`);
  const config = readBooterConfig(loopbackConfig("/srv", { server_url: "https://berth.example", more }), "booter.toml");
  expect(config.ur?.setup?.upstream_channel_url).toBe("https://install.example/channel.json");
});
