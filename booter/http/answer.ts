// Defines the request that a handler gets, and the answer of the handler: bytes or a file. The answer's length is
// always known before the first byte is sent.
export type HttpAsked = {
  readonly method: "GET" | "HEAD" | "POST";
  /**
   * The path as the client sent it, without the query. The path is not percent-decoded, because no path of the booter
   * needs decoding.
   */
  readonly path: string;
  /** The machine's IPv4 address as text. */
  readonly source: string;
  readonly header: (name: string) => string | undefined;
  readonly body: Uint8Array;
};

export type HttpAnswer = {
  readonly status: number;
  readonly type: string;
  readonly content: { readonly bytes: Uint8Array } | { readonly file: string };
  /** Called once, when the answer ends. `whole` is true if the answer was sent completely. */
  readonly ended?: (whole: boolean) => void;
};

export type HttpHandler = (asked: HttpAsked) => Promise<HttpAnswer>;

const encoder = new TextEncoder();

export function textAnswer(status: number, text: string, type = "text/plain; charset=utf-8"): HttpAnswer {
  return { status, type, content: { bytes: encoder.encode(text) } };
}

export function fileAnswer(file: string, type = "application/octet-stream"): HttpAnswer {
  return { status: 200, type, content: { file } };
}

export const NOT_FOUND: HttpAnswer = textAnswer(404, "not found\n");
