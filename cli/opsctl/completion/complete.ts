// Defines the hidden verb that completion scripts call. The verb prints one candidate per line, with its summary after
// a tab. A failed lookup gives no candidates, because an error message would garble the line that the user types.
import type { ApiKeyView } from "../../../src/contract/api-key.ts";
import type { BootRecord, StagedImage } from "../../../src/contract/boot.ts";
import type { CnView } from "../../../src/contract/cn.ts";
import type { SessionListed } from "../../../src/contract/identity.ts";
import type { Job } from "../../../src/contract/job.ts";
import type { OperationSummary } from "../../../src/contract/operation.ts";
import type { SettingView } from "../../../src/contract/setting.ts";
import { type AnyCommand, command, describe, rootOf } from "../../framework.ts";
import { type Candidate, candidates, type LookUp } from "../../internal/completion.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { SESSIONS_PATH } from "../../internal/session-verbs.ts";
import { API_KEYS_PATH } from "../api-key/keys.ts";
import { RECORDS_PATH } from "../cn/boot/record.ts";
import { SETTINGS_PATH } from "../config/setting.ts";
import { JOBS_PATH } from "../job/job.ts";
import { OPERATIONS_PATH } from "../../internal/operation/text.ts";
import { STAGED_PATH } from "../pi/list.ts";
import { recordCandidates } from "./records.ts";

/** Time limit of each request of a lookup: users do not wait longer for a completion. */
const LOOK_UP_LIMIT_MS = 1_500;

export function complete(): AnyCommand {
  return command("__complete", "Print the candidates at the cursor")
    .argument("[words...]", "the words after `opsctl`; put -- before them")
    .action(withIo(async (io, words, _options, member) => {
      const tree = describe(rootOf(member as AnyCommand));
      const found = await candidates(tree, words, (argument) => lookUp(io, argument).catch(() => []));
      for (const { value, summary } of found) {
        io.environment.stdout.write(summary === "" ? `${value}\n` : `${value}\t${plainText(summary)}\n`);
      }
    }));
}

function lookUp(io: Io, argument: string): ReturnType<LookUp> {
  switch (argument) {
    case "node":
    case "nodes":
      return nodes(io);
    case "mac":
      return ask<{ items: BootRecord[] }>(io, RECORDS_PATH).then(({ items }) =>
        named<BootRecord>(({ mac, state, hostname }) => [mac, `${state}${hostname === null ? "" : `, ${hostname}`}`])(
          items,
        )
      );
    case "stamp":
      return ask<{ items: StagedImage[] }>(io, STAGED_PATH).then(({ items }) =>
        // Several booters may have the same image.
        named<StagedImage>(({ stamp }) => [stamp, ""])([
          ...new Map(items.map((image) => [image.stamp, image])).values(),
        ])
      );
    case "operation":
      return ask<OperationSummary[]>(io, OPERATIONS_PATH).then(
        named(({ id, kind, state }) => [id, `${kind}, ${state}`]),
      );
    case "job":
      return ask<{ items: Job[] }>(io, JOBS_PATH).then(({ items }) =>
        named<Job>(({ id, kind, status }) => [id, `${kind.kind}, ${status.status}`])(items)
      );
    case "setting":
      return ask<SettingView[]>(io, SETTINGS_PATH).then(named(({ key, description }) => [key, description]));
    case "session":
      return ask<SessionListed[]>(io, SESSIONS_PATH).then(named(({ id, kind }) => [id, kind]));
    case "key-id":
      return ask<ApiKeyView[]>(io, API_KEYS_PATH).then(named(({ id, description }) => [id, description]));
    default:
      return recordCandidates(hasty(io), argument)?.then((found) => found.filter(isOneWord)) ?? Promise.resolve([]);
  }
}

/** Limits each request of a lookup to one attempt, and each list to its first page. */
function hasty(io: Io): Io {
  return {
    ...io,
    get: (path) => ask(io, path),
    all: async <T>(path: string) => (await ask<{ items: T[] }>(io, path)).items,
  };
}

async function nodes(io: Io): Promise<Candidate[]> {
  const { items } = await ask<{ items: CnView[] }>(io, "/v1/system/cns");
  const by_name = named<CnView>(({ hostname, state }) => [hostname, state]);
  const by_uuid = named<CnView>(({ server_uuid, hostname, state }) => [server_uuid, `${hostname}, ${state}`]);
  return [...by_name(items), ...by_uuid(items)];
}

function ask<T>(io: Io, path: string): Promise<T> {
  return io.send<T>({ method: "GET", path, limit_ms: LOOK_UP_LIMIT_MS, tries_max: 1 });
}

/** Omits values with characters that a shell may treat specially. */
function named<T>(pair: (item: T) => readonly [value: string, summary: string]): (items: readonly T[]) => Candidate[] {
  return (items) => items.map(pair).map(([value, summary]) => ({ value, summary })).filter(isOneWord);
}

function isOneWord({ value }: Candidate): boolean {
  return /^[\p{L}\p{M}\p{N}._:/-]+$/u.test(value);
}
