// Installs a Debian in the rack's folder, with PostgreSQL, nginx and iPXE from Debian's archive and with Berth's
// packages as released. No package is installed on this machine itself. The packages are installed and not only
// unpacked, because their maintainer scripts create users and keys.
import { existsSync } from "node:fs";
import { cp, mkdir, rename, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BUILD_FOLDER, DEBIAN } from "./plan.ts";
import { must } from "./processes.ts";

const SUITE = "bookworm";
const DEBIAN_PACKAGES = ["postgresql", "nginx-light", "ipxe", "gpgv", "ca-certificates", "openssl", "openssh-client"];
const BERTH_PACKAGES = ["berth-control-plane", "opsctl", "tenantctl", "booter", "index-builder"];
const SOURCE = (suite: string, archive: string) =>
  `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/${archive} ${suite} main\n`;

/** The file system of Debian without Berth. It is kept for the next rack. */
const ARCHIVE = join(BUILD_FOLDER, `debian-${SUITE}.tar`);
/**
 * dpkg waits for the disk very often. So if there is enough memory, the file system is in memory during the
 * installation.
 */
const MEMORY_FOLDER = "/dev/shm";
const ROOM_BYTES = 2 * 2 ** 30;

/** Installs Debian. */
export async function installDebian(): Promise<void> {
  await mkdir(BUILD_FOLDER, { recursive: true });
  if (!existsSync(ARCHIVE)) await makeArchive();
  await mkdir(DEBIAN, { recursive: true });
  await must(["tar", "--extract", "--numeric-owner", "--file", ARCHIVE, "--directory", DEBIAN]);
}

async function makeArchive(): Promise<void> {
  const sources = join(BUILD_FOLDER, "debian.list");
  await writeFile(
    sources,
    [[SUITE, "debian"], [`${SUITE}-updates`, "debian"], [`${SUITE}-security`, "debian-security"]]
      .map(([suite = "", archive = ""]) => SOURCE(suite, archive)).join(""),
  );
  const without = ["doc", "man", "locale", "info"].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  const options = ["--mode=root", "--variant=minbase", "--dpkgopt=force-unsafe-io", ...without];
  const include = `--include=${[...DEBIAN_PACKAGES, "systemd"].join(",")}`;
  const { bavail, bsize } = await statfs(MEMORY_FOLDER);
  const env: Record<string, string> = bavail * bsize > ROOM_BYTES ? { TMPDIR: MEMORY_FOLDER } : {};
  await must(["mmdebstrap", ...options, include, SUITE, `${ARCHIVE}.part.tar`, sources], { env });
  await rename(`${ARCHIVE}.part.tar`, ARCHIVE);
}

/** Installs the packages of a release with its own install.sh, which verifies the signature and the checksums. */
export async function installBerth(release: string): Promise<void> {
  await cp(release, join(DEBIAN, "root/release"), { recursive: true });
  await must(["sh", "/root/release/install.sh", ...BERTH_PACKAGES], { user: "root" });
}
