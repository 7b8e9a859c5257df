// Follows a running setup. The operation shows when the setup ends. The node's record shows the progress of the setup.
import type { CnView } from "../../../../src/contract/cn.ts";
import { SETUP_LIMIT_MS } from "../../../../src/contract/limits.ts";
import { EXIT } from "../../../internal/exit-code.ts";
import { Failure } from "../../../internal/failure.ts";
import type { Io } from "../../../internal/io.ts";
import { plainText } from "../../../internal/plain-text.ts";
import { NODES_PATH } from "../../node-name.ts";
import { endText, follow } from "../../../internal/operation/follow.ts";

type Setup = { readonly server_uuid: string; readonly operation_id: string; readonly limit_ms: number };

/** Maximum duration of a long poll, in seconds. A short poll shows each new step soon. */
const POLL_S = 2;

/** Waits for the end of the setup and prints the node. Throws a Failure when the setup failed or the time is up. */
export async function waitForSetup(io: Io, { server_uuid, operation_id, limit_ms }: Setup): Promise<void> {
  const path = `${NODES_PATH}/${server_uuid}`;
  const started_ms = io.environment.monotonicMs();
  const operation = await follow(io, {
    id: operation_id,
    limit_ms,
    poll_s_max: POLL_S,
    progressOf: async () => {
      const node = await io.get<CnView>(path);
      return [progressText(node), clockText(node, io.environment.monotonicMs() - started_ms)];
    },
  });
  if (operation.state === "succeeded") {
    const node = await io.get<CnView>(path);
    const text = `CN ${plainText(node.server_uuid)} is set up (state=${plainText(node.state)})`;
    return io.print({ ...node, operation_id }, text);
  }
  const node = await io.get<CnView>(path).catch(() => null);
  if (io.json) io.print(node === null ? operation : { ...node, operation_id }, "");
  const why = node?.last_setup_error ?? null;
  throw new Failure(why === null ? endText(operation) : `the setup failed: ${why}`, EXIT.failure);
}

export function progressText({ setup_progress: progress, state }: CnView): string {
  if (state !== "setting_up") return `state ${state}`;
  if (progress === null) return "waiting for the machine to fetch its setup bundle";
  return `${progress.step}${progress.message === null ? "" : `: ${progress.message}`}`;
}

/**
 * Returns the elapsed and the remaining time. These times precede the message, so that a long message does not push
 * them off the line.
 */
function clockText({ setup_progress }: CnView, passed_ms: number): string {
  const percent = setup_progress?.percent ?? null;
  const left_min = Math.max(0, Math.ceil((SETUP_LIMIT_MS - passed_ms) / 60_000));
  const done = percent === null ? "" : `${Math.floor(percent)} %, `;
  return `[${done}${Math.floor(passed_ms / 1_000)} s, at most ${left_min} min left] `;
}
