// Prepares a release and an empty root folder for guides that install packages. Returns replacements for lines of these
// guides, so that the packages are installed into this root.
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { lacking } from "../support/optional-programs.ts";
import { DPKG_FORCE, makeEmptyRoot, whyNoInstallation } from "../release/empty-root.ts";
import { releaseKeyIn, smallRelease } from "../release/small-release.ts";
import { rootWords, run } from "../release/tools.ts";

export type Packages = {
  /** The root folder of the installation. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** Replacements for the lines of guides that install packages and enable units. */
  readonly instead: Readonly<Record<string, string>>;
};

const VERSION = "1.2.3";
const INSTALL = "sh install.sh";
/** The test removes --now from this line, because no systemd runs in the test, so no unit can be started. */
const ENABLE = "systemctl enable --now";

/**
 * Creates a release and an empty root below the folder. Prints a warning and returns null if this machine cannot
 * install packages.
 */
export async function packagesIn(folder: string): Promise<Packages | null> {
  const reason = await whyNoInstallation() ?? lacking("systemctl");
  if (reason !== null) {
    console.warn(`the guide's lines that install packages are skipped: ${reason}`);
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

/** Replacements for the same lines of guides on a machine that cannot install packages: the lines do nothing. */
export const WITHOUT_PACKAGES: Packages["instead"] = { [INSTALL]: ":", [ENABLE]: ":" };
