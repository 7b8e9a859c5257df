// One request and its response, after redirects. There are two kinds of exchange: the internet (live.ts) and recorded
// responses (recorded.ts), which recorder.ts records. web.ts maps a status to a fault for both, so that a test with
// recorded responses runs the same code as a real build.

export type Request = {
  readonly method: "GET" | "HEAD";
  readonly url: string;
  readonly accept: string;
  /** Limit of the body after decompression. A larger one is refused. */
  readonly bytes_max: number;
};
export type Answer = {
  readonly status: number;
  /** Address of the response, after redirects. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
};

/** @throws VendorFault transient, unsafe or not_recorded */
export type Exchange = (request: Request) => Promise<Answer>;
