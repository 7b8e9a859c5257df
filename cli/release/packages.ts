// Describes the packages: texts, files, system users and units.
import { Buffer } from "node:buffer";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { HOME } from "./control-plane.ts";
import type { Package } from "./deb.ts";
import { type Daemon, maintainerScripts } from "./maintainer-scripts.ts";
import type { Entry } from "../internal/tar.ts";

export const PACKAGES = ["berth-control-plane", "opsctl", "tenantctl", "nodeagent", "booter", "index-builder"] as const;
export type PackageName = (typeof PACKAGES)[number];

/** Packages with one executable of the same name. */
export const EXECUTABLES = ["opsctl", "tenantctl", "nodeagent", "booter", "index-builder"] as const;

export type Material = {
  /** The project's folder. */
  readonly root: string;
  /** Files of the control plane except its Deno executable. */
  readonly control_plane: readonly Entry[];
  /** The copyright file: licences of the project and of all included software. */
  readonly copyright: string;
  /** The release's public key, armored. A booter verifies its mirrored channel with this key. */
  readonly release_key: string;
  /** The executable; for the control plane, the Deno executable. */
  readonly program: Uint8Array;
  /** Man pages and completion scripts of all executables, with paths from the root of the file system. */
  readonly manual: readonly Entry[];
};

type Plan = Pick<Package, "summary" | "description" | "depends"> & {
  /** Path in the package, path in the project, and mode of each file. */
  readonly files: readonly (readonly [path: string, source: string, mode: number])[];
  readonly sysusers: readonly [name: string, text: string] | null;
  readonly daemon: Omit<Daemon, "sysusers"> | null;
};

const READABLE = 0o644;
const RUNNABLE = 0o755;
/** Mode of environment files: systemd reads them as root before it changes to the daemon's user. */
const ROOT_ONLY = 0o600;
const UNITS = "usr/lib/systemd/system";
/** The oldest libc with the symbols that the included Deno and Bun need. */
const LIBC = "libc6 (>= 2.27)";
const KEYS = "/etc/berth/control-plane.keys";

const PLANS: Readonly<Record<PackageName, Plan>> = {
  "berth-control-plane": {
    summary: "control plane of Berth, from bare metal to tenant machines",
    description: [
      "Enrols machines, runs tenants' workloads on them and records every change in an audit chain.",
      "Needs PostgreSQL 15 or later; set its address in /etc/berth/control-plane.env. Includes Deno.",
    ],
    depends: [LIBC, "libgcc-s1", "systemd"],
    files: [
      [`${UNITS}/berth-control-plane.service`, "cli/release/files/berth-control-plane.service", READABLE],
      [`${HOME}/bin/start`, "cli/release/files/start.sh", RUNNABLE],
      ["etc/berth/control-plane.env", "cli/release/files/control-plane.env", ROOT_ONLY],
      ["usr/share/doc/berth-control-plane/README.md", "README.md", READABLE],
    ],
    sysusers: ["berth-control-plane", `u berth - "Berth control plane" /nonexistent\n`],
    daemon: {
      units: ["berth-control-plane.service"],
      state: ["/var/cache/berth-control-plane"],
      // The script generates the keys, so that the operator's API key is not in a log and the sealing key is not in the
      // database.
      configure: `  keys="$root${KEYS}"
  if [ ! -e "$keys" ]; then
    hex() { od -An -v -N "$1" -tx1 /dev/urandom | tr -d ' \\n'; }
    secret=$(hex 32) lookup=$(hex 6) key=$(hex 16)
    [ "\${#secret}-\${#lookup}-\${#key}" = 64-12-32 ]
    umask 077
    {
      echo "# Generated at the first installation. Keep a copy: only the secret key decrypts the secrets in the database."
      echo "BERTH_SECRET_KEY=$secret"
      echo "# API key of the first operator, for opsctl."
      echo "BERTH_ROOT_KEY=opsk_\${lookup}_$key"
    } > "$keys.new"
    umask 022
    mv "$keys.new" "$keys"
  fi
`,
      purge_note: `Kept: ${KEYS}, which decrypts the secrets in the database.`,
    },
  },
  opsctl: {
    summary: "command line of Berth for operators",
    description: ["Approves nodes, manages tenants, images and boot policy, and verifies the audit chain."],
    depends: [LIBC],
    files: [],
    sysusers: null,
    daemon: null,
  },
  tenantctl: {
    summary: "command line of Berth for tenants",
    description: [
      "Manages networks, addresses, firewall rules, disks and instances; downloads images of any image index.",
    ],
    depends: [LIBC],
    files: [],
    sysusers: null,
    daemon: null,
  },
  nodeagent: {
    summary: "agent of a Berth compute node",
    description: ["Registers the machine with the control plane, reports its state and runs its jobs."],
    depends: [LIBC, "systemd"],
    files: [
      [`${UNITS}/berth-nodeagent.service`, "cli/release/files/berth-nodeagent.service", READABLE],
      ["etc/berth/nodeagent.env", "cli/release/files/nodeagent.env", ROOT_ONLY],
    ],
    sysusers: null,
    daemon: {
      units: ["berth-nodeagent.service"],
      state: ["/var/lib/berth-nodeagent", "/var/lib/private/berth-nodeagent"],
    },
  },
  booter: {
    summary: "DHCP, TFTP and HTTP boot service of Berth",
    description: ["Boots new machines and compute nodes of a site over its admin network, and sets them up."],
    depends: [LIBC, "systemd"],
    files: [
      [`${UNITS}/berth-booter.service`, "booter/booter.service", READABLE],
      ["etc/berth/booter.toml", "booter/booter.toml", READABLE],
      ["usr/share/doc/booter/README.md", "booter/README.md", READABLE],
    ],
    sysusers: ["berth-booter", `u berth-booter - "Berth booter" /nonexistent\n`],
    daemon: { units: ["berth-booter.service"], state: ["/var/lib/berth-booter"] },
  },
  "index-builder": {
    summary: "builder of Berth's image index",
    description: ["Builds a catalogue of cloud images with verified digests from the vendors' publications."],
    depends: [LIBC, "systemd"],
    files: [
      [`${UNITS}/berth-index-builder.service`, "cli/release/files/berth-index-builder.service", READABLE],
      [`${UNITS}/berth-index-builder.timer`, "cli/release/files/berth-index-builder.timer", READABLE],
      ["etc/berth/index-builder.env", "cli/release/files/index-builder.env", ROOT_ONLY],
      ["usr/share/doc/index-builder/README.md", "index-builder/README.md", READABLE],
    ],
    sysusers: ["berth-index-builder", `u berth-index-builder - "Berth index builder" /nonexistent\n`],
    daemon: {
      units: ["berth-index-builder.timer", "berth-index-builder.service"],
      state: ["/var/lib/berth-images"],
    },
  },
};

