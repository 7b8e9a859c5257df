// The words that ssh is started with. They go to the program as they are, never through a shell on this side; on the
// node ssh hands the last one to the login shell, as it always does.

export type Connect = {
  readonly user: string;
  readonly connect_limit_s: number;
  /** Options for `ssh -o`, as the user gave them. */
  readonly options: readonly string[];
};

const ALIVE_PERIOD_S = 15;
const ALIVE_MISSES_MAX = 3;

export function sshWords(connect: Connect, admin_ip: string, remote: string): string[] {
  // ssh keeps the first value of an option: what comes before the user's cannot be changed, what comes after can.
  const options = [
    // Nobody is there to answer a question of one of many connections.
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
 * The remote side of --script: takes the script from standard input into a file of its own, checks that all of it
 * came (a connection that breaks off looks like the end of the file), runs it, and leaves nothing behind.
 */
export function scriptCommand(size_bytes: number, args: readonly string[]): string {
  const argv = ['"$f"', ...args.map(quoted)].join(" ");
  const check =
    `[ "$(wc -c <"$f" | tr -d ' ')" = ${size_bytes} ] || { echo "the script did not arrive whole" >&2; exit 125; }`;
  return `sh -c ${
    quoted(
      `f=$(mktemp) || exit 125; trap 'rm -f "$f"' EXIT; trap 'exit 129' HUP INT TERM; cat >"$f" || exit 125; ${check}; ` +
        `chmod 700 "$f" || exit 125; ${argv}`,
    )
  }`;
}

/** One word of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
