// The scripts that dpkg runs. A first installation starts no service, because the service is not configured yet. The
// scripts also work on another root (DPKG_ROOT, see dpkg(1) under --force-script-chrootless).
import type { Package } from "./deb.ts";

export type Daemon = {
  /** Units to stop when the package is removed; an upgrade restarts the first. */
  readonly units: readonly string[];
  /** The file in sysusers.d that creates its user, or null. */
  readonly sysusers: string | null;
  /** State folders that purge removes. */
  readonly state: readonly string[];
  /** Shell text of every configuration. */
  readonly configure?: string;
  /** Message of purge. */
  readonly parting?: string;
};

const RUNNING = `[ -z "$root" ] && [ -d /run/systemd/system ]`;

export function maintainerScripts({ units, sysusers, state, configure = "", parting }: Daemon): Package["scripts"] {
  const names = units.join(" ");
  return {
    postinst: script(`
if [ "$1" = configure ]; then
${sysusers === null ? "" : `  systemd-sysusers \${root:+--root="$root"} ${sysusers}\n`}${configure}  if ${RUNNING}; then
    systemctl daemon-reload
    # An upgrade restarts a running service.
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
${parting === undefined ? "" : `  echo "${parting}"\n`}fi
if [ "$1" != purge ] && ${RUNNING}; then
  systemctl daemon-reload
fi`),
  };
}

function script(body: string): string {
  return `#!/bin/sh\nset -e\nroot="\${DPKG_ROOT:-}"\n${body.trim()}\n`;
}
