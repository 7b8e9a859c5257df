// One request and its answer, after redirects. Two kinds of exchange exist: the internet (live.ts) and a recorded web
// (recorded.ts); recorder.ts wraps the first to make the second. What a status means is decided above them (web.ts), so
// that a test with a recorded web runs the same code as a build from the internet.

export type Request = {
  readonly method: "GET" | "HEAD";
  readonly url: string;
  readonly accept: string;
  /** More bytes than this, after decompression, are refused. */
  readonly bytes_max: number;
};
export type Answer = {
  readonly status: number;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
};

/** @throws VendorFault transient, unsafe or not_recorded */
export type Exchange = (request: Request) => Promise<Answer>;
