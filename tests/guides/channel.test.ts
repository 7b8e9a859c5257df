// The guide to the install channel: a key, a release, a web server, an installation.
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
 * Limits the release to one program. Building all programs for both architectures takes minutes; `task release-trial`
 * does that.
 */
const PART = `--architecture ${process.arch === "arm64" ? "arm64" : "amd64"} --package opsctl`;

let folder: TemporaryFolder;
beforeEach(async () => void (folder = await temporaryFolder("guide-channel")));
afterEach(() => folder.remove());

test("the guide to the install channel works, from the key to an installed program", async (context) => {
  needs(context, ...SESSION, "gpg", "curl", "python3");
  const home = join(folder.path, "gnupg");
  await mkdir(home, { mode: 0o700 });
  await runGuides(["channel"], {
    folder: folder.path,
    // Replaces the time of the last commit, which needs git.
    env: { BERTH: berth(), GNUPGHOME: home, SOURCE_DATE_EPOCH: "1767312000" },
    instead: {
      "8090": String(await guidePort()),
      // Keeps gpg from asking for a passphrase, and replaces npx by this Deno.
      "gpg --quick": "gpg --batch --passphrase '' --quick",
      "npx -y deno@2.9.6 task release": `"${process.execPath}" task release ${PART}`,
    },
    before: "trap 'gpgconf --kill all' EXIT",
  });
}, 300_000);

test("the guide's booter settings are valid", async () => {
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
