import { spawn } from "node:child_process";
import type { Nic } from "../../../src/contract/instance.ts";
import { type AnyCommand, command, each } from "../../framework.ts";
import type { Environment } from "../../internal/environment.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import { FIRST_NIC, NIC } from "../nic/nic.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";

/** Time limit of the connection. Without it, ssh waits minutes for an address that does not answer. */
const CONNECT_LIMIT_S = 10;

export function ssh(summary: string): AnyCommand {
  return command("ssh", summary, "web1 --user debian -- uptime")
    .argument("<instance>", NAME_HELP)
    .argument("[command...]", "command to run, after --; by default a login shell")
    .option("--user <name>", "user to log in as; by default, ssh chooses the user")
    .option(
      "--ssh-option <option>",
      "ssh -o option, for example Port=2222; may be repeated; default: ConnectTimeout=10",
      each,
    )
    .action(withIo(async (io, name, words, { user, sshOption = [] }) => {
      const instance = await resolveInstance(io, name);
      const address = addressOf(await io.all<Nic>(NIC.path, { instance }));
      if (address === null) throw new Failure(`instance ${name} has no address`, EXIT.failure);
      io.note(`Connecting to ${address}`);
      // ssh takes the first value of an option, so an option of the user overrides the default.
      const options = [...sshOption, `ConnectTimeout=${CONNECT_LIMIT_S}`].flatMap((option) => ["-o", option]);
      const login = user === undefined ? [] : ["-l", user];
      await runSsh(io.environment, [...options, ...login, "--", address, ...words]);
    }));
}

/**
 * Returns the address to connect to: a floating IP of the first NIC, else the NIC's own address. Returns null if there
 * is neither.
 */
function addressOf(nics: readonly Nic[]): string | null {
  const first = nics.find(({ name }) => name === FIRST_NIC) ?? nics[0];
  return first?.floating_ips[0] ?? first?.primary_ipv4 ?? first?.primary_ipv6 ?? null;
}

/** Runs ssh on this terminal. Throws a Failure unless it ends with exit code 0. */
function runSsh({ env }: Environment, argv: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("ssh", [...argv], { env: { ...env }, stdio: "inherit" });
    child.once("error", (error) => reject(new Failure(`cannot run ssh: ${error.message}`, EXIT.failure)));
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(new Failure(`ssh ended ${code === null ? "by a signal" : `with exit code ${code}`}`, EXIT.failure));
    });
  });
}