export async function describePackage(name: PackageName, material: Material): Promise<Package> {
  const { files, sysusers, daemon, ...texts } = PLANS[name];
  const isControlPlane = name === "berth-control-plane";
  return {
    name,
    ...texts,
    files: [
      entry(`usr/share/doc/${name}/copyright`, material.copyright),
      ...name === "booter" ? [entry("usr/share/berth/release-key.asc", material.release_key)] : [],
      ...await Promise.all(files.map(([path, source, mode]) => fileOf(join(material.root, source), path, mode))),
      ...sysusers === null ? [] : [entry(`usr/lib/sysusers.d/${sysusers[0]}.conf`, sysusers[1])],
      ...isControlPlane ? material.control_plane : material.manual.filter(({ path }) => isAbout(path, name)),
      {
        path: isControlPlane ? `${HOME}/bin/deno` : `usr/bin/${name}`,
        bytes: material.program,
        mode: RUNNABLE,
      },
    ],
    scripts: daemon === null
      ? {}
      : maintainerScripts({ ...daemon, sysusers: sysusers === null ? null : `${sysusers[0]}.conf` }),
  };
}

/** Reads a file. In a unit, changes /usr/local/bin to /usr/bin, where a package has its programs. */
async function fileOf(source: string, path: string, mode: number): Promise<Entry> {
  const bytes = await readFile(source);
  if (!path.endsWith(".service")) return { path, bytes, mode };
  return { path, mode, bytes: Buffer.from(bytes.toString("utf8").replaceAll("/usr/local/bin/", "/usr/bin/")) };
}

function entry(path: string, text: string): Entry {
  return { path, bytes: Buffer.from(text), mode: READABLE };
}

/**
 * Returns whether a file belongs to a program. Man pages: NAME.8 or NAME-VERB.1; completion scripts: NAME, _NAME or
 * NAME.fish.
 */
function isAbout(path: string, name: string): boolean {
  const file = path.split("/").at(-1)!.replace(/^_/, "");
  return file === name || file.startsWith(`${name}.`) || file.startsWith(`${name}-`);
}
