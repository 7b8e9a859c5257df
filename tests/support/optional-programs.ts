// Finds the optional programs and files that tests use. On a machine without one of them, every test that needs it is
// skipped, and the reason is printed. The programs are found only through PATH. So `.ci/run` can simulate a machine
// without them, with a PATH that contains none of them. No other file of the tests looks for a program;
// tests/lint/optional-programs.test.ts checks this rule.
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import type { TestContext } from "vitest";

type Row = {
  /** The Debian package of the program. */
  readonly package: string;
  /**
   * Patterns for globSync. The prefix `bin/` means a folder of PATH. Every other pattern is relative to the parent of a
   * folder of PATH. The first existing file that `isUsable` accepts is used.
   */
  readonly places: readonly string[];
  /** Returns whether the found file can be used. */
  readonly isUsable?: (path: string) => boolean;
};

/** Programs that `.ci/run` installs. */
const INSTALLED = {
  "amqp-consume": program("amqp-consume", "amqp-tools"),
  "arping": program("arping"),
  "conntrack": program("conntrack"),
  "amqp-declare-queue": program("amqp-declare-queue", "amqp-tools"),
  "chromium": { package: "chromium", places: ["bin/chromium", "bin/chromium-browser", "bin/google-chrome"] },
  "curl": program("curl"),
  "curl with TFTP": { ...program("curl"), isUsable: (path) => /\btftp\b/.test(printed(path, "--version")) },
  "dnsmasq": program("dnsmasq", "dnsmasq-base"),
  "fish": program("fish"),
  "gpg": program("gpg", "gnupg"),
  "groff": program("groff", "groff-base"),
  "ip": program("ip", "iproute2"),
  "haproxy": program("haproxy"),
  "iPXE for BIOS": { package: "ipxe", places: ["lib/ipxe/undionly.kpxe"] },
  "iPXE on QEMU's network card": { package: "ipxe-qemu", places: ["lib/ipxe/qemu/pxe-virtio.rom"] },
  "mandoc": program("mandoc"),
  "nc": program("nc", "netcat-openbsd"),
  "nft": program("nft", "nftables"),
  "nginx": program("nginx", "nginx-light"),
  "openssl": program("openssl"),
  "pgbouncer": program("pgbouncer"),
  "podman": program("podman"),
  "podman-compose": program("podman-compose"),
  "the name server of Podman": { package: "aardvark-dns", places: ["lib/podman/aardvark-dns"] },
  "ping": program("ping", "iputils-ping"),
  "python3 with pika": {
    package: "python3-pika",
    places: ["bin/python3"],
    isUsable: (path) => printed(path, "-c", "import pika; print('pika')") === "pika\n",
  },
  "qemu-img": program("qemu-img", "qemu-utils"),
  "qemu-system-x86_64": program("qemu-system-x86_64", "qemu-system-x86"),
  "runc": program("runc"),
  "skopeo": program("skopeo"),
  "ssh": program("ssh", "openssh-client"),
  "ssh-keygen": program("ssh-keygen", "openssh-client"),
  "sshd": program("sshd", "openssh-server"),
  "strace": program("strace"),
  "zsh": program("zsh"),
  "qemu-system-aarch64": program("qemu-system-aarch64", "qemu-system-arm"),
  "sbsign": program("sbsign", "sbsigntool"),
  "shim": { package: "shim-unsigned", places: ["lib/shim/shimx64.efi"] },
  "UEFI firmware for ARM64": { package: "qemu-efi-aarch64", places: ["share/AAVMF/AAVMF_CODE.fd"] },
  "UEFI variables for ARM64": { package: "qemu-efi-aarch64", places: ["share/AAVMF/AAVMF_VARS.fd"] },
  "UEFI firmware with Secure Boot": { package: "ovmf", places: ["share/OVMF/OVMF_CODE_4M.secboot.fd"] },
  "UEFI variables with test keys": { package: "ovmf", places: ["share/OVMF/OVMF_VARS_4M.snakeoil.fd"] },
  "the certificate of the test keys": { package: "ovmf", places: ["share/ovmf/PkKek-1-snakeoil.pem"] },
  "the key of the test keys": { package: "ovmf", places: ["share/ovmf/PkKek-1-snakeoil.key"] },
  "UEFI firmware": { package: "ovmf", places: ["share/OVMF/OVMF_CODE_4M.fd"] },
  "UEFI variables": { package: "ovmf", places: ["share/OVMF/OVMF_VARS_4M.fd"] },
} satisfies Readonly<Record<string, Row>>;

/**
 * Parts of a Debian system, and programs for nightly tests, benchmarks and stress tests. `.ci/run` does not install
 * them.
 */
