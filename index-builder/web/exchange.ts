// Defines the interface for one request and its response, after redirects. It has two implementations: live.ts sends
// requests to the internet, and recorded.ts answers from responses that recorder.ts has recorded. web.ts maps the
// statuses of both to faults. So a test with recorded responses runs the same code as a real build.

export type Request = {
  readonly method: "GET" | "HEAD";
  readonly url: string;
  readonly accept: string;
  /** The largest allowed body in bytes, after decompression. */
  readonly bytes_max: number;
};
export type Answer = {
  readonly status: number;
  /** URL of the response, after redirects. */
  readonly url: string;
  /** Header values by name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
};

/**
 * Sends a request and returns the response.
 * @throws VendorFault transient, unsafe, unreadable or not_recorded
 */
export type Exchange = (request: Request) => Promise<Answer>;
