// Builds a release with the container image, and an image of PostgreSQL.
import { cp, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { debianLayers } from "../../cli/release/container/debian-base.ts";
import { denoExecutable } from "../../cli/release/deno-runtime.ts";
import { VERSION } from "../../cli/version.ts";
import { binariesRoot } from "../../src/db/postgres-binaries.ts";
import { present } from "../support/optional-programs.ts";
import { releaseKeyIn, smallRelease } from "./small-release.ts";
import { run } from "./tools.ts";

/** The programs that build a release with a container image, and the programs that run the image. */
export const CONTAINER_PROGRAMS = ["apt-get", "curl", "dpkg-deb", "gpg", "gpgv", "openssl", "podman", "runc"] as const;

/** Writes a release with the real control plane into the folder `release`. */
export async function containerRelease(folder: string): Promise<void> {
  const base = await debianLayers("amd64", (reason) => expect.fail(reason));
  await smallRelease({
    folder: join(folder, "release"),
    version: VERSION,
    packages: ["berth-control-plane"],
    tree: "whole",
    program: await denoExecutable("amd64"),
    key_path: await releaseKeyIn(folder),
    container_base: base!,
  });
}

/** The packages that the image needs: PostgreSQL's libraries, a shell, and the programs of the start script. */
const POSTGRES_BASE = [
  "base-files",
  "coreutils",
  "dash",
  "libacl1",
  "libattr1",
  "libc6",
  "libgcc-s1",
  "libpcre2-8-0",
  "libselinux1",
  "libstdc++6",
];

/**
 * The start script of the image. It reads POSTGRES_USER, POSTGRES_PASSWORD and POSTGRES_DB, as the image `postgres` of
 * Docker's registry does.
 */
const POSTGRES_START = `#!/bin/sh
set -eu
data=/var/lib/postgresql/data
bin=/opt/postgres/bin
if ! [ -s "$data/PG_VERSION" ]; then
  echo "$POSTGRES_PASSWORD" > /tmp/password
  "$bin/initdb" --pgdata "$data" --username "$POSTGRES_USER" --pwfile /tmp/password --auth scram-sha-256 \\
    --locale C --encoding UTF8
  echo "host all all all scram-sha-256" >> "$data/pg_hba.conf"
  echo "create database $POSTGRES_DB" | "$bin/postgres" --single -D "$data" postgres
fi
exec "$bin/postgres" -D "$data" -c listen_addresses='*' -c unix_socket_directories=/tmp
`;

/**
 * Builds an image of the PostgreSQL in node_modules and loads it into Podman. Tests use this image, because they do not
 * download images from a registry.
 */
export async function loadPostgresImage(folder: string, env: Readonly<Record<string, string>>, name: string) {
  const [packages, root] = [join(folder, "packages"), join(folder, "postgres-root")];
  for (const each of [packages, join(root, "var/lib/postgresql/data"), join(root, "opt"), join(root, "tmp")]) {
    await mkdir(each, { recursive: true });
  }
  const download = ["-c", 'cd "$1"; shift; exec apt-get download -q "$@"', "sh", packages, ...POSTGRES_BASE];
  await succeeds(present("bash"), download);
  for (const file of await readdir(packages)) {
    await succeeds(present("dpkg-deb"), ["--extract", join(packages, file), root]);
  }
  await cp(binariesRoot(), join(root, "opt/postgres"), { recursive: true, dereference: true });
  await writeFile(join(root, "opt/start.sh"), POSTGRES_START);
  await writeFile(join(root, "etc/passwd"), "postgres:x:999:999::/:/bin/sh\n");
  const prepare = 'chmod 1777 "$1/tmp"; chown -R 999:999 "$1/var/lib/postgresql"; tar -C "$1" -cf "$2" .';
  await succeeds(present("bash"), ["-c", prepare, "bash", root, `${root}.tar`]);
  const changes = ["--change", "USER postgres", "--change", 'ENTRYPOINT ["sh","/opt/start.sh"]'];
  await succeeds(present("podman"), ["import", ...changes, `${root}.tar`, name], env);
}

/** Runs a program that must succeed, and returns what it printed. */
export async function succeeds(
  program: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const ended = await run(program, argv, env);
  expect(ended, `${program} ${argv.join(" ")}: ${ended.stderr}`).toMatchObject({ code: 0 });
  return ended.stdout;
}