const NOT_INSTALLED = {
  "apt-get": program("apt-get", "apt"),
  "awk": program("awk", "mawk"),
  "bash": program("bash"),
  "bzip2": program("bzip2"),
  "chroot": program("chroot", "coreutils"),
  "debootstrap": program("debootstrap"),
  "etcd": program("etcd", "etcd-server"),
  "dpkg": program("dpkg"),
  "dpkg-deb": program("dpkg-deb", "dpkg"),
  "dpkg-query": program("dpkg-query", "dpkg"),
  "git": program("git"),

  "GNU time": program("time"),
  "gpgv": program("gpgv"),
  "grep": program("grep"),
  "gzip": program("gzip"),
  "iPXE for UEFI": { package: "ipxe", places: ["lib/ipxe/snponly.efi"] },
  "kea-dhcp4": program("kea-dhcp4", "kea-dhcp4-server"),
  "cmp": program("cmp", "diffutils"),
  "cpio": program("cpio"),
  "depmod": program("depmod", "kmod"),
  "mke2fs": program("mke2fs", "e2fsprogs"),
  "mksquashfs": program("mksquashfs", "squashfs-tools"),
  "mmdebstrap": program("mmdebstrap"),
  "mount": program("mount"),
  "nsenter": program("nsenter", "util-linux"),
  "patroni": program("patroni"),
  "perfdhcp": program("perfdhcp", "kea-admin"),
  "pgbench": { package: "postgresql-contrib", places: ["bin/pgbench", "lib/postgresql/*/bin/pgbench"] },
  "PostgreSQL's tools": {
    package: "postgresql",
    places: ["bin/initdb", "lib/postgresql/*/bin/initdb"],
    isUsable: (path) =>
      ["pg_ctl", "psql", "pg_dump", "pg_dumpall", "pg_restore", "pg_basebackup"]
        .every((name) => existsSync(join(dirname(path), name))),
  },
  "python3": program("python3"),
  "python3 with Patroni": {
    package: "patroni",
    places: ["bin/python3"],
    isUsable: (path) => printed(path, "-c", "import etcd, patroni; print('patroni')") === "patroni\n",
  },
  "qemu-aarch64-static": program("qemu-aarch64-static", "qemu-user-static"),
  "sed": program("sed"),
  "setpriv": program("setpriv", "util-linux"),
  "systemctl": program("systemctl", "systemd"),
  "systemd-analyze": program("systemd-analyze", "systemd"),
  "systemd-sysusers": program("systemd-sysusers", "systemd"),
  "tar": program("tar"),
  "iPXE for ARM64": {
    package: "ipxe (of Debian 13 or later)",
    places: ["lib/ipxe/ipxe-arm64.efi", "lib/ipxe/debian-13/ipxe-arm64.efi"],
  },
  "iPXE for Secure Boot": {
    package: "ipxe (of Debian 13 or later)",
    places: ["lib/ipxe/snponly.efi", "lib/ipxe/debian-13/snponly.efi"],
    // The shim loads only programs with this section.
    isUsable: (path) => readFileSync(path).includes(".sbat\0"),
  },
  "umount": program("umount", "mount"),
  "unshare": program("unshare", "util-linux"),
  "wget": program("wget"),
  "wrk": program("wrk"),
  "xz": program("xz", "xz-utils"),
} satisfies Readonly<Record<string, Row>>;

const ALL = { ...INSTALLED, ...NOT_INSTALLED };

export type Optional = keyof typeof ALL;

/** Names of all optional programs. */
export const OPTIONAL = Object.keys(ALL) as readonly Optional[];

const found = new Map<Optional, string | null>();
const reported = new Set<string>();

/** Returns the path of a program or file, or null on a machine without it. */
export function pathOf(name: Optional): string | null {
  let path = found.get(name);
  if (path === undefined) {
    path = search(ALL[name]);
    found.set(name, path);
  }
  return path;
}

/**
 * Returns the path of a program that the test has checked with `needs` or `lacking`. Throws an Error if the program is
 * missing.
 */
export function present(name: Optional): string {
  const path = pathOf(name);
  if (path === null) throw new Error(`${missing(name)}, and this test does not check for it`);
  return path;
}

/**
 * Returns the path of a program that every Debian system has. A test links the program into a folder that it uses as
 * PATH. Throws an Error if the program is missing.
 */
export function onPath(name: string): string {
  const path = search(program(name));
  if (path === null) throw new Error(`${name} is not on PATH`);
  return path;
}

/**
 * Returns the reason for skipping tests that need all of these programs, and prints it once. Returns null if none is
 * missing.
 */
export function lacking(...names: readonly Optional[]): string | null {
  const absent = names.filter((name) => pathOf(name) === null);
  if (absent.length === 0) return null;
  const reason = absent.map(missing).join("; ");
  if (!reported.has(reason)) console.warn(`skipped: ${reason}`);
  reported.add(reason);
  return reason;
}

/** Skips the rest of a test if one of these programs is missing. */
export function needs({ skip }: Pick<TestContext, "skip">, ...names: readonly Optional[]): void {
  const reason = lacking(...names);
  skip(reason !== null, reason ?? "");
}

/** Returns the packages that `.ci/run` must install on this machine. */
export function missingPackages(): readonly string[] {
  const names = Object.keys(INSTALLED) as (keyof typeof INSTALLED)[];
  return [...new Set(names.filter((name) => pathOf(name) === null).map((name) => INSTALLED[name].package))];
}

function missing(name: Optional): string {
  return `${name} is missing (package ${ALL[name].package})`;
}

function program(name: string, from = name): Row {
  return { package: from, places: [`bin/${name}`, `sbin/${name}`] };
}

/**
 * Finds a program or file. Also searches the folder `sbin` beside each `bin` in PATH, because ordinary users have no
 * `sbin` in their PATH.
 */
function search({ places, isUsable }: Row): string | null {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const candidates = folders.flatMap((folder) =>
    places.flatMap((place) => {
      const path = place.startsWith("bin/") ? join(folder, place.slice("bin/".length)) : join(dirname(folder), place);
      return place.includes("*") ? globSync(path).sort().reverse() : [path];
    })
  );
  return candidates.find((path) => existsSync(path) && (isUsable === undefined || isUsable(path))) ?? null;
}

/** Returns the output of a program, or an empty text if the program fails. */
function printed(path: string, ...argv: readonly string[]): string {
  try {
    return execFileSync(path, argv, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return "";
  }
}
