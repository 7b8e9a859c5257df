// Builds the arguments of ssh. No local shell reads them. On the node, the login shell runs the last argument.

export type Connect = {
  readonly user: string;
  readonly connect_limit_s: number;
  /** Options for `ssh -o`, as given by the user. */
  readonly options: readonly string[];
};

const ALIVE_PERIOD_S = 15;
const ALIVE_MISSES_MAX = 3;

export function sshArgv(connect: Connect, admin_ip: string, remote: string): string[] {
  // ssh uses the first value of an option. So the user's options override the options below, but not the options above.
  const options = [
    // Many connections run at once, so ssh must not ask questions.
    "BatchMode=yes",
    "ControlMaster=no",
    ...connect.options,
    `ConnectTimeout=${connect.connect_limit_s}`,
    `ServerAliveInterval=${ALIVE_PERIOD_S}`,
    `ServerAliveCountMax=${ALIVE_MISSES_MAX}`,
  ];
  return ["-T", ...options.flatMap((option) => ["-o", option]), "-l", connect.user, "--", admin_ip, remote];
}

/**
 * Returns the remote command of --script. The command copies standard input to a temporary file, checks the size of the
 * file, runs the file and deletes it. The check is necessary because a broken connection looks like the end of a file.
 */
export function scriptCommand(size_bytes: number, args: readonly string[]): string {
  const command = ['"$f"', ...args.map(quoted)].join(" ");
  const check =
    `[ "$(wc -c <"$f" | tr -d ' ')" = ${size_bytes} ] || { echo "the script arrived incomplete" >&2; exit 125; }`;
  return `sh -c ${
    quoted(
      `f=$(mktemp) || exit 125; trap 'rm -f "$f"' EXIT; trap 'exit 129' HUP INT TERM; cat >"$f" || exit 125; ${check}; ` +
        `chmod 700 "$f" || exit 125; ${command}`,
    )
  }`;
}

/** Quotes a text as one word of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
