// What dpkg runs beside unpacking. Nothing is started at a first installation, since nothing is configured yet. The
// scripts also work on a root that is not the running one (DPKG_ROOT, see dpkg(1) under --force-script-chrootless).
import type { Package } from "./deb.ts";

export type Daemon = {
  /** Units to stop when the package goes; the first is the one that an upgrade restarts. */
  readonly units: readonly string[];
  /** The file in sysusers.d that makes its user, or null when the unit asks for none. */
  readonly sysusers: string | null;
  /** Folders with what it kept, for purge. */
  readonly state: readonly string[];
  /** Shell text for the first configuration and every later one. */
  readonly configure?: string;
  /** What purge says. */
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
    # After an upgrade what runs goes on with the new files.
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
