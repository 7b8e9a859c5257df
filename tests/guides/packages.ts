// What guides do with packages: installed in a root of their own, by the lines that the guides have.
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { lacking } from "../support/optional-programs.ts";
import { DPKG_FORCE, makeEmptyRoot, whyNoInstallation } from "../release/empty-root.ts";
import { releaseKeyIn, smallRelease } from "../release/small-release.ts";
import { rootWords, run } from "../release/tools.ts";

export type Packages = {
  /** Where they go. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** For the lines of guides that install packages and enable units. */
  readonly instead: Readonly<Record<string, string>>;
};

const VERSION = "1.2.3";
const INSTALL = "sh install.sh";
/** Without --now: where nothing is booted, nothing is started. */
const ENABLE = "systemctl enable --now";

/** A release below the folder and an empty root. Null, with a word on the console, where packages cannot be installed. */
export async function packagesIn(folder: string): Promise<Packages | null> {
  const reason = await whyNoInstallation() ?? lacking("systemctl");
  if (reason !== null) {
    console.warn(`the guide's lines that install packages are left out: ${reason}`);
    return null;
  }
  const [root, release] = [join(folder, "root"), join(folder, "release")];
  await mkdir(folder, { recursive: true });
  await makeEmptyRoot(root);
  const { stdout } = await run("dpkg", ["--print-architecture"]);
  const architecture = stdout.trim() === "arm64" ? "arm64" : "amd64";
  await smallRelease({ folder: release, version: VERSION, architecture, key_path: await releaseKeyIn(folder) });
  await chmod(folder, 0o755);
  return {
    root,
    env: { DPKG_FORCE },
    instead: {
      [INSTALL]: [...(await rootWords())!, "sh", join(release, "install.sh"), "--root", root].join(" "),
      [ENABLE]: `systemctl --root=${root} enable`,
    },
  };
}

/** In place of those lines where packages cannot be installed. */
export const WITHOUT_PACKAGES: Packages["instead"] = { [INSTALL]: ":", [ENABLE]: ":" };
