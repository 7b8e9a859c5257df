// Records every report of a node as the exact request, so that it can be replayed. Two control planes share one
// database, and the requests alternate between them.
import { ADDRESS, type CallOptions, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";

export const REPORT_KINDS = [
  "heartbeat",
  "status",
  "capacity",
  "job progress",
  "job completed",
  "job failed",
  "job buried",
  "setup progress",
  "setup complete",
  "setup failed",
  "announce",
  "registration",
] as const;
export type ReportKind = (typeof REPORT_KINDS)[number];

export type Sent = {
  readonly kind: ReportKind;
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly text: string;
};

export type Wire = {
  /** A control plane that records the requests to it. */
  readonly t: TestControlPlane;
  readonly sent: Readonly<Record<ReportKind, readonly Sent[]>>;
  /** Sends a recorded request unchanged. Returns the status of the answer. */
  send(sent: Sent): Promise<number>;
  close(): Promise<void>;
};

/** The kind of a report, by its path after the API version. */
const KINDS: readonly (readonly [path: RegExp, kind: ReportKind])[] = [
  [/^\/agent\/heartbeat$/, "heartbeat"],
  [/^\/agent\/status$/, "status"],
  [/^\/agent\/capacity$/, "capacity"],
  [/^\/agent\/register$/, "registration"],
  [/^\/agent\/jobs\/[^/]+\/progress$/, "job progress"],
  [/^\/agent\/jobs\/[^/]+\/complete$/, "job completed"],
  [/^\/agent\/jobs\/[^/]+\/bury$/, "job buried"],
  [/^\/booter\/cns\/[^/]+\/setup-progress$/, "setup progress"],
  [/^\/booter\/cns\/[^/]+\/setup-complete$/, "setup complete"],
  [/^\/booter\/cns\/[^/]+\/setup-failed$/, "setup failed"],
  [/^\/booter\/announce$/, "announce"],
];

function kindOf(path: string, text: string): ReportKind | null {
  const [, kind = null] = KINDS.find(([pattern]) => pattern.test(path.replace(/^\/v[0-9]/, ""))) ?? [];
  return kind === "job completed" && JSON.parse(text).outcome.kind === "failed" ? "job failed" : kind;
}

/** Opens a recorder on two control planes. Closing the recorder closes them. */
export function openWire(planes: readonly [TestControlPlane, TestControlPlane]): Wire {
  const sent = Object.fromEntries(REPORT_KINDS.map((kind) => [kind, [] as Sent[]])) as Record<ReportKind, Sent[]>;
  let turn = 0;
  const next = () => planes[turn++ % planes.length]!;

  /** Records a request after its answer. So a replay is always later than the original. */
  function note({ method, path, headers, text }: Omit<Sent, "kind">): void {
    const kind = kindOf(path, text);
    if (kind !== null) sent[kind].push({ kind, method, path, headers, text });
  }

  async function fetch(request: Request): Promise<Response> {
    const { method, headers, url } = request;
    const text = await request.clone().text();
    const answer = await next().plane.fetch(request, { remoteAddress: ADDRESS });
    note({ method, path: new URL(url).pathname, headers: new Headers(headers), text });
    return answer;
  }

  async function call(method: string, path: string, options: CallOptions = {}) {
    const { key = ROOT_KEY, body } = options;
    const headers = new Headers({ "content-type": "application/json" });
    if (key !== null) headers.set("authorization", `Bearer ${key}`);
    const answer = await next().call(method, path, options);
    note({ method, path, headers, text: body === undefined ? "" : JSON.stringify(body) });
    return answer;
  }

  const [first, second] = planes;
  return {
    t: { ...first, call, plane: { ...first.plane, fetch } },
    sent,
    send: async ({ method, path, headers, text }) => {
      const key = headers.has("authorization") ? undefined : null;
      return (await next().call(method, path, { headers, text: text === "" ? undefined : text, key })).status;
    },
    close: async () => void await Promise.all([first.close(), second.close()]),
  };
}
