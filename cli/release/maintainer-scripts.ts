// Writes the maintainer scripts, which dpkg runs. A first installation starts no daemon, because its settings are still
// the defaults. The scripts also work on another root (DPKG_ROOT, see dpkg(1) under --force-script-chrootless).
import type { Package } from "./deb.ts";

export type Daemon = {
  /** Units to stop when the package is removed. An upgrade restarts the first unit if it runs. */
  readonly units: readonly string[];
  /** The file in sysusers.d that creates the daemon's user; null if the daemon has no user of its own. */
  readonly sysusers: string | null;
  /** Folders with the daemon's state, which a purge removes. */
  readonly state: readonly string[];
  /** Shell code that postinst runs at every configuration. */
  readonly configure?: string;
  /** Message that a purge prints. */
  readonly purge_note?: string;
};

const RUNNING = `[ -z "$root" ] && [ -d /run/systemd/system ]`;

export function maintainerScripts({ units, sysusers, state, configure = "", purge_note }: Daemon): Package["scripts"] {
  const names = units.join(" ");
  return {
    postinst: script(`
if [ "$1" = configure ]; then
${sysusers === null ? "" : `  systemd-sysusers \${root:+--root="$root"} ${sysusers}\n`}${configure}  if ${RUNNING}; then
    systemctl daemon-reload
    # After an upgrade, restart a running daemon with the new files.
    if [ -n "$2" ]; then systemctl try-restart ${units[0]}; fi
  fi
fi`),
    prerm: script(`
if [ "$1" = remove ] && ${RUNNING}; then
  systemctl disable --now ${names}
fi`),
    postrm: script(`
if [ "$1" = purge ]; then
  rm -rf ${state.map((folder) => `"$root${folder}"`).join(" ")}
${purge_note === undefined ? "" : `  echo "${purge_note}"\n`}fi
if [ "$1" != purge ] && ${RUNNING}; then
  systemctl daemon-reload
fi`),
  };
}

function script(body: string): string {
  return `#!/bin/sh\nset -e\nroot="\${DPKG_ROOT:-}"\n${body.trim()}\n`;
}
