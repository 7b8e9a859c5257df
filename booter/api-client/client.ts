// Calls the control plane's API. An ApiFault contains the message of an error answer. The API key is sent only in a
// header, and no error message contains the key.
import { Buffer } from "node:buffer";
import type { CnState } from "../../src/contract/enums.ts";
import type { Hardware } from "../../src/contract/hardware.ts";
import type { AnnounceBody, DeliveredScript, SetupBundle, SetupScript } from "../../src/contract/setup.ts";
import { ANSWER_BYTES_MAX, CALL_MS, LOOKUP_LATE_MS } from "../limits.ts";
import { type BootFacts, bootFacts, type PolicyFacts, policyFacts } from "./wire.ts";

export type Announced = { readonly state: CnState };
export type SetupReport =
  | {
    readonly kind: "progress";
    readonly step: string;
    readonly message: string | null;
    readonly percent: number | null;
  }
  /** `mac`: the MAC address from which the machine booted. */
  | { readonly kind: "complete"; readonly mac?: string }
  | { readonly kind: "failed"; readonly reason: string };

export type StagedImages = {
  readonly stamps: readonly string[];
  readonly kinds?: Readonly<Record<string, string>>;
};

export type ApiClient = {
  /** Reports a machine that sent a packet. Returns the machine's boot record, or null if the machine gets no record. */
  seen(mac: string, client: Readonly<Record<string, unknown>>): Promise<BootFacts | null>;
  records(): Promise<readonly BootFacts[]>;
  policy(): Promise<PolicyFacts>;
  /** Reports the staged images. `kinds` has the kind of each image that is not a SmartOS platform. */
  stage(body: StagedImages): Promise<void>;
  /** Stores the hardware of a node. */
  hardware(server_uuid: string, hardware: Hardware): Promise<void>;
  announce(body: AnnounceBody): Promise<Announced>;
  /** Fetches a setup bundle. The same idempotency key gets the same bundle until the machine's first report. */
  bundle(server_uuid: string, idempotency_key: string): Promise<SetupBundle>;
  report(server_uuid: string, epoch: number, report: SetupReport): Promise<void>;
  /** Stores the script that this booter is about to send, so that another booter accepts the calls of the script. */
  delivered(server_uuid: string, script: DeliveredScript): Promise<void>;
  /** Finds the run of a script that another booter sent. Returns null for an unknown token. */
  script(token_sha256: string): Promise<SetupScript | null>;
  /** Fetches the bundle for a script that another booter sent. */
  handOver(script: Pick<SetupScript, "server_uuid" | "epoch">, token: string): Promise<SetupBundle>;
};

/** A failed call to the control plane. `status` is the HTTP status, or null if no usable answer came. */
export class ApiFault extends Error {
  constructor(message: string, readonly status: number | null) {
    super(message);
  }
}

export type ApiOptions = { readonly url: string; readonly key: string; readonly fetch?: typeof fetch };

export function openApiClient({ url, key, fetch: ask = fetch }: ApiOptions): ApiClient {
  const base = url.replace(/(?<!\/)\/+$/, "");

  async function call(method: string, path: string, given: Given = {}): Promise<unknown> {
    const { body, idempotency_key, limit_ms = CALL_MS } = given;
    const headers: Record<string, string> = { authorization: `Bearer ${key}`, accept: "application/json" };
    if (body !== undefined) headers["content-type"] = "application/json";
    if (idempotency_key !== undefined) headers["idempotency-key"] = idempotency_key;
    const signal = AbortSignal.timeout(limit_ms);
    let status: number;
    let text: string;
    try {
      const sent = body === undefined ? undefined : JSON.stringify(body);
      // A redirect could send the key to another host, so redirects are not followed.
      const answer = await ask(base + path, { method, headers, body: sent, signal, redirect: "manual" });
      status = answer.status;
      text = await cappedText(answer);
    } catch (error) {
      throw new ApiFault(`${method} ${path}: ${error instanceof Error ? error.message : "no answer"}`, null);
    }
    if (status < 200 || status > 299) throw new ApiFault(`${method} ${path}: ${status} ${messageOf(text)}`, status);
    try {
      return JSON.parse(text);
    } catch {
      throw new ApiFault(`${method} ${path}: the answer is not JSON`, null);
    }
  }

  return {
    async seen(mac, client) {
      const answer = await call("POST", "/v2/booter/seen", {
        body: { mac, client, follow_aggregate: true },
        limit_ms: LOOKUP_LATE_MS,
      });
      const facts = answer === null ? null : bootFacts(answer);
      const names = [facts?.mac, (answer as { member_mac?: unknown } | null)?.member_mac];
      if (facts !== null && !names.includes(mac)) {
        throw new ApiFault("the control plane answered for another MAC", null);
      }
      return facts;
    },
    async records() {
      const all: BootFacts[] = [];
      let page_token: string | undefined;
      do {
        const query = page_token === undefined ? "" : `&page_token=${encodeURIComponent(page_token)}`;
        const page = await call("GET", `/v2/cn-boot?limit=${PAGE_RECORDS}${query}`) as Page;
        if (!Array.isArray(page?.items)) throw new ApiFault("the list of boot records cannot be read", null);
        // Skips an invalid record, so that the booter can use the others.
        for (const item of page.items) {
          all.push(...readable(item));
          // Yields, so that waiting packets are answered.
          if (all.length % READ_AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve));
        }
        page_token = page.next_page ?? undefined;
      } while (page_token !== undefined);
      return all;
    },
    policy: async () => policyFacts(await call("GET", "/v2/cn-boot-policy")),
    stage: async (body) => void await call("PUT", "/v2/platform-images", { body }),
    hardware: async (server_uuid, body) => void await call("PUT", `/v2/booter/cns/${server_uuid}/hardware`, { body }),
    announce: async (body) => await call("POST", "/v2/booter/announce", { body }) as Announced,
    bundle: async (server_uuid, idempotency_key) =>
      await call("POST", `/v2/booter/cns/${server_uuid}/bundle`, { idempotency_key }) as SetupBundle,
    async report(server_uuid, epoch, { kind, ...fields }) {
      await call("POST", `/v2/booter/cns/${server_uuid}/setup-${kind}`, { body: { epoch, ...fields } });
    },
    delivered: async (server_uuid, body) =>
      void await call("PUT", `/v2/booter/cns/${server_uuid}/setup-script`, { body }),
    async script(token_sha256) {
      try {
        return await call("GET", `/v2/booter/setup-scripts/${token_sha256}`) as SetupScript;
      } catch (error) {
        if (error instanceof ApiFault && error.status === 404) return null;
        throw error;
      }
    },
    handOver: async ({ server_uuid, epoch }, token) =>
      await call("POST", `/v2/booter/cns/${server_uuid}/setup-script/bundle`, {
        body: { epoch, token },
      }) as SetupBundle,
  };
}

/** The number of records per page. A page is parsed in one step, which delays packets by about a millisecond. */
const PAGE_RECORDS = 200;
/** The number of records that are validated in one step. A step takes about half a millisecond. */
const READ_AT_ONCE = 50;

type Given = { readonly body?: unknown; readonly idempotency_key?: string; readonly limit_ms?: number };
type Page = { readonly items?: unknown; readonly next_page?: string | null } | null;

function readable(item: unknown): BootFacts[] {
  try {
    return [bootFacts(item)];
  } catch {
    return [];
  }
}

async function cappedText(answer: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body ?? []) {
    bytes += part.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`the answer is longer than ${ANSWER_BYTES_MAX} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Returns the message of an error answer; empty if the body is not the API's JSON, for example a proxy's page. */
function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === "string" ? message.slice(0, 512) : "";
  } catch {
    return "";
  }
}

/** Returns whether the control plane refused a call permanently, so a repetition would be refused too. */
export function isRefusal(error: unknown): error is ApiFault {
  return error instanceof ApiFault && error.status !== null && error.status < 500 && error.status !== 429;
}

/** Returns the reason of a failed call, as a counter's label: the status of the answer, or "no_answer". */
export function callFailure(error: unknown): string {
  return error instanceof ApiFault && error.status !== null ? String(error.status) : "no_answer";
}
